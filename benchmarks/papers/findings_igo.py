"""Where what was measured contradicts the paper on parameterless IGO."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted
from benchmarks.harness.report import table
from benchmarks.papers.igo import CHANNELS, LONG, SHORTER, longest, medians
from benchmarks.papers.sources import ASSETS, cell

UNITS = "activations-in-the-long-run.svg"
"""A picture."""
LEARNED = ("cGA", "PBIL-λ", "PBIL-ε")


def units() -> Iterator[str]:
    (curve, seeds), (ends, _) = longest("activations"), medians("activations")
    short, paper = {name: cell(SHORTER, name, "median") for name in ends}, MNIST["activations"]
    last = curve[-1]["iteration"]
    each = {name: curve[-1][name]["error"] for name in ends}
    rows = [(name, f"{paper[name][0]:.3f}", f"{short[name]:.3f}", told(each[name])) for name in ends]
    learned = [ends[name] for name in LEARNED]
    apart = max(abs(end - ends["ReLU"]) for end in learned)
    yield from ("## tanh or ReLU for each unit: in the long run ReLU is as good", "")
    yield "The paper's networks that choose the activation of each of 3,072 units end 0.16 to 0.24 points of test error below a"
    beside = ", ".join(f"{name} {short[name] - short['ReLU']:+.2f}" for name in LEARNED)
    yield f"network of ReLUs. After 81,000 of our iterations they are apart from it by {beside} points."
    yield "After a million there is no advantage either: the three that learn their structure err on"
    yield f"{min(learned):.2f} to {max(learned):.2f} % of the test images, ReLU on {ends['ReLU']:.2f} %: they differ by at most"
    yield f"{apart:.2f} points. tanh is behind with {ends['tanh']:.2f} %; in the paper it is ahead of ReLU. Learning the"
    yield "activations spared the choice between the two here, and gained nothing over the better one. This is with"
    yield f"{counted(seeds)}: differences of a few hundredths, and the order of the first four, say nothing."
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
    for source in (LONG["activations"], SHORTER, CHANNELS):
        if source.found:
            yield from (f"`{source.command}`: {source.about()}", "")


def told(errors: list[float]) -> str:
    """The median, and each of a few seeds."""
    seeds = f" ({', '.join(f'{error:.2f}' for error in errors)})" if len(errors) > 1 else ""
    return f"{statistics.median(errors):.3f}{seeds}"


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
