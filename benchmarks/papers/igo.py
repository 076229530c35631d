"""Parameterless IGO (Nishida et al. 2018), figure by figure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from typing import Any

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted, pooled
from benchmarks.igo import Cells, median
from benchmarks.papers.entry import Entry, Paper, Row, claim, compare
from benchmarks.papers.sources import OnRecord
from benchmarks.workloads.hitting_times import Times

STABLE = 30
"""Below it all α take a handful of generations."""

FIGURE2 = "igo-figure2.svg"
FUNCTIONS = ("OneMax", "LeadingOnes")


def hits(part: str, function: str) -> OnRecord:
    given = ("--large", "--figures-only", f"--functions {function}")
    return OnRecord("igo", "hits", given, lambda task: task.problem == function and task.get("part") == part)


HITS = {function: hits("figure 1", function) for function in FUNCTIONS}
ALPHAS = {function: hits("figure 4", function) for function in FUNCTIONS}
LENGTHS = {"layers": (200_000, 10), "activations": (1_000_000, 1)}
"""Iterations of the long runs, and the seeds of a call."""
SHORT = 81_000
"""Iterations of a run with more seeds."""


def trainings(key: str, iterations: int, *given: str) -> OnRecord:
    options = ("--mnist mnist.npz", f"--experiments {key}", f"--iterations {iterations}", *given)
    return OnRecord(
        "cotrain", "mnist", options, lambda task: (task.problem, task.get("iterations")) == (key, iterations)
    )


LONG = {
    key: trainings(key, iterations, f"--seeds {seeds}", "--checkpoints kept --compact")
    for key, (iterations, seeds) in LENGTHS.items()
}
SHORTER = trainings("activations", SHORT, "--seeds 5", "--fuse")
CHANNELS = OnRecord("cotrain_cifar", "activations", ("--seeds 3 --processes 5",))


def hitting_rows() -> Iterator[Row]:
    for function in FUNCTIONS:
        cells = Cells(HITS[function].results)
        for n in cells.sizes("figure 1", function)[2:]:
            both = [cells.of("figure 1", function, n, name) for name in ("PBIL-λ", "cGA, ε = 1/n")]
            if all(both):
                ours, other = (median(times or []) for times in both)
                yield sooner(f"{function}, n = {n:,}", ours, other)
            elif both[0]:
                yield reached(f"{function}, n = {n:,}", both[0])


def reached(where: str, times: Times) -> Row:
    """Where the others were not run: from n = 300 on they do not get there within the limit."""
    middle = median(times)
    shown = f"{middle:,.0f}" if math.isfinite(middle) else "not within the limit"
    text = f"{where}: PBIL-λ {shown} (median of {len(times)}); cGA was not run"
    return claim("PBIL-λ finds the optimum", text, math.isfinite(middle))


def alpha_rows() -> Iterator[Row]:
    """The paper's two sentences on Figure 4."""
    for function, most in (("OneMax", 1.4), ("LeadingOnes", None)):
        rows = Cells(ALPHAS[function].results).alphas(function)
        if not rows:
            continue
        worst = {n: max(row) / min(row) for n, row in rows.items()}
        if most is not None:
            text = f"{function}: {', '.join(f'{share:.2f} at n = {n}' for n, share in worst.items())}"
            yield claim(
                "at most 1.4 times the calls of the best α, with the worst α", text, max(worst.values()) <= most
            )
            continue
        large = {n: max(row[2:]) / min(row) for n, row in rows.items() if n >= STABLE}
        text = f"{function}, α ≥ 1.5: {', '.join(f'{share:.2f} at n = {n}' for n, share in large.items())}"
        yield claim("α ≥ 1.5 is stable, α = 1.1 is not", text, max(large.values()) < 2.0 < max(worst.values()))


def sooner(where: str, ours: float, other: float) -> Row:
    shown = [f"{calls:,.0f}" if math.isfinite(calls) else "not within the limit" for calls in (ours, other)]
    text = f"{where}: PBIL-λ {shown[0]}, cGA with ε = 1/n {shown[1]}"
    return claim("PBIL-λ hits the optimum as soon as cGA or sooner", text, ours <= other)


