"""Our searchers where people work: ``SearchCV`` beside scikit-learn's searches, our sampler inside Optuna beside Optuna's.

    python -m benchmarks.adapters [--part cv|sampler] [--candidates 25] [--seeds 5] [--write]

cv        five estimators on the data that scikit-learn brings along, ``--candidates`` candidates of three folds each: the
          cross-validated score, and the processor time of the whole search. ``SearchCV-samples`` and
          ``HalvingRandomSearchCV`` give bad candidates fewer samples. ``OptunaSearchCV`` needs optuna-integration.
sampler   one objective for all, in an Optuna study: the loss after ``--trials`` trials, and processor time per trial.
          ``optuna-gp`` needs torch.
"""

from __future__ import annotations

import time
import warnings
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.harness.experiment import Experiment, Part, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, row_of_cells, table
from benchmarks.harness.run import Libraries

Range = tuple[str, float, float]  # uniform, log or int; low; high

CASES: dict[str, tuple[str, dict[str, Range | list[Any]]]] = {
    "svc-digits": ("digits", {"svc__C": ("log", 1e-2, 1e3), "svc__gamma": ("log", 1e-6, 1e-1)}),
    "logistic-cancer": ("breast_cancer", {"logisticregression__C": ("log", 1e-4, 1e4)}),
    "forest-wine": (
        "wine",
        {"max_depth": ("int", 1, 12), "max_features": ("uniform", 0.05, 1.0), "min_samples_leaf": ("int", 1, 20)},
    ),
    "boosting-diabetes": (
        "diabetes",
        {"learning_rate": ("log", 1e-3, 1.0), "max_depth": ("int", 1, 8), "subsample": ("uniform", 0.3, 1.0)},
    ),
    "neighbours-digits": (
        "digits",
        {"n_neighbors": ("int", 1, 40), "p": ("uniform", 1.0, 4.0), "weights": ["uniform", "distance"]},
    ),
}
CV_METHODS = ("RandomizedSearchCV", "HalvingRandomSearchCV", "OptunaSearchCV", "SearchCV", "SearchCV-samples")
SAMPLERS = ("optuna-tpe", "optuna-gp", "xstar-tpe", "xstar-gp")
FUNCTIONS = ("branin", "hartmann6")
CV_LIBRARIES = Libraries(
    {"RandomizedSearchCV": "scikit-learn", "HalvingRandomSearchCV": "scikit-learn", "OptunaSearchCV": "optuna"}
)
SAMPLER_LIBRARIES = Libraries({"optuna-tpe": "optuna", "optuna-gp": "optuna"}, also=("optuna",))


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--candidates", type=int, default=25)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--methods", default="", help="of those that there are; all by default")


def _tasks(problems: Any, methods: Any, **settings: str) -> Callable[[Namespace], list[Task]]:
    def tasks(options: Namespace) -> list[Task]:
        wanted = [name for name in methods if not options.methods or name in options.methods.split(",")]
        given = {name: getattr(options, source) for name, source in settings.items()}
        return [Task.of(s, problem, m, **given) for s in range(options.seeds) for problem in problems for m in wanted]

    return tasks


# ---------------------------------------------------------------- cross-validation


def _estimator(case: str) -> Any:
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return {
        "svc-digits": make_pipeline(StandardScaler(), SVC()),
        "logistic-cancer": make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
        "forest-wine": RandomForestClassifier(30, random_state=0),
        "boosting-diabetes": GradientBoostingRegressor(n_estimators=40, random_state=0),
        "neighbours-digits": KNeighborsClassifier(),
    }[case]


def _scipy(given: Range | list[Any]) -> Any:
    from scipy import stats

    if isinstance(given, list):
        return given
    kind, low, high = given
    if kind == "int":
        return stats.randint(int(low), int(high) + 1)
    return stats.loguniform(low, high) if kind == "log" else stats.uniform(low, high - low)


def _optuna(given: Range | list[Any]) -> Any:
    from optuna import distributions as d

    if isinstance(given, list):
        return d.CategoricalDistribution(given)
    kind, low, high = given
    return (
        d.IntDistribution(int(low), int(high)) if kind == "int" else d.FloatDistribution(low, high, log=kind == "log")
    )


