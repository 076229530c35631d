"""One search as each library's quickstart calls it, on one of fifteen problems, and what it would have returned on the way.

=============  ================================================================================================
xstar          ``xs.minimize(objective, space, trials=n, seed=s)``, with ``max_budget=27`` where the objective yields
xstar-random   the same with ``method="random"``
xstar-gp       the same with ``method="gp"``
optuna         ``create_study().optimize(objective, n_trials=n)``; reports and ``should_prune`` where there are epochs
hyperopt       ``fmin(objective, space, algo=tpe.suggest, max_evals=n)``; conditional parameters are always drawn
smac           ``HyperparameterOptimizationFacade(Scenario(space, deterministic=True, n_trials=n), f).optimize()``
=============  ================================================================================================

A search is judged by its incumbent: the configuration with the lowest value *as observed* among trials at the full budget, and
of that the *true* loss, without noise. A trial is 27 epochs where there are any: whoever ends trials early may begin more.
"""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

import xstar as xs
from benchmarks import tables as problems
from xstar.space import Float, Int

CHECKPOINTS = (30, 60, 100)
TRIALS = max(CHECKPOINTS)
EPOCHS = 27
MOST_BEGUN = 10
"""Times as many trials may begin as there are full trainings to spend; the epochs end a search before."""


class Spent(BaseException):
    """All evaluations are used up. No ``Exception``, so that no library takes it for a failed trial."""


@dataclass(frozen=True)
class Task:
    """A problem: what is true, what is observed."""

    space: xs.Space
    true: Callable[[Mapping[str, Any]], float]
    noise: float = 0.0
    curve: Callable[[Mapping[str, Any], int], Any] | None = None
    """The run of a configuration under a seed, with a loss for each epoch; ``None``: there are no epochs."""


def _table(config: Mapping[str, Any]) -> float:
    """360 configurations; depth and width matter together."""
    depth = (config["layers"] - 4) ** 2 / 9
    kind = {"relu": 0.0, "gelu": 0.1, "tanh": 0.5}[config["kind"]]
    return kind + depth + abs(config["width"] / 64 - 1) * (1 + depth) / 3 + 0.2 * abs(config["k"] - 3)


def _mixed(config: Mapping[str, Any]) -> float:
    """The best rate and the best n depend on the kind."""
    shift = {"a": 0.0, "b": 1.5, "c": 3.0, "d": 4.0}[config["kind"]]
    rate = float(np.log10(config["rate"])) + 2 + 0.3 * shift
    return rate**2 + 0.05 * (config["n"] - 12 + 2 * shift) ** 2 + (0.4 if config["flag"] else 0.0) + 0.3 * shift


def _switches(config: Mapping[str, Any]) -> float:
    """Twenty switches; every fifth only counts with its neighbour."""
    on = np.array(list(config.values()), dtype=float)
    return float(((1 - on) / np.arange(1, 21)).sum() + 0.2 * np.abs(on[0:19:5] - on[1:20:5]).sum())


def tasks() -> dict[str, Task]:
    kind, width = xs.Choice(["relu", "gelu", "tanh"]), xs.Ordinal([16, 32, 64, 128])
    rate, letter = xs.Float(1e-5, 1.0, log=True), xs.Choice(["a", "b", "c", "d"])
    found = {
        "finite": Task(xs.Space(kind=kind, layers=xs.Int(1, 6), width=width, k=xs.Int(1, 5)), _table),
        "mixed": Task(xs.Space(rate=rate, n=xs.Int(1, 30), kind=letter, flag=xs.Bool()), _mixed),
        "switches": Task(xs.Space({f"s{i}": xs.Bool() for i in range(20)}), _switches),
    }
    for name in ("branin", "hartmann6", "levy6", "rosenbrock4", "ackley10"):
        found[name] = Task(problems.get(name).space, problems.get(name).loss)
    for name, noise in (("branin", 5.0), ("hartmann6", 0.2), ("levy6", 3.0)):
        found[f"{name}-noisy"] = Task(problems.get(name).space, problems.get(name).loss, noise)
    for name in ("curves-mlp", "curves-optimizer"):
        problem = problems.get(name, max_budget=EPOCHS)
        found[name] = Task(problem.space, problem.loss, noise=0.005)
        found[f"{name}-epochs"] = Task(problem.space, problem.loss, curve=problem.curve)
    return found


