"""What each term of NASBOT's kernel gives, search by search, wherever networks were searched."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from benchmarks.harness.records import FOLDER, best_after
from benchmarks.harness.report import table
from benchmarks.papers.findings_nasbot import counts
from benchmarks.papers.nasbot_records import CARRIES, MLPS, PARTS, SEARCH, SEARCHED
from benchmarks.papers.sources import OnRecord
from benchmarks.workloads.kept_search import reported

BOTH, DISTANCES, FEATURES, EVOLUTION = "both", "distances", "features", "evolution"
PAIRS = ((BOTH, DISTANCES), (BOTH, FEATURES), (FEATURES, DISTANCES), (DISTANCES, EVOLUTION), (FEATURES, EVOLUTION))
MOST = 60
"""Networks of a search on CIFAR-10 that are compared."""
Search = tuple[str, int]
"""A problem and a seed."""
Values = dict[Search, list[float]]
"""What a search has reached after 1, 2, … networks, or in the end only; lower is better."""


def ends(source: OnRecord, method: str) -> Values:
    runs = source.results.of(method=method)
    return {(r.task.problem, r.task.seed): [best_after(r.found["best"], r.task["evaluations"])] for r in runs}


def functions(kind: str) -> Values:
    names = {BOTH: "nasbot", DISTANCES: "paper's kernel", FEATURES: "only described", EVOLUTION: "evolution"}
    return ends(SEARCHED, names[kind]) or ends(PARTS, names[kind])


def perceptrons(kind: str) -> Values:
    names = {BOTH: "nasbot", DISTANCES: "nasbot-otmann", FEATURES: "nasbot-described", EVOLUTION: "evolution"}
    return ends(MLPS, names[kind])


def cells(kind: str) -> Values:
    names = {BOTH: "both", DISTANCES: "OTMANN alone", FEATURES: "describing term alone", EVOLUTION: "evolution"}
    found = {problem: counts(problem, names[kind]) for problem in CARRIES.results.problems}
    return {(problem, seed): [float(count)] for problem, of in found.items() for seed, count in of.items()}


def images(kind: str) -> Values:
    """The errors of all networks, whether the search is complete or not."""
    names = {BOTH: "nasbot", DISTANCES: "nasbot-otmann", FEATURES: "nasbot-described", EVOLUTION: "evolution"}
    files = {seed: FOLDER / "nasbot_cifar" / f"{names[kind]}-{seed}.jsonl" for seed in range(10)}
    return {
        ("cifar10", seed): [float(metrics["error"]) for metrics in reported(file)][:MOST]
        for seed, file in files.items()
        if file.exists()
    }


WHERE: dict[str, Callable[[str], Values]] = {
    "f1 to f3: functions of masses, layers and degrees": functions,
    "MLPs on naval propulsion and protein structure": perceptrons,
    "cells of NAS-Bench-201, three data sets": cells,
    "CNNs on CIFAR-10": images,
}


def pairs(of: Callable[[str], Values], one: str, other: str) -> tuple[int, int]:
    """On how many searches the one ends lower, and higher, after as many networks as both have."""
    ours, theirs = of(one), of(other)
    lower = higher = 0
    for search in ours.keys() & theirs.keys():
        count = min(len(ours[search]), len(theirs[search]))
        best, peer = min(ours[search][:count]), min(theirs[search][:count])
        lower += best < peer
        higher += best > peer
    return lower, higher


def together(one: str, other: str) -> tuple[int, int]:
    found = [pairs(of, one, other) for of in WHERE.values()]
    return sum(lower for lower, _ in found), sum(higher for _, higher in found)


def by_chance(lower: int, higher: int) -> float:
    """Of a sign test: how probable counts at least as far apart are where neither is better."""
    count, least = lower + higher, min(lower, higher)
    return min(1.0, 2.0 * sum(math.comb(count, one) for one in range(least + 1)) / 2.0**count)


def terms() -> Iterator[str]:
    yield from ("## NASBOT: what its distances give, and what they do not", "")
    rows = [(where, *("{}–{}".format(*pairs(of, *pair)) for pair in PAIRS)) for where, of in WHERE.items()]
    rows.append(("all", *("{}–{}".format(*together(*pair)) for pair in PAIRS)))
    shown = {pair: "{} to {}".format(*together(*pair)) for pair in PAIRS}
    yield "The paper's kernel has distances by optimal transport and nothing else; ours adds a term over descriptive features"
    yield "of a network (its layers, units, edges, hops, mass and the shares of its layer types). Searches of the same problem"
    yield "and seed that end lower – higher with the one than with the other:"
    heads = ["", *(f"{named(one)} – {named(other)}" for one, other in PAIRS)]
    yield from ("", *table(heads, rows), "")
    chance = by_chance(*together(BOTH, FEATURES))
    yield "*What the distances give.* A model that needs no idea of what matters in a network: with them alone, NASBOT is"
    yield f"ahead of evolution, {shown[DISTANCES, EVOLUTION]}, as in the paper; on CIFAR-10 on every seed. *What they do not.*"
    yield f"Features alone are ahead of distances alone, {shown[FEATURES, DISTANCES]}, and where the features are in the kernel"
    yield f"the distances add nothing that these searches show: {shown[BOTH, FEATURES]}. Counts as far apart have a probability"
    yield f'of {chance:.2g} where neither is better, so both stay the default. `NASBOT(distances="none")` has the features'
    yield "alone, and takes a fifth of the time of a decision."
    for source in (PARTS, MLPS, CARRIES, SEARCH):
        yield from ("", f"`{source.command}`: {source.about()}")


def named(kind: str) -> str:
    return f"{kind} alone" if kind in (DISTANCES, FEATURES) else kind