def longest(key: str) -> tuple[list[dict[str, Any]], int]:
    """The moments of the longest run on record, and its seeds."""
    _, found, seeds = max(pooled(LONG[key].found), key=lambda run: run[1]["iterations"])
    return found["curve"], seeds


def medians(key: str) -> tuple[dict[str, float], str]:
    """Method → median of the final test errors, of the longest run on record; and what that run is."""
    curve, seeds = longest(key)
    last = curve[-1]
    errors = {name: statistics.median(last[name]["error"]) for name in MNIST[key]}
    return errors, f"{last['iteration']:,} iterations, {counted(seeds)}"


def trained_rows(key: str) -> Iterator[Row]:
    found, length = medians(key)
    for name, (middle, _, _) in MNIST[key].items():
        yield compare(f"{name}: median test error in %, {length}", middle, found[name], "{:.3f}")
    order = sorted(MNIST[key], key=lambda name: MNIST[key][name][0])
    ours = sorted(found, key=lambda name: found[name])
    yield claim(" < ".join(order), " < ".join(f"{name} {found[name]:.3g}" for name in ours), order == ours)


def layer_rows() -> Iterator[Row]:
    yield from trained_rows("layers")


def unit_rows() -> Iterator[Row]:
    yield from trained_rows("activations")


def channel_rows() -> Iterator[Row]:
    found = {
        method: statistics.mean(record.found["test"] for record in CHANNELS.results.of(method=method))
        for method in CHANNELS.results.methods
    }
    fixed = {method: found[method] for method in ("ReLU", "tanh") if method in found}
    for method, error in found.items():
        if method not in fixed and fixed:
            shown = ", ".join(f"{name} {value:.4f}" for name, value in fixed.items())
            text = f"{method} {error:.4f}; {shown}"
            yield claim("what learns its structure ends below both fixed networks", text, error < min(fixed.values()))


PAPER = Paper(
    "Parameterless IGO",
    "Nishida et al. (2018), *Parameterless Stochastic Natural Gradient Method for Discrete Optimization and its Application to "
    "Hyper-Parameter Optimization for Neural Network*.",
    (
        Entry(
            "Figure 1: first hitting times",
            "OneMax and LeadingOnes up to n = 3,000; medians over runs.",
            "Ten runs. LeadingOnes with n = 3,000 is for PBIL-λ only: from n = 300 on none of the others gets there within "
            "3 n² calls.",
            tuple(HITS.values()),
            hitting_rows,
        ),
        Entry(
            "Figure 2: layers of a network, while it is trained",
            "31 bits switch layers of an MLP on MNIST.",
            "Ten seeds instead of the paper's 30; the number of iterations and the first step size are not in the paper. The "
            "run went on once from a checkpoint (at 169,000 iterations), with weights in half precision and a fresh momentum.",
            (LONG["layers"],),
            layer_rows,
            pictures=((FIGURE2, "Figure 2: test errors over iterations"),),
        ),
        Entry(
            "Figure 3: the activation of each unit, while it is trained",
            "3,072 bits choose tanh or ReLU for each unit.",
            "As for Figure 2, but the long run has fewer seeds; each went on once from a checkpoint (at 647,000 "
            "and 646,000 iterations), with weights in half precision and a fresh momentum. The second table has five seeds "
            "and 81,000 iterations. "
            "[What differs](findings.md#tanh-or-relu-for-each-unit-in-the-long-run-relu-is-as-good).",
            (LONG["activations"], SHORTER),
            unit_rows,
            pictures=(("activations-in-the-long-run.svg", "Figure 3: test errors over iterations"),),
        ),
        Entry(
            "Figure 4: robustness to α",
            "First hitting times of PBIL-λ over α, relative to the best.",
            "Ten runs, n up to 300.",
            tuple(ALPHAS.values()),
            alpha_rows,
        ),
        Entry(
            "Beyond the paper: the activation of each channel on CIFAR-10",
            "Not in the paper, which has MNIST only.",
            "896 bits choose tanh or ReLU for each channel of a CNN of six convolutions, 30 epochs, three seeds. θ is far "
            "from decided at the end.",
            (CHANNELS,),
            channel_rows,
        ),
    ),
    "igo.md",
)
