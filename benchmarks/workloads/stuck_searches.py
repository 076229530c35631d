"""Searches of 500 evaluations where many get stuck: the GP that never begins anew, and after 100 or 200 trials in vain.

Development problems whose optimum most searches of 200 evaluations had not found, or not all: several basins, options, counts,
switches, tables. Elsewhere a restart has nothing to find, and what it costs there is in ``long_searches.py``.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.harness.cases import Case, true_after
from benchmarks.harness.methods import ABLATIONS
from benchmarks.harness.records import Found, significant
from benchmarks.harness.report import Results, ratio, table
from benchmarks.workloads.gp_ablation import LARGE, share
from benchmarks.workloads.long_searches import searched
from xstar.searchers import GP

NEVER = "xstar-gp-patience0"
RULES = (NEVER, "xstar-gp-patience100", "xstar-gp-patience200")
COUNTS = (200, 300, 400, 500)
PROBLEMS = (
    *("nb201-cifar10", "nb201-imagenet16", "fcnet-naval", "fcnet-parkinsons"),
    "branches",
    *("nk18", "knapsack20", "sat24", "plateaus16"),
    *("counted-rastrigin5", "counted-alpine5", "counted-terraces10", "counted-ellipsoid10", "counted-rastrigin10"),
    *("peaks5", "peaks8", "funnels4", "crags4", "shekel4"),
    *("griewank4", "rastrigin4-rotated", "rastrigin5", "styblinski8", "michalewicz5"),
    *("catalogue5x30", "catalogue8x10"),
)


def run(case: Case, method: str, seed: int, evaluations: int) -> Found:
    begun = time.process_time()
    incumbents, anew = searched(case, GP(**ABLATIONS[method]), seed, evaluations)
    spent = 1e3 * (time.process_time() - begun) / evaluations
    return {"incumbents": incumbents, "anew": anew, "processor": significant(spent)}


Pair = tuple[Found, Found]
"""What was found with restarts and without, on one problem with one seed."""


def report(results: Results, kinds: Mapping[str, str]) -> Iterator[str]:
    yield "Searches with restarts beside those without (`patience=0`), with the same seed: lower–higher, in brackets those that"
    yield f"differ by more than {LARGE:.0%} of what the better one gained."
    for rule in RULES[1:]:
        pairs = _pairs(results, rule)
        classes = dict.fromkeys(kinds[problem] for problem, _ in pairs)
        rows = [_row(each, {key: pair for key, pair in pairs.items() if kinds[key[0]] == each}) for each in classes]
        heads = ["problems", "searches", "began anew", *(f"after {count}" for count in COUNTS), "its time over theirs"]
        yield from ("", f"### `patience={ABLATIONS[rule]['patience']}`", "")
        yield from table(["class", *heads], [*rows, _row("**all**", pairs)] if pairs else [])
    yield from ("", f"### Loss after {max(COUNTS)} evaluations, mean over seeds", "", *_losses(results))


def _pairs(results: Results, rule: str) -> dict[tuple[str, int], Pair]:
    """Problem and seed → what both found, where all rules were run: they are compared on the same searches."""
    found = {each: {(r.task.problem, r.task.seed): r.found for r in results.of(method=each)} for each in RULES}
    both = [key for key in found[NEVER] if all(key in own for own in found.values())]
    return {key: (found[rule][key], found[NEVER][key]) for key in both}


def _row(name: str, pairs: Mapping[tuple[str, int], Pair]) -> tuple[str, ...]:
    problems = len({problem for problem, _ in pairs})
    every = list(pairs.values())
    anew = sum(mine["anew"] > 0 for mine, _ in every)
    spent = [statistics.mean(pair[place]["processor"] for pair in every) for place in (0, 1)]
    return name, str(problems), str(len(pairs)), str(anew), *(_cell(every, count) for count in COUNTS), ratio(*spent)


def _cell(pairs: Sequence[Pair], count: int) -> str:
    ends = [tuple(true_after(each["incumbents"], count) for each in pair) for pair in pairs]
    large = [share(*pair, count) for pair in pairs]
    plain = f"{sum(a < b for a, b in ends)}–{sum(a > b for a, b in ends)}"
    return f"{plain} ({sum(each > LARGE for each in large)}–{sum(each < -LARGE for each in large)})"


def _losses(results: Results) -> Iterator[str]:
    compared = _pairs(results, NEVER)
    rows = []
    for problem in dict.fromkeys(problem for problem, _ in compared):
        seeds = [seed for own, seed in compared if own == problem]
        cells = []
        for rule in RULES:
            found = [r.found for r in results.of(problem, rule) if r.task.seed in seeds]
            cells.append(f"{statistics.mean(true_after(each['incumbents'], max(COUNTS)) for each in found):.5g}")
        rows.append((problem, str(len(seeds)), *cells))
    yield from table(["problem", "seeds", *(f"`patience={ABLATIONS[rule]['patience']}`" for rule in RULES)], rows)
