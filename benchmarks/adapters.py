"""How good is our sampler in Optuna, beside Optuna's own: with and without pruners, in flat and in define-by-run objectives.

    python -m benchmarks.adapters [--methods …] [--problems …] [--pruners …] [--seeds 6] [--write]

Studies of 60 trials, everything at its default; trials report 27 epochs. Told is the loss of a study's best
trial after its last epoch, without noise: the median over seeds. Optuna's ``GPSampler`` needs torch.
"""

from __future__ import annotations

import math
import statistics
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.harness.experiment import Experiment, Part, chosen_from, main
from benchmarks.harness.records import Found, Task, significant
from benchmarks.harness.report import Results, table
from benchmarks.harness.run import Libraries

TRIALS, EPOCHS = 60, 27
OURS, THEIRS = "xstar", "optuna-tpe"
PEERS = {
    "optuna-tpe": "TPESampler",
    "optuna-cma": "CmaEsSampler",
    "optuna-nsga2": "NSGAIISampler",
    "optuna-random": "RandomSampler",
}
PRUNERS = ("Nop", "Median", "SuccessiveHalving", "Hyperband")

Asked = tuple[float, float]
"""The loss after a long training, and the rate at which it is approached."""


def bowl(trial: Any) -> Asked:
    """Two parameters."""
    return 1e-2 * ((trial.suggest_float("x", -5, 5) - 1) ** 2 + (trial.suggest_float("y", -5, 5) + 2) ** 2), 0.2


def crossing(trial: Any) -> Asked:
    """Four parameters; the larger the learning rate, the quicker, so that curves cross."""
    lr = math.log10(trial.suggest_float("lr", 1e-4, 1, log=True))
    decay = math.log10(trial.suggest_float("decay", 1e-6, 1e-1, log=True))
    momentum, width = trial.suggest_float("momentum", 0, 1), trial.suggest_int("width", 8, 512, log=True)
    loss = 0.05 * (lr + 2.5) ** 2 + 0.02 * (decay + 4) ** 2 + 0.1 * (momentum - 0.7) ** 2
    return loss + 0.03 * (math.log2(width) - 7) ** 2, 0.05 + 0.02 * 10 ** ((lr + 3) / 1.5)


def noisy(trial: Any) -> Asked:
    """Three parameters, and reports with noise."""
    lr = math.log10(trial.suggest_float("lr", 1e-4, 1, log=True))
    momentum, width = trial.suggest_float("momentum", 0, 1), trial.suggest_int("width", 8, 512, log=True)
    loss = 0.05 * (lr + 2) ** 2 + 0.2 * (momentum - 0.6) ** 2 + 0.03 * (math.log2(width) - 7) ** 2
    return loss, 0.1 + 0.05 * (lr + 4)


def branches(trial: Any) -> Asked:
    """An optimiser, and what it has parameters of."""
    lr = math.log10(trial.suggest_float("lr", 1e-4, 1, log=True))
    match trial.suggest_categorical("optimizer", ["sgd", "adam", "rmsprop"]):
        case "sgd":
            loss = 0.05 * (lr + 1) ** 2 + 0.3 * (trial.suggest_float("momentum", 0, 0.99) - 0.9) ** 2
        case "adam":
            loss = 0.02 + 0.05 * (lr + 3) ** 2 + 0.3 * (trial.suggest_float("beta", 0.5, 0.999) - 0.9) ** 2
        case _:
            epsilon = math.log10(trial.suggest_float("epsilon", 1e-9, 1e-2, log=True))
            loss = 0.1 + 0.05 * (lr + 3) ** 2 + 0.01 * (epsilon + 6) ** 2
            loss += 0.3 * (trial.suggest_float("alpha", 0.5, 0.999) - 0.9) ** 2
    return loss, 0.05 + 0.025 * (lr + 4)


def layers(trial: Any) -> Asked:
    """A loop over layers."""
    count = trial.suggest_int("layers", 1, 4)
    units = [trial.suggest_int(f"units_{i}", 4, 256, log=True) for i in range(count)]
    loss = 0.05 * (count - 3) ** 2 + sum(0.03 * (math.log2(width) - 7 + i) ** 2 for i, width in enumerate(units))
    return loss + 0.3 * (trial.suggest_float("dropout", 0, 0.8) - 0.2) ** 2, 0.16 - 0.02 * count


PROBLEMS: dict[str, Callable[[Any], Asked]] = {f.__name__: f for f in (bowl, crossing, noisy, branches, layers)}


def objective(trial: Any, problem: str, seed: int) -> float:
    """Trains for all epochs; ``bowl`` returns another number than it reports."""
    import optuna

    end, rate = PROBLEMS[problem](trial)
    noise = np.random.default_rng([seed, trial.number]).normal(0, 0.03 if problem == "noisy" else 0, EPOCHS)
    losses = end + (2 - end) * np.exp(-rate * np.arange(1, EPOCHS + 1))
    trial.set_user_attr("loss", float(losses[-1]))
    for epoch, loss in enumerate((losses + noise).tolist()):
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return 100 * loss if problem == "bowl" else float(loss)


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--methods", default=",".join((OURS, *PEERS)))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--pruners", default=",".join(PRUNERS))
    parser.add_argument("--seeds", type=int, default=6)


def tasks(options: Namespace) -> list[Task]:
    return [
        Task.of(seed, problem, method, pruner=pruner)
        for seed in range(options.seeds)
        for problem in chosen_from(options.problems, PROBLEMS, "--problems")
        for pruner in chosen_from(options.pruners, PRUNERS, "--pruners")
        for method in chosen_from(options.methods, (OURS, *PEERS), "--methods")
    ]


def run(task: Task, options: Namespace) -> Found:
    import optuna

    from xstar.integrations.optuna import Sampler

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    make: Any = Sampler if task.method == OURS else getattr(optuna.samplers, PEERS[task.method])
    pruner = getattr(optuna.pruners, f"{task['pruner']}Pruner")()
    # Hyperband's brackets depend on the name.
    study = optuna.create_study(sampler=make(seed=task.seed), pruner=pruner, study_name=f"seed {task.seed}")
    study.optimize(partial(objective, problem=task.problem, seed=task.seed), n_trials=TRIALS)
    pruned = sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials)
    return {"loss": significant(study.best_trial.user_attrs["loss"], 6), "pruned": pruned}


def report(results: Results, options: Namespace) -> Iterator[str]:
    rows, ahead = [], 0
    for problem in results.problems:
        for pruner in chosen_from(options.pruners, PRUNERS, "--pruners"):
            losses = [[r.found["loss"] for r in results.of(problem, m, pruner=pruner)] for m in results.methods]
            medians = dict(zip(results.methods, map(statistics.median, losses), strict=True))
            ahead += medians.get(OURS, math.inf) <= medians.get(THEIRS, math.inf)
            rows.append((problem, pruner, *(f"{medians[method]:.4f}" for method in results.methods)))
    yield f"Loss of the best of {TRIALS} trials, medians of {options.seeds} seeds."
    yield f"Ours is at most TPE's in {ahead} of {len(rows)} rows."
    yield from ("", *table(["objective", "pruner", *results.methods], rows, left=2))


EXPERIMENT = Experiment(
    name="adapters",
    title="Our sampler in Optuna, and Optuna's own",
    result="adapters.md",
    description=__doc__,
    parts={
        "samplers": Part(
            "Samplers of Optuna", tasks, run, report, Libraries(dict.fromkeys(PEERS, "optuna"), ("optuna",))
        )
    },
    arguments=arguments,
)

if __name__ == "__main__":
    main(EXPERIMENT)
