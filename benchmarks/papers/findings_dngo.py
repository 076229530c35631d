"""Where what was measured contradicts DNGO's paper, or what one would expect of it."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from benchmarks.harness.records import FOLDER
from benchmarks.harness.report import table
from benchmarks.papers.dngo import CALIBRATION, FINAL, SEARCH
from benchmarks.papers.sources import ASSETS
from benchmarks.workloads.cifar_hyperparameters import OPTIMUM
from benchmarks.workloads.kept_search import trained

MODELS = {"tanh, one network": "one network", "tanh, ten networks": "ten networks", "GP": "GP"}
COVERAGE = "one-network.svg"
"""A picture."""
REGULARISERS = {
    "pixel_dropout": "dropped inputs",
    "scaling": "scaling of the images",
    "dropout_1": "first dropout",
    "dropout_2": "second dropout",
}
"""Hyperparameter of DNGO's CNN → what it is; all keep a network from learning its images by heart, 0 is none of it."""
BEST = 10
"""Networks of a search that are looked at."""


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


def ten_best(method: str) -> list[dict[str, float]]:
    """The configurations of the best networks of the search of seed 0."""
    epochs = SEARCH.found[0].task["epochs"]
    done = trained(FOLDER / "dngo_cifar" / f"{method}-{epochs}-0.jsonl")
    return [config for config, metrics in sorted(done, key=lambda pair: pair[1]["error"])[:BEST]]


def short_trainings() -> Iterator[str]:
    ends = {record.task.method: record.found["test"] for record in FINAL.found}
    searched = {method: SEARCH.results.of(method=method)[0] for method in SEARCH.results.methods}
    best = {method: record.found["best"][-1][1] for method, record in searched.items()}
    epochs, longer = searched["dngo"].task["epochs"], FINAL.found[0].task["epochs"]
    yield from (f"## DNGO on CIFAR-10: {epochs} epochs teach the search to regularise nothing", "")
    yield f"Of {searched['dngo'].task['evaluations']} networks of {epochs} epochs, DNGO's best errs on"
    yield f"{best['dngo']:.4f} of the validation images, that of random search on {best['random']:.4f}. Trained for {longer}"
    yield f"epochs, the first errs on {ends['dngo']:.4f} of the test images and the second on {ends['random']:.4f}: the better"
    yield f"search has the worse network. The studies suggest why. In {epochs} epochs a network does not learn its images by"
    yield "heart, so whatever hinders that costs more than it gives. DNGO finds this out and switches it off; random search"
    yield "cannot. Medians over the ten best networks of each search, what each search ended with, and the optimum of the"
    yield "paper, which was found with 200 epochs:"
    rows = []
    for name, what in REGULARISERS.items():
        medians = [statistics.median(config[name] for config in ten_best(method)) for method in ("dngo", "random")]
        picks = [searched[method].found["pick"][name] for method in ("dngo", "random")]
        rows.append((what, *(f"{value:.2f}" for value in (*medians, *picks, OPTIMUM[name]))))
    heads = ["", "DNGO, ten best", "random, ten best", "DNGO's network", "random's network", "the paper's optimum"]
    yield from ("", *table(heads, rows), "")
    yield "So the loss is probably one of the short trainings and not of the model: the search minimised what it was given."
    yield "It is one seed, and DNGO's network with more regularisation was not trained to see. Search with the number of epochs"
    yield "that you will train for, or with [budgets](dngo.md#budgets)."
    yield ""
    for source in (SEARCH, FINAL):
        yield from (f"`{source.command}`: {source.about()}", "")