@dataclass
class Trace:
    """The evaluations of one search."""

    task: Task
    seed: int
    used: int = 0
    """Epochs, or evaluations where there are none."""
    best: dict[int, float] = field(default_factory=dict)
    """Checkpoint → true loss of the incumbent."""
    incumbent: tuple[float, float] = (float("inf"), float("inf"))
    """Its loss as observed, and its true one."""

    @property
    def unit(self) -> int:
        return 1 if self.task.curve is None else EPOCHS

    @property
    def trials(self) -> int:
        return TRIALS * (1 if self.task.curve is None else MOST_BEGUN)

    def values(self, config: Mapping[str, Any]) -> Iterator[float]:
        """What a training of ``config`` reports, one value after the other."""
        number, losses = self.used, [self.task.true(config)]
        if self.task.curve is not None:
            losses = self.task.curve(config, 100_000 * self.seed + number).losses
        noise = self.task.noise * np.random.default_rng([self.seed, number]).standard_normal()
        for epoch, exact in enumerate(losses, 1):
            if self.used >= TRIALS * self.unit:
                raise Spent
            self.used += 1
            loss = exact + float(noise)
            if epoch == len(losses) and loss < self.incumbent[0]:
                self.incumbent = (loss, self.task.true(config))
            if self.used % self.unit == 0 and self.used // self.unit in CHECKPOINTS:
                self.best[self.used // self.unit] = self.incumbent[1]
            yield loss

    def configured(self, pick: Callable[[str, Any], Any]) -> dict[str, Any]:
        """The active parameters, parents first, each with the value that ``pick`` gives it."""
        config: dict[str, Any] = {}
        for name in self.task.space.structure.order:
            active = self.task.space.structure.activity.get(name)
            if active is None or active(config):
                config[name] = pick(name, self.task.space[name])
        return self.task.space.parse(config)


def run_xstar(trace: Trace, method: str | None = None) -> None:
    runs: dict[int, Iterator[float]] = {}

    def train(trial: Any) -> Iterator[float]:
        (trial.checkpoint / "state").touch()  # as a training that keeps checkpoints: what was paused goes on
        run = runs.setdefault(trial.number, trace.values(trial.config))
        for _ in trial.epochs():
            yield next(run)

    space, trials, seed = trace.task.space, trace.trials, trace.seed
    if trace.task.curve is None:
        xs.minimize(lambda trial: next(trace.values(trial.config)), space, method=method, trials=trials, seed=seed)
    else:
        xs.minimize(train, space, method=method, trials=trials, max_budget=EPOCHS, seed=seed)


def run_optuna(trace: Trace) -> None:
    import optuna

    def objective(trial: Any) -> float:
        def suggest(name: str, given: Any) -> Any:
            if isinstance(given, Float | Int):
                ask = trial.suggest_float if isinstance(given, Float) else trial.suggest_int
                return ask(name, given.low, given.high, log=given.log)
            return trial.suggest_categorical(name, [given.value_at(place) for place in range(given.size)])

        loss = float("inf")
        for epoch, loss in enumerate(trace.values(trace.configured(suggest)), 1):
            if trace.task.curve is not None:
                trial.report(loss, epoch)
                if trial.should_prune():
                    raise optuna.TrialPruned
        return loss

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=trace.seed))  # the default, with a seed
    study.optimize(objective, n_trials=trace.trials)


def on_record(trace: Trace) -> None:
    raise SystemExit(
        "hyperopt and SMAC3 are on record alone: their quickstarts are in workloads/quickstarts.py of 023aeac"
    )


SEARCHES: dict[str, Callable[[Trace], None]] = {
    "xstar": run_xstar,
    "xstar-random": partial(run_xstar, method="random"),
    "xstar-gp": partial(run_xstar, method="gp"),
    "optuna": run_optuna,
    "hyperopt": on_record,
    "smac": on_record,
}


def search(method: str, problem: str, seed: int) -> dict[str, Any]:
    """The true loss of the incumbent at each checkpoint, and the seconds that the whole took."""
    trace, begun = Trace(tasks()[problem], seed), time.perf_counter()
    with warnings.catch_warnings(), contextlib.suppress(Spent):
        if not method.startswith("xstar"):
            warnings.simplefilter("ignore")
        SEARCHES[method](trace)
    after = {str(point): trace.best.get(point, trace.incumbent[1]) for point in CHECKPOINTS}
    return {"after": after, "seconds": round(time.perf_counter() - begun, 2)}
