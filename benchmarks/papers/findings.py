"""Where what was measured contradicts a paper: the section of the results page, and the numbers of its pictures."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.papers.dngo import CALIBRATION
from benchmarks.papers.entry import folded
from benchmarks.papers.mobster import SCHEDULERS
from benchmarks.papers.nasbot import KERNELS
from benchmarks.papers.sources import OnRecord, cell

SPECTRA = OnRecord("nasbot", "spectra", (), lambda task: task.method == "spectra")
MODELS = {"tanh, one network": "one network", "tanh, ten networks": "ten networks", "GP": "GP"}
SHARES = ("1/8 of the time", "1/4 of the time", "1/2 of the time", "all of the time")
SIGNS = ("indefinite-kernels.svg", "one-network.svg", "stopping-and-promotion.svg")


def lowest(domain: str, power: float) -> float:
    """The lowest eigenvalue over all scales, averaged over the draws."""
    found = [min(record.found["lowest"][f"{power:g}"]) for record in SPECTRA.results.of(domain)]
    return statistics.mean(found)


def covered(problem: str, n: int, model: str, share: str = "95%") -> float:
    return statistics.mean(record.found[model][share] for record in CALIBRATION.results.of(problem, n=n))


def sizes(problem: str) -> list[int]:
    return sorted({record.task["n"] for record in CALIBRATION.results.of(problem)})


def kernels() -> Iterator[str]:
    worst = {domain: (lowest(domain, 2.0), lowest(domain, 1.0)) for domain in SPECTRA.results.problems}
    shares = ", ".join(f"{two:.0%} for {domain} (p̄ = 1: {one:+.1%})" for domain, (two, one) in worst.items())
    errors = [record.found["errors"] for record in KERNELS.found]
    high, plain, mended = (
        max(each[name] for each in errors) for name in ("the same with p̄ = 2", "d and d̄, p = p̄ = 1", "p̄ = 2, projected")
    )
    yield from ("### NASBOT's kernel with p̄ = 2 is not a covariance", "")
    yield "The paper takes exp(-Σ β d̄²) for a kernel. A covariance matrix has no negative eigenvalue. Over 120 random networks"
    yield f"this one has, down to these shares of its diagonal: {shares}."
    yield "It matters: a GP with this kernel, fitted to 60 networks by its most probable hyperparameters, predicts the next 40"
    yield f"with errors of up to {high:.3g} standard deviations; with p̄ = 1 of at most {plain:.2g}, with p̄ = 2 and its"
    yield f"matrix projected {mended:.2g}. Sampling the hyperparameters, as the paper does, hides most of it. The default here"
    yield "is p̄ = 1."
    yield from ("", f"![The lowest eigenvalue over the scale β]({place(0)})", "")
    yield from (f"`{SPECTRA.command}`: {SPECTRA.about()}", "", *folded(SPECTRA.lines()), "")


def intervals() -> Iterator[str]:
    problem = "hartmann6"
    worst = min(sizes(problem), key=lambda n: covered(problem, n, "tanh, one network"))
    found = {name: covered(problem, worst, model) for model, name in MODELS.items()}
    others = ", ".join(f"{name} {share:.0%}" for name, share in found.items() if name != "one network")
    yield from ("### One network's intervals do not hold the truth", "")
    yield "DNGO integrates over the last layer of *one* network. Its basis was fitted to the data, so the regression on it,"
    yield f"fitted to the same data, is far too sure: after {worst} observations of Hartmann's function its 95 % intervals hold"
    yield f"the truth in {found['one network']:.0%} of the cases ({others}). The search still works: it needs the order of"
    yield "points more than their variances. `DNGO()` averages over ten networks instead."
    yield from ("", f"![How often 95 % intervals hold the truth, over the number of observations]({place(1)})", "")
    yield from (f"`{CALIBRATION.command}`: {CALIBRATION.about()}", "")


def stopping() -> Iterator[str]:
    ends = []
    for share in SHARES:
        promotion, stop = (cell(SCHEDULERS, name, share) for name in ("asha", "asha-stop"))
        ends.append(f"at {share.removesuffix(' of the time')} {promotion:g} and {stop:g}")
    seeds = len({record.task.seed for record in SCHEDULERS.found})
    yield from ("### Promotion is no better than stopping", "")
    yield "MOBSTER's authors find stopping ahead early and promotion ahead in the end. Over"
    yield f"{len(SCHEDULERS.results.problems)} problems and {seeds} seeds, the mean ranks of promotion and of stopping among"
    yield f"six schedulers are, by the share of the time: {'; '.join(ends)}."
    yield "What decides is whether the lowest rung says anything about the last, and there the two are alike."
    yield from ("", f"![Mean rank of six schedulers over time]({place(2)})", "")
    yield from (f"`{SCHEDULERS.command}`: {SCHEDULERS.about()}", "")


def place(number: int) -> str:
    return f"assets/results/{SIGNS[number]}"


def lines() -> Iterator[str]:
    yield from ("## Where the evidence differs from the papers", "")
    for source, section in ((SPECTRA, kernels), (CALIBRATION, intervals), (SCHEDULERS, stopping)):
        if source.found:
            yield from section()
        else:
            yield from (f"Not run yet: `{source.command}`.", "")
