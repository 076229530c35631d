"""Methods by name: ours and those of other libraries behind one protocol, ask for a configuration, tell its loss.

=============  =========================================================================================================
method         what it is
=============  =========================================================================================================
optuna-gp      Optuna's ``GPSampler``, its defaults (needs torch)
optuna-tpe     Optuna's ``TPESampler``, its defaults; from version 5 on these are multivariate
botorch        ``SingleTaskGP`` and ``LogExpectedImprovement`` after min(10, 2d) Sobol points; its noise is fitted, too
hyperopt       ``fmin`` with ``tpe.suggest``, one evaluation at a time; conditional parameters are always drawn
nevergrad      its ``NGOpt``, which chooses among its optimisers by space and number of evaluations; conditions as above
cmaes          the package's ``CMA`` over the encoded space from its middle, σ = 0.3, one generation after the other
smac           SMAC3's ``HyperparameterOptimizationFacade`` (a random forest); its first quarter is a Sobol design
xstar-…        ``xs.Study(space, method="…")``
=============  =========================================================================================================

Peers run at their own defaults. A decision is one ask and the tell that follows; making the optimiser, and importing its
library, is not counted.
"""

from __future__ import annotations

import statistics
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import xstar as xs
from benchmarks import tables as problems
from benchmarks.harness.flat_peers import Hyperopt, Nevergrad
from benchmarks.harness.peers import BoTorch, Cmaes, Optuna, Smac, gp_sampler, tpe_sampler
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.harness.run import OURS, Libraries
from xstar.journal.trial import Origin
from xstar.space import Config, Space
from xstar.testing.problems import Problem


class Optimiser(Protocol):
    """Sequential: each configuration is told before the next is asked for."""

    def ask(self) -> Config:
        """The next configuration, in canonical form."""

    def tell(self, config: Config, loss: float) -> None:
        """The loss of the configuration just asked for."""

    def fail(self, config: Config) -> None:
        """The configuration just asked for has none: its trial raised."""


@runtime_checkable
class Informed(Optimiser, Protocol):
    """One that can be handed evaluations, so that its speed can be measured at any number of them."""

    def know(self, config: Config, loss: float) -> None:
        """An evaluation made elsewhere."""


class Xstar:
    """A study of ours."""

    def __init__(self, space: Space, seed: int, method: str | None, searcher: Any = None) -> None:
        self._study = xs.Study(space, method=method, searcher=searcher, seed=seed)

    def ask(self) -> Config:
        trial = self._study.ask()
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {self._study.ended}")
        self._trial = trial
        return trial.config

    def tell(self, config: Config, loss: float) -> None:
        self._study.tell(self._trial, loss)

    def fail(self, config: Config) -> None:
        self._study.fail(self._trial, "it raises")

    def know(self, config: Config, loss: float) -> None:
        self._study.add(config, loss)

    def count(self, condition: Callable[[Origin], bool]) -> int:
        """How many trials have an origin of a kind."""
        return sum(condition(Origin.of(trial.origin)) for trial in self._study.history.trials)


@dataclass(frozen=True)
class Method:
    """How an optimiser is made, and which library it comes from."""

    make: Callable[[Space, int, int], Optimiser]
    """From the space, the seed and the number of evaluations to come."""
    package: str = OURS

    @property
    def ours(self) -> bool:
        return self.package == OURS


OURS_BY_NAME = ("gp", "dngo", "dngo-paper", "tpe", "forest", "cma", "regularised-evolution", "auto", "random")


def _ours(method: str) -> Method:
    return Method(lambda space, seed, _: Xstar(space, seed, method))


METHODS: dict[str, Method] = {
    **{f"xstar-{name}": _ours(name) for name in OURS_BY_NAME},
    "optuna-tpe": Method(lambda space, seed, _: Optuna(space, partial(tpe_sampler, seed)), "optuna"),
    "optuna-gp": Method(lambda space, seed, _: Optuna(space, partial(gp_sampler, seed)), "optuna"),
    "nevergrad": Method(Nevergrad, "nevergrad"),
    "hyperopt": Method(lambda space, seed, _: Hyperopt(space, seed), "hyperopt"),
    "cmaes": Method(lambda space, seed, _: Cmaes(space, seed), "cmaes"),
    "smac": Method(Smac, "smac"),
    "botorch": Method(lambda space, seed, _: BoTorch(space, seed), "botorch"),
}
LIBRARIES = Libraries({name: method.package for name, method in METHODS.items()})


class Step(NamedTuple):
    """One evaluation: what it gave, and what deciding on it took."""

    loss: float
    processor: float
    """Seconds of the processor, all threads together."""
    wall: float
    """Seconds of the clock on the wall."""


@contextmanager
def made(method: str, space: Space, seed: int, evaluations: int) -> Iterator[Optimiser]:
    """The optimiser of that name. Peers' warnings, about experimental features and jitter, are not shown; ours are."""
    chosen = METHODS[method]
    with warnings.catch_warnings():
        if not chosen.ours:
            warnings.simplefilter("ignore")
        yield chosen.make(space, seed, evaluations)


def decide(optimiser: Optimiser, problem: Problem) -> Step:
    """One evaluation at the full budget."""
    processor, wall = time.process_time(), time.perf_counter()
    config = optimiser.ask()
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    loss = problem.loss(problem.space.parse(config))
    again, wall_again = time.process_time(), time.perf_counter()
    optimiser.tell(config, loss)
    return Step(loss, processor + time.process_time() - again, wall + time.perf_counter() - wall_again)


def search(problem: Problem, method: str, seed: int, evaluations: int) -> list[Step]:
    """``problem`` at the full budget, one evaluation after the other."""
    with made(method, problem.space, seed, evaluations) as optimiser:
        return [decide(optimiser, problem) for _ in range(evaluations)]


def run_search(task: Task, options: Namespace) -> Found:
    """The record of a search: its incumbents, and milliseconds per decision."""
    steps = search(problems.get(task.problem), task.method, task.seed, task["evaluations"])
    processor = [1e3 * step.processor for step in steps]
    return {
        "best": improvements(step.loss for step in steps),
        "processor": significant(statistics.mean(processor)),
        "median": significant(statistics.median(processor)),
        "wall": significant(1e3 * statistics.mean(step.wall for step in steps)),
    }
