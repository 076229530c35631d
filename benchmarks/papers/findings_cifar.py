"""What NASBOT's searches on CIFAR-10 say of its kernel, and of what its networks cost."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from benchmarks.cotrain import counted
from benchmarks.harness.records import FOLDER, Record
from benchmarks.harness.report import table
from benchmarks.papers.nasbot_records import SEARCH
from benchmarks.papers.sources import ASSETS
from benchmarks.workloads.kept_search import trained
from benchmarks.workloads.network_costs import multiplications

METHODS = {
    "nasbot": "NASBOT, the distance and features (the default)",
    "nasbot-otmann": "NASBOT, the distance alone (the paper's kernel)",
    "evolution": "evolution",
    "nasbot-random": "random networks",
}
COSTS = "nasbot-by-cost.svg"
"""A picture."""


def seeds() -> list[int]:
    """Those of which all methods have complete searches."""
    of = [{record.task.seed for record in SEARCH.results.of(method=method)} for method in METHODS]
    return sorted(set.intersection(*of))


def runs(method: str) -> list[Record]:
    return [record for record in SEARCH.results.of(method=method) if record.task.seed in seeds()]


def spent(method: str, seed: int) -> list[tuple[float, float]]:
    """After each network of a search: thousand millions of multiplications for one image so far, and the lowest error."""
    done = trained(FOLDER / "nasbot_cifar" / f"{method}-{seed}.jsonl")
    total, lowest, points = 0.0, 1.0, []
    for config, metrics in done:
        total += multiplications(config["net"]) / 1e9
        lowest = min(lowest, metrics["error"])
        points.append((total, lowest))
    return points


def lowest_within(points: Sequence[tuple[float, float]], cost: float) -> float:
    return min((error for total, error in points if total <= cost), default=1.0)


def equal_costs() -> dict[str, list[float]]:
    """Method → the lowest errors, by seed, after as many multiplications as the cheapest search of the seed took."""
    costs = [min(spent(method, seed)[-1][0] for method in METHODS) for seed in seeds()]
    return {
        method: [lowest_within(spent(method, seed), cost) for seed, cost in zip(seeds(), costs, strict=True)]
        for method in METHODS
    }


def shown(values: Sequence[float]) -> str:
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.4f} ± {error:.4f}"


def ahead(one: Sequence[float], other: Sequence[float]) -> str:
    """On how many seeds the one is lower."""
    return f"{sum(a < b for a, b in zip(one, other, strict=True))} of {len(one)}"


def networks() -> Iterator[str]:
    """Wins, losses and costs."""
    ends = {method: [record.found["best"][-1][1] for record in runs(method)] for method in METHODS}
    tests = {method: [record.found["test"] for record in runs(method)] for method in METHODS}
    equal = equal_costs()
    means = {
        method: statistics.mean(spent(method, seed)[-1][0] / len(spent(method, seed)) for seed in seeds())
        for method in METHODS
    }
    yield from ("## NASBOT on CIFAR-10: better networks, and more expensive ones", "")
    yield f"Four searches with {counted(len(seeds()))} each, {SEARCH.found[0].task['evaluations']} trained networks a search."
    yield "After as many *networks*, NASBOT with the paper's kernel alone is ahead of evolution on"
    yield f"{ahead(ends['nasbot-otmann'], ends['evolution'])} seeds, by the validation error; with features beside the"
    yield f"distance it is ahead of evolution on {ahead(ends['nasbot'], ends['evolution'])} and of the distance alone on"
    yield f"{ahead(ends['nasbot'], ends['nasbot-otmann'])}. But it gets there by larger networks: one of its networks takes"
    yield f"{means['nasbot'] / means['evolution']:.1f} times the multiplications of one of evolution's"
    yield f"({means['nasbot-otmann'] / means['evolution']:.1f} times with the distance alone), so a fair question is what the"
    yield "searches have reached after as many *multiplications*. The last column answers it, at what the cheapest of the four"
    yield f"searches of a seed took in all: NASBOT is ahead of evolution on {ahead(equal['nasbot'], equal['evolution'])} seeds,"
    yield f"with the distance alone on {ahead(equal['nasbot-otmann'], equal['evolution'])}."
    rows = [
        (name, shown(ends[method]), shown(tests[method]), f"{means[method]:.2f}", shown(equal[method]))
        for method, name in METHODS.items()
    ]
    heads = ["", "validation error", "test error", "10⁹ multiplications a network", "validation error at equal cost"]
    yield from ("", f"![The lowest validation error over what was spent]({ASSETS}/{COSTS})")
    yield from ("", *table(heads, rows), "")
    yield "Multiplications of one image forwards; means ± standard errors over seeds."
    yield from ("", f"`{SEARCH.command}`: {SEARCH.about()}", "")