def _search(method: str, estimator: Any, space: dict[str, Any], count: int, seed: int) -> Any:
    if method == "OptunaSearchCV":
        import optuna
        from optuna_integration import OptunaSearchCV

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        given = {name: _optuna(each) for name, each in space.items()}
        return OptunaSearchCV(estimator, given, n_trials=count, cv=3, random_state=seed, verbose=0)
    given = {name: _scipy(each) for name, each in space.items()}
    if method.startswith("SearchCV"):
        from xstar.integrations.sklearn import SearchCV

        resource = "n_samples" if method == "SearchCV-samples" else None
        return SearchCV(estimator, given, n_iter=count, cv=3, random_state=seed, resource=resource)
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingRandomSearchCV, RandomizedSearchCV

    if method == "HalvingRandomSearchCV":
        return HalvingRandomSearchCV(estimator, given, n_candidates=count, cv=3, random_state=seed)
    return RandomizedSearchCV(estimator, given, n_iter=count, cv=3, random_state=seed)


def run_cv(task: Task, options: Namespace) -> Found:
    """The score is that of the best parameters, cross-validated on all of the data, however the search came to them."""
    from sklearn import datasets
    from sklearn.model_selection import cross_val_score

    data, space = CASES[task.problem]
    X, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    X, y = X[:600], y[:600]
    search = _search(task.method, _estimator(task.problem), space, task["candidates"], task.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        search.fit(X, y)
        seconds = time.process_time() - begun
        best = _estimator(task.problem).set_params(**search.best_params_)
        score = float(cross_val_score(best, X, y, cv=3).mean())
    return {"score": significant(score, 6), "seconds": significant(seconds)}


def report_cv(results: Results, options: Namespace) -> Iterator[str]:
    yield "Cross-validated score of the best (accuracy, or R²; higher is better): mean ± standard error over seeds."
    yield ""
    yield from _rows(results, "score", "{:.4f} ± {:.2g}", sign=-1)
    yield from ("", "Seconds of processor time of the whole search:", "", *_rows(results, "seconds", "{:.2f} ± {:.2g}"))


def _rows(results: Results, key: str, form: str, sign: int = 1) -> Iterator[str]:
    def cells(problem: str) -> list[str]:
        columns = [[sign * float(r.found[key]) for r in results.of(problem, m)] for m in results.methods]
        return [each.replace("-", "", 1) if sign < 0 else each for each in row_of_cells(columns, form)]

    yield from table(["problem", *results.methods], [(problem, *cells(problem)) for problem in results.problems])


# ---------------------------------------------------------------- inside Optuna


def _sampler(method: str, seed: int) -> Any:
    import optuna

    from xstar.integrations.optuna import Sampler

    if method == "optuna-gp":
        return optuna.samplers.GPSampler(seed=seed)
    return (
        optuna.samplers.TPESampler(seed=seed)
        if method == "optuna-tpe"
        else Sampler(method.removeprefix("xstar-"), seed=seed)
    )


def run_sampler(task: Task, options: Namespace) -> Found:
    import optuna

    from xstar import problems

    problem = problems.get(task.problem)

    def objective(trial: Any) -> float:
        config = {
            name: trial.suggest_float(name, each.low, each.high) for name, each in problem.space.parameters.items()
        }
        return float(problem.loss(config))

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=_sampler(task.method, task.seed))
        begun = time.process_time()
        study.optimize(objective, n_trials=task["trials"])
        seconds = time.process_time() - begun
    regret = study.best_value - problem.optimum
    return {"regret": significant(regret), "seconds": significant(seconds / task["trials"])}


def report_sampler(results: Results, options: Namespace) -> Iterator[str]:
    yield "Distance of the best value to the optimum: mean ± standard error over seeds."
    yield ""
    yield from _rows(results, "regret", "{:.3g} ± {:.1g}")
    yield from ("", "Seconds of processor time per trial:", "", *_rows(results, "seconds", "{:.4f} ± {:.1g}"))


EXPERIMENT = Experiment(
    name="adapters",
    title="Our searchers where people already work",
    result="adapters.md",
    description=__doc__,
    parts={
        "cv": Part(
            "Cross-validated searches",
            _tasks(CASES, CV_METHODS, candidates="candidates"),
            run_cv,
            report_cv,
            CV_LIBRARIES,
        ),
        "sampler": Part(
            "Samplers in Optuna",
            _tasks(FUNCTIONS, SAMPLERS, trials="trials"),
            run_sampler,
            report_sampler,
            SAMPLER_LIBRARIES,
        ),
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
