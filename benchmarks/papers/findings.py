"""Where what was measured contradicts a paper: the text of docs/findings.md, and the numbers of its pictures."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted
from benchmarks.harness.report import table
from benchmarks.papers.dngo import CALIBRATION
from benchmarks.papers.findings_mobster import electricity, stopping
from benchmarks.papers.findings_nasbot import carries, kernels, naval
from benchmarks.papers.igo import CHANNELS, LONG, TRAINED, longest, medians
from benchmarks.papers.sources import ASSETS, cell

MODELS = {"tanh, one network": "one network", "tanh, ten networks": "ten networks", "GP": "GP"}
COVERAGE, UNITS = "one-network.svg", "activations-in-the-long-run.svg"
"""Pictures."""
LEARNED = ("cGA", "PBIL-λ", "PBIL-ε")


def covered(problem: str, n: int, model: str) -> float:
    """How often its 95 % intervals hold the truth."""
    return statistics.mean(record.found[model]["95%"] for record in CALIBRATION.results.of(problem, n=n))


def sizes(problem: str) -> list[int]:
    return sorted({record.task["n"] for record in CALIBRATION.results.of(problem)})


def intervals() -> Iterator[str]:
    problem = "hartmann6"
    worst = min(sizes(problem), key=lambda n: covered(problem, n, "tanh, one network"))
    found = {name: covered(problem, worst, model) for model, name in MODELS.items()}
    others = ", ".join(f"{name} {share:.0%}" for name, share in found.items() if name != "one network")
    yield from ("## One network's intervals do not hold the truth", "")
    yield "DNGO integrates over the last layer of *one* network. Its basis was fitted to the data, so the regression on it,"
    yield f"fitted to the same data, is far too sure: after {worst} observations of Hartmann's function its 95 % intervals hold"
    yield f"the truth in {found['one network']:.0%} of the cases ({others}). The search still works: it needs the order of"
    yield "points more than their variances. `DNGO()` averages over ten networks instead."
    yield from (
        "",
        f"![How often 95 % intervals hold the truth, over the number of observations]({ASSETS}/{COVERAGE})",
        "",
    )
    yield from (f"`{CALIBRATION.command}`: {CALIBRATION.about()}", "")


def units() -> Iterator[str]:
    (curve, seeds), (ends, _) = longest("activations"), medians("activations")
    short, paper = {name: cell(TRAINED["activations"], name, "median") for name in ends}, MNIST["activations"]
    rows = [(name, f"{paper[name][0]:.3f}", f"{short[name]:.3f}", f"{ends[name]:.3f}") for name in ends]
    learned = [ends[name] for name in LEARNED]
    last = curve[-1]["iteration"]
    yield from ("## tanh or ReLU for each unit: in the long run ReLU is as good", "")
    yield "The paper's networks that choose the activation of each of 3,072 units end 0.16 to 0.24 points of test error below a"
    yield "network of ReLUs. After 81,000 of our iterations PBIL is ahead of ReLU by less than half of that, and cGA behind it."
    yield "After a million the advantage is gone: the three that learn their structure err on"
    yield f"{min(learned):.2f} to {max(learned):.2f} % of the test images, ReLU on {ends['ReLU']:.2f} %, at most two of 10,000"
    yield f"apart. tanh is behind with {ends['tanh']:.2f} %; in the paper it is ahead of ReLU. Learning the"
    yield "activations spared the choice between the two here, and gained nothing over the better one. This is one run with"
    yield f"{counted(seeds)}: a difference of a hundredth, and the order of the first four, say nothing."
    yield from ("", f"![Test errors over iterations]({ASSETS}/{UNITS})", "")
    heads = [
        "test error in %",
        "the paper, 30 seeds",
        "81,000 iterations, 5 seeds",
        f"{last:,} iterations, {counted(seeds)}",
    ]
    yield from (*table(heads, rows), "")
    if CHANNELS.found:
        yield from (*channels(), "")
    for source in (LONG["activations"], TRAINED["activations"], CHANNELS):
        if source.found:
            yield from (f"`{source.command}`: {source.about()}", "")


def channels() -> Iterator[str]:
    """The same choice for the channels of a CNN."""
    tests = {
        method: statistics.mean(record.found["test"] for record in CHANNELS.results.of(method=method))
        for method in CHANNELS.results.methods
    }
    learned = [record for record in CHANNELS.found if record.task.method in LEARNED]
    decided = [record.found["decided"] for record in learned]
    bits, epochs = learned[0].found["bits"], learned[0].task["epochs"]
    shown = ", ".join(f"{method} {tests[method]:.3f}" for method in sorted(tests, key=lambda method: tests[method]))
    seeds = counted(len({record.task.seed for record in CHANNELS.found}))
    yield f"On CIFAR-10, with {bits} channels of a CNN and {epochs} epochs, ReLU alone is far ahead; mean test errors with"
    yield f"{seeds}: {shown}. The structures are hardly decided by then (the mean of max(θ, 1 − θ), from ½ to 1,"
    yield f"is {min(decided):.2f} to {max(decided):.2f}): the weights were trained for networks other than the final one."


SECTIONS = (kernels, carries, naval, intervals, electricity, stopping, units)
HEAD = """# Findings

Where the evidence differs from the four papers behind xstar: what a paper says, what was measured here, and how to measure it
again. Like [Results](results.md), which has all of the papers' tables and figures, this page is made from the records by
`python -m benchmarks.papers --write`.
"""


def lines() -> Iterator[str]:
    yield from HEAD.splitlines()
    for section in SECTIONS:
        yield ""
        yield from section()


def titles() -> Iterator[str]:
    """What is found, a heading each."""
    for section in SECTIONS:
        yield next(iter(section())).removeprefix("## ")


def text() -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines())).rstrip() + "\n"
