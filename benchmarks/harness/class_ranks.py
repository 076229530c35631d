"""The tables of ``generality.py``: mean ranks over problems and in each class of them, pairs, failures and times."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.harness.cases import true_after
from benchmarks.harness.methods import METHODS
from benchmarks.harness.records import Found
from benchmarks.harness.report import Results, mean_and_error, ranks, table
from benchmarks.harness.variants import plain

OURS = "xstar-gp"
WIDELY = 0.8
"""The share of the problems and seeds that a method has to be run on to be ranked; the others are compared in pairs."""
DIGITS = 6
"""Losses that differ by less than 10⁻⁶ of the difference between the best and the worst of all methods share a rank."""

Pairs = dict[tuple[str, int], dict[str, Found]]


def complete_pairs(results: Results, methods: Sequence[str]) -> Pairs:
    """Problem and seed → what each method found, where all of them were run."""
    pairs: Pairs = {}
    for record in results.of():
        pairs.setdefault((record.task.problem, record.task.seed), {})[record.task.method] = record.found
    return {pair: found for pair, found in pairs.items() if set(methods) <= set(found)}


def ranked(found: Mapping[str, Found], methods: Sequence[str], count: int) -> list[float]:
    """The rank of each method; those that found nothing are last."""
    losses = [true_after(found[method]["incumbents"], count) for method in methods]
    others = [true_after(each["incumbents"], count) for each in found.values()]
    finite = [loss for loss in others if math.isfinite(loss)]
    if not finite:
        return ranks([0.0] * len(losses))
    low, scale = min(finite), (max(finite) - min(finite)) or 1.0
    return ranks([round((loss - low) / scale, DIGITS) if math.isfinite(loss) else math.inf for loss in losses])


def by_problem(pairs: Pairs, methods: Sequence[str], count: int) -> dict[str, list[float]]:
    """The ranks of all methods, averaged over the seeds of a problem: seeds of one problem are not independent problems."""
    seeds: dict[str, list[list[float]]] = {}
    for (problem, _), found in pairs.items():
        seeds.setdefault(problem, []).append(ranked(found, methods, count))
    return {problem: [statistics.mean(column) for column in zip(*rows, strict=True)] for problem, rows in seeds.items()}


def overall(pairs: Pairs, methods: Sequence[str], counts: Sequence[int]) -> Iterator[str]:
    columns = []
    for count in counts:
        rows = list(by_problem(pairs, methods, count).values())
        columns.append([mean_and_error(column) for column in zip(*rows, strict=True)])
    lines = [(m, *(_cell(c[place], [each[0] for each in c]) for c in columns)) for place, m in enumerate(methods)]
    yield from table(["method", *(f"after {count}" for count in counts)], lines)


def per_class(pairs: Pairs, methods: Sequence[str], count: int, known: Mapping[str, str]) -> Iterator[str]:
    means = by_problem(pairs, methods, count)
    rows = []
    for kind in dict.fromkeys(known[problem] for problem in means):
        own = [means[problem] for problem in means if known[problem] == kind]
        cells = [mean_and_error(column) for column in zip(*own, strict=True)]
        behind = _behind(own, methods)
        rows.append((f"{kind} ({len(own)})", *(_cell(each, [c[0] for c in cells]) for each in cells), behind))
    yield from table(["class (problems)", *methods, f"best peer ahead of {OURS}"], rows)


def _behind(rows: Sequence[Sequence[float]], methods: Sequence[str]) -> str:
    """By how much the best peer is ahead, and the standard error of that difference over problems."""
    peers = [place for place, method in enumerate(methods) if not METHODS[method].ours]
    if OURS not in methods or not peers:
        return "–"
    mine = methods.index(OURS)
    best = min(peers, key=lambda place: statistics.mean(row[place] for row in rows))
    difference, error = mean_and_error([row[mine] - row[best] for row in rows])
    if difference <= 0:
        return "no"
    return f"{methods[best]} {difference:.2f} ± {error:.2f}" + ("" if difference <= error else " **!**")


def _cell(own: tuple[float, float], means: Sequence[float]) -> str:
    text = f"{own[0]:.2f} ± {own[1]:.2f}"
    return f"**{text}**" if own[0] == min(means) else text


def duels(results: Results, counts: Sequence[int]) -> Iterator[str]:
    """Ours beside each method alone, on all pairs of problem and seed that both were run on."""
    rows = []
    for method in results.methods:
        pairs = complete_pairs(results, (OURS, method)).values()
        if method == OURS or not pairs:
            continue
        cells = []
        for count in counts:
            places = [ranked(found, (OURS, method), count) for found in pairs]
            cells.append(f"{sum(a < b for a, b in places)}–{sum(a > b for a, b in places)}")
        rows.append((method, str(len(pairs)), *cells))
    heads = [f"{OURS} lower–higher than", "pairs", *(f"after {count}" for count in counts)]
    yield from table(heads, rows)


def widely_run(results: Results, seeds: bool = True) -> list[str]:
    """The methods that were run on most problems, with most ``seeds``: the others would leave few for the ranks. Of ours with
    another constant or commit there are none among them: a rank is among different methods."""
    own = [method for method in results.methods if method == plain(method)]
    tasks = {method: [record.task for record in results.of(method=method)] for method in own}
    counts = {method: len({(task.problem, task.seed if seeds else 0) for task in run}) for method, run in tasks.items()}
    return [method for method, count in counts.items() if count >= WIDELY * max(counts.values())]


def with_fewer_seeds(results: Results, counts: Sequence[int]) -> Iterator[str]:
    """The ranks among more methods, where there are any that were run with few seeds."""
    methods = widely_run(results, seeds=False)
    pairs = complete_pairs(results, methods)
    if methods != widely_run(results) and pairs:
        problems = len({problem for problem, _ in pairs})
        yield from ("", "### Mean rank beside methods with fewer seeds", "")
        yield f"{problems} problems, {len(pairs)} searches that all of these were run on."
        yield from ("", *overall(pairs, methods, counts))


def failures(results: Results, known: Mapping[str, str]) -> Iterator[str]:
    """Failed trials where some fail."""
    rows = []
    for method in results.methods:
        records = results.of(method=method)
        failed = [record.found["failed"] for record in records if known[record.task.problem] == "failing"]
        shown = f"{mean_and_error(failed)[0]:.0f}" if failed else "–"
        rows.append((method, shown, str(len(records))))
    yield from table(["method", "failed trials where some fail", "runs"], rows)


def full_report(results: Results, known: Mapping[str, str], counts: Sequence[int]) -> Iterator[str]:
    methods = widely_run(results)
    pairs = complete_pairs(results, methods)
    seeds, problems = len({seed for _, seed in pairs}), len({problem for problem, _ in pairs})
    yield f"{problems} problems, {seeds} seeds, one trial at a time. Ranks are averaged over the seeds of a problem; ± is the"
    yield "standard error over problems."
    if pairs:
        yield from ("", "### Mean rank over all problems", "", *overall(pairs, methods, counts))
        if 100 in counts:
            yield from (
                "",
                "### Mean rank in each class after 100 evaluations",
                "",
                *per_class(pairs, methods, 100, known),
            )
        yield from with_fewer_seeds(results, counts)
    if OURS in results.methods:
        yield from ("", f"### {OURS} and each method alone", "", *duels(results, counts))
    yield from ("", "### Failures", "", *failures(results, known))
