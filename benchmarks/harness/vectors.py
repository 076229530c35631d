"""Optimisers of vectors of categories, ours and those of other libraries: ask for a vector, tell its loss.

Bits are an integer array for nevergrad: of its three ways to write them (Array, Choice, TransitionChoice) the one that got to
the optimum of OneMax-100 first. Optuna's TPE runs at its defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import xstar as xs
from benchmarks.harness.machine import peer
from benchmarks.harness.peers import quiet_optuna
from benchmarks.harness.run import Libraries
from xstar.igo import IGO, Bernoulli, Categorical
from xstar.searchers.pbil import PBIL

Vector = Sequence[int]


@dataclass(frozen=True)
class Vectors:
    """A function of ``n`` variables with ``values`` values each, its least value, and the most calls of a run."""

    n: int
    values: int
    loss: Callable[[Vector], float]
    optimum: float
    calls: int


class Method:
    """Ask and tell, the peers' as ours."""

    def __init__(self, task: Vectors, seed: int, calls: int) -> None: ...
    def ask(self) -> Vector: ...
    def tell(self, loss: float) -> None: ...


class Core(Method):
    """PBIL-λ without a study."""

    def __init__(self, task: Vectors, seed: int, calls: int) -> None:
        family = Bernoulli(task.n) if task.values == 2 else Categorical(task.n, task.values)
        self.core, self.rng = IGO(family), np.random.default_rng(seed)
        self.points: np.ndarray = np.empty((0, task.n))
        self.losses: list[float] = []

    def ask(self) -> Vector:
        if len(self.losses) == len(self.points):
            if self.losses:
                self.core.update(self.points, self.losses)
            self.points, self.losses = self.core.sample(self.core.samples, self.rng), []
        return self.points[len(self.losses)]

    def tell(self, loss: float) -> None:
        self.losses.append(loss)


class Study(Method):
    """PBIL-λ in a study: journal, history, no configuration twice."""

    def __init__(self, task: Vectors, seed: int, calls: int) -> None:
        self.bits = task.values == 2
        names = [f"x{place}" for place in range(task.n)]
        space = {"x": xs.Bits(task.n)} if self.bits else {name: xs.Choice(list(range(task.values))) for name in names}
        self.study = xs.Study(xs.Space(space), searcher=PBIL(), seed=seed)

    def ask(self) -> Vector:
        self.trial = self.study.ask()
        return self.trial["x"] if self.bits else list(self.trial.config.values())

    def tell(self, loss: float) -> None:
        self.study.tell(self.trial, loss)


class Nevergrad(Method):
    optimiser = ""

    def __init__(self, task: Vectors, seed: int, calls: int) -> None:
        ng = peer("nevergrad")
        if task.values == 2:
            space = ng.p.Array(shape=(task.n,), lower=0, upper=1).set_integer_casting()
        else:
            space = ng.p.TransitionChoice(range(task.values), repetitions=task.n)
        space.random_state.seed(seed)
        self.inner = ng.optimizers.registry[self.optimiser](parametrization=space, budget=calls)

    def ask(self) -> Vector:
        self.candidate = self.inner.ask()
        return np.asarray(self.candidate.value, dtype=np.int8)

    def tell(self, loss: float) -> None:
        self.inner.tell(self.candidate, loss)


class TPE(Method):
    def __init__(self, task: Vectors, seed: int, calls: int) -> None:
        optuna = quiet_optuna()
        values = list(range(task.values))
        self.space = {f"x{place}": optuna.distributions.CategoricalDistribution(values) for place in range(task.n)}
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))

    def ask(self) -> Vector:
        self.trial = self.study.ask(self.space)
        return list(self.trial.params.values())

    def tell(self, loss: float) -> None:
        self.study.tell(self.trial, loss)


class RandomSearch(Method):
    def __init__(self, task: Vectors, seed: int, calls: int) -> None:
        self.rng, self.task = np.random.default_rng(seed), task

    def ask(self) -> Vector:
        return self.rng.integers(0, self.task.values, self.task.n, dtype=np.int8)

    def tell(self, loss: float) -> None:
        pass


METHODS: dict[str, type[Method]] = {"xstar PBIL-λ, core": Core, "xstar PBIL-λ, study": Study}
for _kind in ("", "Lengler", "DoubleFastGA", "Portfolio"):
    _name = f"Discrete{_kind}OnePlusOne" if _kind in ("", "Lengler") else f"{_kind}DiscreteOnePlusOne"
    METHODS[f"nevergrad {_name}"] = type(_name, (Nevergrad,), {"optimiser": _name})
METHODS |= {"Optuna TPE": TPE, "random": RandomSearch}
LIBRARIES = Libraries(
    {name: "nevergrad" if name.startswith("nevergrad") else "optuna" for name in METHODS if name[0] in "nO"}
)
