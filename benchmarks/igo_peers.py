"""PBIL against nevergrad's discrete optimisers and Optuna's TPE: calls to the optimum, and time per call.

    python -m benchmarks.igo_peers [--runs 5] [--seconds 120]

OneMax-100, LeadingOnes-50, OneMax-1000 and NAS-Bench-201 (CIFAR-10, mean validation error at 200 epochs, by table), all methods
in one process, one after the other. A call is ask, evaluation and tell; the objective itself takes microseconds. A run ends at
the optimum, after ``calls`` or after ``--seconds``; then the best loss above the optimum is given instead.

Needs ``pip install nevergrad optuna``. Bits are an integer array for nevergrad: of its three ways to write them (Array, Choice,
TransitionChoice) the one that got to the optimum of OneMax-100 first. Writes benchmarks/results/igo-peers.md.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.igo import leadingones, onemax
from benchmarks.machine import describe_machine
from xstar import problems
from xstar.igo import IGO, Bernoulli, Categorical
from xstar.searchers.pbil import PBIL

RESULT = Path(__file__).parent / "results" / "igo-peers.md"
Vector = Sequence[int]


@dataclass(frozen=True)
class Task:
    """A function of ``n`` variables with ``values`` values each, and its least value."""

    name: str
    n: int
    values: int
    loss: Callable[[Vector], float]
    optimum: float
    calls: int


class Method:
    """Ask and tell, the peers' as ours."""

    def __init__(self, task: Task, seed: int, calls: int) -> None: ...
    def ask(self) -> Vector: ...
    def tell(self, loss: float) -> None: ...


class Core(Method):
    """PBIL-λ without a study."""

    def __init__(self, task: Task, seed: int, calls: int) -> None:
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

    def __init__(self, task: Task, seed: int, calls: int) -> None:
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

    def __init__(self, task: Task, seed: int, calls: int) -> None:
        import nevergrad as ng

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
    def __init__(self, task: Task, seed: int, calls: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        values = list(range(task.values))
        self.space = {f"x{place}": optuna.distributions.CategoricalDistribution(values) for place in range(task.n)}
        self.study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))

    def ask(self) -> Vector:
        self.trial = self.study.ask(self.space)
        return list(self.trial.params.values())

    def tell(self, loss: float) -> None:
        self.study.tell(self.trial, loss)


class RandomSearch(Method):
    def __init__(self, task: Task, seed: int, calls: int) -> None:
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


def tasks() -> Iterator[Task]:
    yield Task("OneMax-100", 100, 2, lambda x: int(onemax(np.asarray(x, dtype=np.int8))), 0, 5_000)
    yield Task("LeadingOnes-50", 50, 2, lambda x: int(leadingones(np.asarray(x, dtype=np.int8))), 0, 20_000)
    yield Task("OneMax-1000", 1000, 2, lambda x: int(onemax(np.asarray(x, dtype=np.int8))), 0, 30_000)
    if not problems.available("nb201-cifar10"):
        print("no NAS-Bench-201:", problems.missing("nb201-cifar10"))
        return
    table: Any = problems.get("nb201-cifar10")
    options = {name: parameter.options for name, parameter in table.space.parameters.items()}

    def error(x: Vector) -> float:
        return float(table.loss({name: options[name][int(k)] for name, k in zip(options, x, strict=True)}))

    yield Task("NAS-Bench-201", 6, 5, error, table.optimum, 5_000)


def run(
    method: type[Method], task: Task, seed: int, seconds: float, calls: int
) -> tuple[int | None, float, int, float]:
    """(calls to the optimum or None, best loss above it, calls made, seconds per call)."""
    started, best = time.perf_counter(), float("inf")
    inner = method(task, seed, calls)
    for call in range(1, calls + 1):
        loss = task.loss(inner.ask())
        best = min(best, loss)
        if loss <= task.optimum + 1e-9:
            return call, 0.0, call, (time.perf_counter() - started) / call
        inner.tell(loss)
        if time.perf_counter() - started > seconds:
            break
    return None, best - task.optimum, call, (time.perf_counter() - started) / call


def duration(seconds: float) -> str:
    return (
        f"{seconds * 1e6:,.0f} µs"
        if seconds < 1e-3
        else f"{seconds * 1e3:,.1f} ms"
        if seconds < 1
        else f"{seconds:,.1f} s"
    )


def compare(task: Task, options: argparse.Namespace) -> Iterator[str]:
    yield f"## {task.name}\n"
    yield "| method | calls to the optimum, median (range) | runs that got there | loss left by the others | time per call |"
    yield "|---|---:|---:|---:|---:|"
    for name, method in METHODS.items():
        runs = [run(method, task, seed, options.seconds, task.calls) for seed in range(options.runs)]
        hits = sorted(hit for hit, *_ in runs if hit is not None)
        left = [gap for hit, gap, *_ in runs if hit is None]
        made = statistics.median([calls for hit, _, calls, _ in runs if hit is None] or [0])
        times = "–" if not hits else f"{statistics.median(hits):,.0f} ({hits[0]:,}–{hits[-1]:,})"
        gap = "" if not left else f"{statistics.median(left):.3g} after {made:,.0f} calls"
        line = f"| {name} | {times} | {len(hits)} of {len(runs)} | {gap} | {duration(statistics.median(r[3] for r in runs))} |"
        print(task.name, line, flush=True)
        yield line
    yield ""


def speed() -> Iterator[str]:
    """Ask + tell at n = 3,000, after the first ten calls (which TPE draws at random)."""
    yield "## Time of ask + tell, 3,000 bits\n"
    yield "| method | median of one call |"
    yield "|---|---:|"
    task = Task("OneMax-3000", 3000, 2, lambda x: int(onemax(np.asarray(x, dtype=np.int8))), 0, 0)
    calls = {"Optuna TPE": 16}
    for name, method in METHODS.items():
        inner, took = method(task, 0, 1000), []
        for _ in range(calls.get(name, 300 if name.startswith(("xstar", "random")) else 60)):
            started = time.perf_counter()
            x = inner.ask()
            asked = time.perf_counter() - started
            loss = task.loss(x)
            started = time.perf_counter()
            inner.tell(loss)
            took.append(asked + time.perf_counter() - started)
        # The core works once per generation: its mean is what a call costs.
        line = f"| {name} | {duration(statistics.median(took[10:]))}, mean {duration(statistics.mean(took[10:]))} |"
        print(line, flush=True)
        yield line
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=120, help="limit of one run")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # nevergrad's, about its own future
    lines = [
        "# PBIL and its peers",
        "",
        f"`python -m benchmarks.igo_peers {shlex.join(sys.argv[1:])}`".replace(" `", "`"),
        "",
        describe_machine("nevergrad", "optuna").removeprefix("# "),
        "",
        f"{options.runs} runs each, at most {options.seconds:g} s per run. A call is ask, evaluation and tell.",
        "",
        *speed(),
    ]
    for task in tasks():
        lines += [*compare(task, options)]
    RESULT.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
