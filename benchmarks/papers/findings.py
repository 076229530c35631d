"""Where what was measured contradicts a paper: the text of docs/findings.md, and the numbers of its pictures."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator

from benchmarks.cotrain import PAPER as MNIST
from benchmarks.cotrain import counted
from benchmarks.harness.records import FOLDER
from benchmarks.harness.report import table
from benchmarks.mobster import DUELS
from benchmarks.papers.dngo import CALIBRATION
from benchmarks.papers.entry import folded
from benchmarks.papers.igo import CHANNELS, LONG, TRAINED, longest, medians
from benchmarks.papers.mobster import (
    BASELINES_LONGER,
    BASELINES_MLP,
    FIGURE5_MLP,
    HALVING,
    HALVING_CELLS,
    HALVING_MLP,
    MLP,
    SCHEDULERS,
    at,
)
from benchmarks.papers.nasbot import CARRIES, KERNELS, NAMES, UCI, UCI_PAPER
from benchmarks.papers.sources import OnRecord, cell
from benchmarks.workloads.kept_search import reported
from benchmarks.workloads.mobster_reports import duel

SPECTRA = OnRecord("nasbot", "spectra", (), lambda task: task.method == "spectra")
MODELS = {"tanh, one network": "one network", "tanh, ten networks": "ten networks", "GP": "GP"}
SHARES = ("1/8 of the time", "1/4 of the time", "1/2 of the time", "all of the time")
SIGNS = (
    "indefinite-kernels.svg",
    "one-network.svg",
    "stopping-and-promotion.svg",
    "activations-in-the-long-run.svg",
    "what-carries-nasbot.svg",
    "naval.svg",
    "protein.svg",
)


CURVES = {
    "evolution": "evolution",
    "OTMANN, p̄ = 2, sampled": "the paper's kernel",
    "OTMANN alone": "OTMANN, p̄ = 1",
    "describing term alone": "features",
    "both": "both",
}
"""Searches of the picture → their names there."""
INITIAL = 10
"""Networks of the initial pool of MLPs."""
LEARNED = ("cGA", "PBIL-λ", "PBIL-ε")


def lowest(domain: str, power: float) -> float:
    """The lowest eigenvalue over all scales, averaged over the draws."""
    found = [min(record.found["lowest"][f"{power:g}"]) for record in SPECTRA.results.of(domain)]
    return statistics.mean(found)


def covered(problem: str, n: int, model: str) -> float:
    """How often its 95 % intervals hold the truth."""
    return statistics.mean(record.found[model]["95%"] for record in CALIBRATION.results.of(problem, n=n))


def sizes(problem: str) -> list[int]:
    return sorted({record.task["n"] for record in CALIBRATION.results.of(problem)})


def kernels() -> Iterator[str]:
    worst = {domain: (lowest(domain, 2.0), lowest(domain, 1.0)) for domain in SPECTRA.results.problems}
    shares = ", ".join(f"{two:.0%} for {domain} (p̄ = 1: {one:+.1%})" for domain, (two, one) in worst.items())
    errors = [record.found["errors"] for record in KERNELS.found]
    high, plain, mended = (
        max(each[name] for each in errors) for name in ("the same with p̄ = 2", "d and d̄, p = p̄ = 1", "p̄ = 2, projected")
    )
    yield from ("## NASBOT's kernel with p̄ = 2 is not a covariance", "")
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
    yield from ("## One network's intervals do not hold the truth", "")
    yield "DNGO integrates over the last layer of *one* network. Its basis was fitted to the data, so the regression on it,"
    yield f"fitted to the same data, is far too sure: after {worst} observations of Hartmann's function its 95 % intervals hold"
    yield f"the truth in {found['one network']:.0%} of the cases ({others}). The search still works: it needs the order of"
    yield "points more than their variances. `DNGO()` averages over ten networks instead."
    yield from ("", f"![How often 95 % intervals hold the truth, over the number of observations]({place(1)})", "")
    yield from (f"`{CALIBRATION.command}`: {CALIBRATION.about()}", "")


def stopping() -> Iterator[str]:
    yield from ("## Promotion or stopping: neither is ahead everywhere", "")
    yield "MOBSTER's authors find stopping ahead early and promotion ahead in the end. Whether it is depends on the"
    yield "problems and on how long one searches."
    for source in (HALVING, HALVING_MLP, HALVING_CELLS):
        if source.found:
            yield from pairs_of(source)
    ends = []
    for share in SHARES:
        promotion, stop = (cell(SCHEDULERS, name, share) for name in ("asha", "asha-stop"))
        ends.append(f"at {share.removesuffix(' of the time')} {promotion:g} and {stop:g}")
    yield "In long ones with random configurations, twenty trainings per worker on seven problems, the mean ranks of promotion"
    yield f"and stopping among six schedulers are, by the share of the time: {'; '.join(ends)}."
    yield from ("", f"![Mean rank of six schedulers over time]({place(2)})", "")
    for source in (HALVING, HALVING_MLP, HALVING_CELLS, SCHEDULERS):
        if source.found:
            yield from (f"`{source.command}`: {source.about()}", "")


def pairs_of(source: OnRecord) -> Iterator[str]:
    """How often promotion ends with the lower regret, and how often stopping."""
    seeds, task = len({record.task.seed for record in source.found}), source.found[0].task
    problems = ", ".join(source.results.problems)
    told = []
    for one, other in DUELS["promotion against stopping"]:
        _, lower, higher = duel(source.results, one, other)
        told.append(f"{one} {lower} to {higher}")
    yield f"Of pairs of searches on {problems} ({task['workers']} workers, {task['trainings']:g} trainings per worker, up to"
    yield f"{seeds} seeds) that differ in nothing else, promotion ends with the lower regret, and with the higher:"
    yield f"{', '.join(told)}."


def electricity() -> Iterator[str]:
    """MOBSTER where its paper has it first."""
    yield from ("## MOBSTER on the electricity MLP: not ahead", "")
    yield "The paper has both variants of MOBSTER ahead of all baselines on this MLP. In our table of 2,048 trained networks,"
    yield "where a configuration has the curve of the nearest, neither is:"
    yield ""
    for source in (BASELINES_MLP, BASELINES_LONGER):
        if source.found:
            seeds, trainings = len({record.task.seed for record in source.found}), source.found[0].task["trainings"]
            ends = {name: at(source, MLP, name, 1.0) for name in source.results.methods}
            _, lower, higher = duel(source.results, "mobster", "asha")
            count = {
                name: statistics.mean(record.found["trials"] for record in source.results.of(MLP, name))
                for name in ("mobster", "asha")
            }
            shown = ", ".join(f"{name} {ends[name]:.4f}" for name in sorted(ends, key=lambda name: ends[name]))
            yield f"* {trainings:g} trainings per worker, {seeds} seeds, mean errors at the end: {shown}. `mobster` ends lower"
            yield f"  than `asha` on {lower} seeds and higher on {higher}, with {count['mobster']:.0f} trials in the mean, ASHA"
            yield f"  with {count['asha']:.0f}."
    yield ""
    yield "Neither count is more than chance, and more time did not help. One reason is known: its suggestions crowd"
    yield "around what was good, where the table has few curves ([MOBSTER](mobster.md#what-it-is-compared-with)). In"
    yield '`simulate(problems.get("electricity"), "mobster", workers=4, seconds=1608, seed=3)` 1,443 trials have the'
    yield "curves of 59 rows, one of them 377 times; ASHA's 712 have those of 595. Copies of a good curve fill the places"
    yield "at a rung from which a third goes on, and only one of them does, so that hardly any other trial is promoted:"
    yield "five are complete. So this says as much of the table, and of the rule for copies, as of the method. On"
    yield "NAS-Bench-201, where every cell was trained, both variants are first, as in the paper"
    yield "([Results](results.md#figures-3-5-and-10-on-nas-bench-201))."
    yield from ("", f"![The mean regret of all baselines over time](assets/results/{FIGURE5_MLP})", "")
    for source in (BASELINES_MLP, BASELINES_LONGER):
        if source.found:
            yield from (f"`{source.command}`: {source.about()}", "")


def counts(problem: str, method: str) -> dict[int, int]:
    """Seed → evaluations until one of the six best cells; the limit where it was not found."""
    runs = CARRIES.results.of(problem, method)
    return {r.task.seed: r.found["count"] if r.found["arrived"] else r.task["evaluations"] for r in runs}


def arrived(method: str, most: int) -> list[float]:
    """After 0, 1, … evaluations, the share of its searches that have found one of the six best cells; mean of the data sets."""
    shares = []
    for problem in CARRIES.results.problems:
        runs = CARRIES.results.of(problem, method)
        hits = [record.found["count"] for record in runs if record.found["arrived"]]
        shares.append([sum(hit <= count for hit in hits) / len(runs) for count in range(most + 1)])
    return [statistics.mean(column) for column in zip(*shares, strict=True)]


def against(method: str, other: str) -> tuple[int, int]:
    """On how many pairs of searches with the same cells and seed the one arrives sooner, and on how many later."""
    sooner = later = 0
    for problem in CARRIES.results.problems:
        ours, theirs = counts(problem, method), counts(problem, other)
        for seed in ours.keys() & theirs.keys():
            sooner += ours[seed] < theirs[seed]
            later += ours[seed] > theirs[seed]
    return sooner, later


def carries() -> Iterator[str]:
    yield from ("## NASBOT: the model carries it, the distance is not needed", "")
    limit = CARRIES.found[0].task["evaluations"]
    rows, means = [], {}
    for method in CARRIES.results.methods:
        cells = []
        for problem in CARRIES.results.problems:
            of = list(counts(problem, method).values())
            missed = sum(not r.found["arrived"] for r in CARRIES.results.of(problem, method))
            shown = f"{statistics.mean(of):.0f} ± {statistics.stdev(of) / len(of) ** 0.5:.0f}" if len(of) > 1 else "–"
            cells.append(f"{shown}, {missed} of {len(of)} not" if of else "–")
        means[method] = statistics.mean(
            statistics.mean(of.values()) for p in CARRIES.results.problems if (of := counts(p, method))
        )
        pair = "–" if method == "both" else "{} – {}".format(*against(method, "both"))
        rows.append((means[method], (method, *cells, pair)))
    told = {name: f"{means[name]:.0f}" for name in means}
    yield f"Evaluations until one of the six best of 15,625 trained cells (at most {limit}), the mean over data sets: evolution"
    yield f"{told['evolution']}; NASBOT with the paper's kernel, its power and sampled hyperparameters"
    yield f"{told['OTMANN, p̄ = 2, sampled']}; with the paper's distance, p̄ = 1 and the MAP estimate {told['OTMANN alone']};"
    yield f"with descriptive features instead of a distance {told['describing term alone']}; with both, the default,"
    yield f"{told['both']}. A Gaussian process is far ahead of evolution with any of these kernels. Among the kernels the"
    yield "differences are as large as the standard errors: an optimal-transport distance gives the model no more than a list"
    yield "of the cell's operations does. *Sooner – later*: searches of the same cells and seed that arrived sooner and later"
    yield "than those of the default."
    yield from ("", f"![Share of searches that have found one of the six best cells]({place(4)})")
    heads = ["", *CARRIES.results.problems, "sooner – later"]
    yield from ("", *table(heads, [row for _, row in sorted(rows)]), "")
    yield from (f"`{CARRIES.command}`: {CARRIES.about()}", "")


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
    yield from ("", f"![Test errors over iterations]({place(3)})", "")
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


def trained_errors(problem: str) -> dict[str, list[float]]:
    """Method → validation errors of its networks, seed 0, in the order in which they were trained."""
    files = {method: FOLDER / "nasbot_uci" / f"{problem}-{method}-0.jsonl" for method in (*NAMES, "nasbot-otmann")}
    return {method: [each["mse"] for each in reported(file)] for method, file in files.items() if file.exists()}


def so_far(problem: str) -> Iterator[str]:
    """A table of the searches of seed 0."""
    paper = UCI_PAPER[problem]
    rows = [
        (
            method,
            str(len(errors)),
            f"{min(errors[:INITIAL]):.3g}",
            f"{min(errors):.3g}",
            f"{paper[method]:g}" if method in paper else "–",
        )
        for method, errors in sorted(trained_errors(problem).items(), key=lambda pair: min(pair[1]))
    ]
    yield from table(["", "networks", f"best of the first {INITIAL}", "best", "the paper, test error"], rows)


def naval() -> Iterator[str]:
    first, paper = trained_errors("naval")["nasbot"][:INITIAL], UCI_PAPER["naval"]
    below = sum(error < min(paper.values()) for error in first)
    yield from ("## Naval propulsion: the training decides, not the architecture", "")
    yield "Table 3 of the NASBOT paper has test errors of 0.0075 (NASBOT) to 0.0103 (RAND) for MLPs on naval propulsion, each"
    yield "network trained for 20,000 iterations with a fixed step size of 1e-5. With the same rows, iterations and limits of"
    yield f"networks, but Adam, {below} of the {INITIAL} networks that every search starts with are below all of these before"
    yield "anything has been searched, by a factor of forty or more. Between the paper's methods lies a third. The searches"
    yield "go on from there in the paper's order, and what they gain is again a factor of two; they have one seed and half of"
    yield "their evaluations so far."
    yield from ("", f"![The lowest validation error over the number of trained networks]({place(5)})", "")
    yield from (*so_far("naval"), "", "Validation errors of normalised outputs; ours, and the paper's test errors.", "")
    if trained_errors("protein"):
        yield from (*protein(), "")
    yield from (
        f"`{UCI.command}`: {UCI.about() if UCI.found else 'under way, at commits 5b156a1 and 6c21788, on an H200.'}",
        "",
    )


def protein() -> Iterator[str]:
    """The same training on the other data set, where the search does matter."""
    found, paper = trained_errors("protein"), UCI_PAPER["protein"]
    first = sorted(min(errors[:INITIAL]) for errors in found.values())
    ends = sorted((min(errors), method) for method, errors in found.items())
    shown = ", ".join(f"{method} {error:.3f}" for error, method in ends)
    yield f"On protein structure, too, the training takes errors far below the paper's: its Table 3 has {paper['nasbot']:g}"
    yield f"(NASBOT) to {paper['evolution']:g} (EA), where predicting the mean errs by 1; the best of the first {INITIAL}"
    yield f"networks is at {first[0]:.3f} to {first[-1]:.3f} here. But there the search goes on to matter. Lowest validation"
    yield f"errors, one seed: {shown}."
    yield from ("", f"![The lowest validation error on protein structure]({place(6)})", "", *so_far("protein"))


def place(number: int) -> str:
    return f"assets/results/{SIGNS[number]}"


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
