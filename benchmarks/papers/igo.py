"""Parameterless IGO (Nishida et al. 2018), figure by figure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import TITLES
from benchmarks.igo import Cells, median
from benchmarks.papers.entry import Entry, Paper, Row, claim, compare
from benchmarks.papers.sources import Earlier, OnRecord, cell

ONEMAX = Earlier("igo.md", "OneMax (Figure 1)", "python -m benchmarks.igo --most 300 --write")
LEADING = Earlier("igo.md", "LeadingOnes (Figure 1)", ONEMAX.command)
ALPHA = Earlier("igo.md", "Robustness to α (Figure 4)", ONEMAX.command)
HITS = OnRecord(
    "igo",
    "hits",
    ("--large", "--functions OneMax", "--figures-only"),
    lambda task: task.problem == "OneMax" and task.get("part") in ("figure 1", "figure 4"),
)
TRAINED = {
    key: Earlier("cotrain.md", TITLES[key], "python -m benchmarks.cotrain --mnist mnist.npz --write") for key in MNIST
}
LONG = {
    key: OnRecord(
        "cotrain", "mnist", ("--mnist mnist.npz", f"--experiments {key}"), lambda task, key=key: task.problem == key
    )
    for key in MNIST
}


def hitting_rows() -> Iterator[Row]:
    if HITS.found:
        cells = Cells(HITS.results)
        for n in cells.sizes("figure 1", "OneMax")[2:]:
            both = [cells.of("figure 1", "OneMax", n, name) for name in ("PBIL-λ", "cGA, ε = 1/n")]
            if all(both):
                ours, other = (median(times or []) for times in both)
                yield sooner(f"OneMax, n = {n:,}", ours, other)
    for source, name in ((ONEMAX, "OneMax"), (LEADING, "LeadingOnes"))[bool(HITS.found) :]:
        for n in ("100", "300"):
            yield sooner(f"{name}, n = {n}", cell(source, n, "PBIL-λ"), cell(source, n, "cGA, ε = 1/n"))


def sooner(where: str, ours: float, other: float) -> Row:
    shown = [f"{calls:,.0f}" if math.isfinite(calls) else "not within the limit" for calls in (ours, other)]
    text = f"{where}: PBIL-λ {shown[0]}, cGA with ε = 1/n {shown[1]}"
    return claim("PBIL-λ hits the optimum as soon as cGA or sooner", text, ours <= other)


def medians(key: str) -> tuple[dict[str, float], str]:
    """Method → median of the final test errors, of the longest run on record; else of the table made before."""
    if runs := LONG[key].found:
        longest = max(runs, key=lambda record: record.found["iterations"]).found
        last = longest["curve"][-1]
        return {
            name: statistics.median(last[name]["error"]) for name in MNIST[key]
        }, f"{last['iteration']:,} iterations"
    return {name: cell(TRAINED[key], name, "median") for name in MNIST[key]}, "the short run"


def trained_rows(key: str) -> Iterator[Row]:
    found, length = medians(key)
    for name, (middle, _, _) in MNIST[key].items():
        yield compare(f"{name}: median test error in %, {length}", middle, found[name], "{:.3f}")
    order = sorted(MNIST[key], key=lambda name: MNIST[key][name][0])
    ours = sorted(found, key=lambda name: found[name])
    yield claim(" < ".join(order), " < ".join(ours), order == ours)


def layer_rows() -> Iterator[Row]:
    yield from trained_rows("layers")


def unit_rows() -> Iterator[Row]:
    yield from trained_rows("activations")


PAPER = Paper(
    "Parameterless IGO",
    "Nishida et al. (2018), *Parameterless Stochastic Natural Gradient Method for Discrete Optimization and its Application to "
    "Hyper-Parameter Optimization for Neural Network*.",
    (
        Entry(
            "Figure 1: first hitting times",
            "OneMax and LeadingOnes up to n = 3,000; medians over runs.",
            "Ten runs; LeadingOnes up to n = 1,000.",
            (HITS if HITS.found else ONEMAX, LEADING),
            hitting_rows,
        ),
        Entry(
            "Figure 2: layers of a network, while it is trained",
            "31 bits switch layers of an MLP on MNIST.",
            "Five seeds instead of 30; the number of iterations and the first step size are not in the paper.",
            (LONG["layers"], TRAINED["layers"]),
            layer_rows,
        ),
        Entry(
            "Figure 3: the activation of each unit, while it is trained",
            "3,072 bits choose tanh or ReLU for each unit.",
            "As for Figure 2. The short run of 86 epochs reverses cGA and ReLU: what learns its structure has not converged.",
            (LONG["activations"], TRAINED["activations"]),
            unit_rows,
        ),
        Entry(
            "Figure 4: robustness to α",
            "First hitting times of PBIL-λ over α, relative to the best.",
            "Ten runs, n up to 300.",
            (ALPHA,),
        ),
    ),
    "igo.md",
)
