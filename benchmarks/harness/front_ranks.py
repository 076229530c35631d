"""The tables of ``objectives.py``: mean ranks over problems and in each class of them, and who is significantly ahead of us."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.stats import wilcoxon

from benchmarks.harness.report import Results, cell, ranks, table

OURS = "xstar-gp"
LEVEL = 0.05

Pairs = Mapping[tuple[str, int], Mapping[str, Sequence[float]]]
"""Problem and seed → of each method, what it left uncovered after each count."""


def pairs_of(results: Results) -> dict[tuple[str, int], dict[str, Sequence[float]]]:
    pairs: dict[tuple[str, int], dict[str, Sequence[float]]] = {}
    for record in results.of():
        pairs.setdefault((record.task.problem, record.task.seed), {})[record.task.method] = record.found["regrets"]
    return pairs


def mean_ranks(pairs: Pairs, methods: Sequence[str], place: int) -> list[float]:
    rows = [ranks([found[method][place] for method in methods]) for found in pairs.values()]
    return [statistics.mean(column) for column in zip(*rows, strict=True)]


def ahead(pairs: Pairs, ours: str, other: str, place: int) -> float:
    """The probability that ``other`` covers so much more than ``ours`` by chance alone (Wilcoxon's signed ranks)."""
    differences = [found[ours][place] - found[other][place] for found in pairs.values() if {ours, other} <= set(found)]
    if not np.any(differences):
        return 1.0
    return float(wilcoxon(differences, alternative="greater").pvalue)


def holm(chances: Mapping[tuple[str, ...], float], level: float = LEVEL) -> list[tuple[str, ...]]:
    """Which of several comparisons hold, together, at a level (Holm 1979).

    >>> holm({("a",): 0.01, ("b",): 0.03, ("c",): 0.04})
    [('a',)]
    """
    held: list[tuple[str, ...]] = []
    for number, (name, chance) in enumerate(sorted(chances.items(), key=lambda item: item[1])):
        if chance > level / (len(chances) - number):
            break
        held.append(name)
    return held


def full_report(results: Results, kinds: Mapping[str, str], counts: Sequence[int]) -> Iterator[str]:
    methods, every = results.methods, pairs_of(results)
    pairs = {pair: found for pair, found in every.items() if set(found) == set(methods)}
    if pairs:
        yield f"Mean rank over {len(pairs)} pairs of problem and seed, and milliseconds of the processor for a decision:"
        means = [mean_ranks(pairs, methods, place) for place in range(len(counts))]
        spent = [statistics.mean(r.found["processor"] for r in results.of(method=method)) for method in methods]
        rows = [(m, *(f"{mean[i]:.2f}" for mean in means), f"{spent[i]:.3g}") for i, m in enumerate(methods)]
        yield from ("", *table(["method", *(f"after {count}" for count in counts), "ms"], rows), "")
        yield from classes(pairs, every, kinds, methods, counts)
    last = counts[-2]
    yield f"Share of the hypervolume that is missing after {last} evaluations, mean ± standard error:"
    rows = []
    for problem in results.problems:
        own = [[r.found["regrets"][-2] for r in results.of(problem, method)] for method in methods]
        rows.append((problem, *(cell(values, "{:.3g} ± {:.1g}") for values in own)))
    yield from ("", *table(["problem", *methods], rows))


def classes(
    pairs: Pairs, every: Pairs, kinds: Mapping[str, str], methods: Sequence[str], counts: Sequence[int]
) -> Iterator[str]:
    others = [method for method in methods if not method.startswith("xstar-")]
    known = list(dict.fromkeys(kinds[problem] for problem, _ in pairs))

    def of(kind: str, given: Pairs) -> Pairs:
        return {pair: found for pair, found in given.items() if kinds[pair[0]] == kind}

    chances = {
        (kind, other, str(count)): ahead(of(kind, every), OURS, other, place)
        for kind in known
        for other in others
        for place, count in enumerate(counts)
        if OURS in methods
    }
    held = holm(chances)
    yield f"Mean rank in each class after {counts[-2]} evaluations, and who is ahead of {OURS} after how many evaluations"
    yield f"(signed ranks, {LEVEL:.0%} for all {len(chances)} comparisons together):"
    rows = []
    for kind in known:
        own = of(kind, pairs)
        told = ", ".join(f"{other} ({count})" for name, other, count in held if name == kind)
        shown = [f"{mean:.2f}" for mean in mean_ranks(own, methods, len(counts) - 2)]
        rows.append((f"{kind} ({len({problem for problem, _ in own})})", *shown, told or "nobody"))
    yield from ("", *table(["class (problems)", *methods, "ahead"], rows), "")
