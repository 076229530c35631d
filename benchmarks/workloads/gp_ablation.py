"""One default of the GP changed at a time: on which problems that is run, and what is told of it."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from benchmarks.harness.cases import true_after
from benchmarks.harness.records import Found, Record
from benchmarks.harness.report import Results, mean_and_error, table

OURS = "xstar-gp"
CHANGES = {
    "xstar-gp": "",
    "xstar-gp-explore4": 'every fourth suggestion explores (`explore_when="always"`)',
    "xstar-gp-explore8": 'every eighth explores (`explore_every=8`, `explore_when="always"`)',
    "xstar-gp-unexplained": 'exploring after failures, too (`explore_when="unexplained"`)',
    "xstar-gp-plain": "no exploring (`explore_every=0`)",
    "xstar-gp-spread": 'Sobol points after the middle (`design="sobol"`)',
    "xstar-gp-sobol": "not the middle first (`middle=False`)",
    "xstar-gp-independent": 'length scales without a factor in common (`lengths="independent"`)',
    "xstar-gp-shared": 'none of switches (`lengths="shared"`)',
    "xstar-gp-product": 'the product kernel alone (`structure="product"`)',
    "xstar-gp-additive": 'always terms of single parameters (`structure="additive"`)',
    "xstar-gp-lean": 'lean suggestions (`effort="lean"`)',
    "xstar-gp-repeats": "exhausted places are not left (`exhausted=0`)",
    "xstar-gp-inexact": "noise of at least 10⁻⁶ (`exact=False`)",
    "xstar-gp-not-straightened": "losses are not transformed (`straighten=False`)",
    "xstar-gp-probable": "probably feasible is safe (`safe=0.5`)",
    "xstar-gp-bold": "no order by feasibility (`cautious=False`)",
    "xstar-gp-robust": "losses that are exceptions are left out (`robust=True`)",
}
"""What each method changes."""
ONLY_WHERE: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("xstar-gp-unexplained", "xstar-gp-probable", "xstar-gp-bold"), ("failing",)),
    "xstar-gp-shared": ("bits",),
    "xstar-gp-robust": ("noisy", "spoilt", "rotated", "bbob ill-conditioned"),
}
"""The classes of problems on which some changes are run: where they can make a difference, or may do harm."""
COUNTS = (25, 50, 100)
MOST_PARAMETERS = 20
LARGE = 0.01
"""A difference that counts as large, as a share of what the better of two searches gained since the first trial."""


def sampled(kinds: Mapping[str, str], parameters: Callable[[str], int]) -> dict[str, str]:
    """Every other problem of each class, but all where trials fail: those of at most 20 parameters, without tables.

    >>> sampled({"a": "low", "b": "low", "c": "failing", "d": "failing", "e": "tables"}, lambda name: 3)
    {'a': 'low', 'c': 'failing', 'd': 'failing'}
    """
    found: dict[str, str] = {}
    for kind in dict.fromkeys(kinds.values()):
        own = [name for name, each in kinds.items() if each == kind]
        if kind == "tables":  # they are not everywhere
            continue
        own = [name for name in own if parameters(name) <= MOST_PARAMETERS]
        found |= dict.fromkeys(own if kind == "failing" else own[::2], kind)
    return found


def matters(method: str, kind: str) -> bool:
    """Whether a method is run on problems of a class."""
    return kind in ONLY_WHERE.get(method, (kind,))


Ranked = Callable[[Mapping[str, Found], Sequence[str], int], list[float]]


def report(results: Results, kinds: Mapping[str, Mapping[str, str]], ranked: Ranked) -> Iterator[str]:
    """Ours beside each change, then the same for each class of problems."""
    yield f"{_seeds(results, kinds, OURS)}; {max(COUNTS)} evaluations."
    yield f"Every other problem of each class with at most {MOST_PARAMETERS}"
    yield "parameters, all where trials fail, no tables. Cells: searches in which the defaults ended lower–higher than with"
    yield "the change; in brackets the difference as a share of the searches, averaged over problems, ± its standard error. A"
    yield "default has support where it is above 0."
    heads = [f"{which} {count}" for which in kinds for count in COUNTS]
    rows = []
    for method, text in _changes(results):
        cells = [_cell(results, method, which, count, ranked) for which in kinds for count in COUNTS]
        rows.append((text, *cells, _time(results, method)))
    yield from ("", *table(["with this change", *heads, "its time over theirs"], rows))
    yield from ("", "### Large differences", "")
    yield from _large_differences(results, kinds)
    for which, known in kinds.items():
        yield from ("", f"### Each class of the {which} set after {max(COUNTS)} evaluations", "")
        yield from _classes(results, which, known, ranked)


def _large_differences(results: Results, kinds: Iterable[str]) -> Iterator[str]:
    yield f"The same, of searches that differ by more than {LARGE:.0%} of what the better one gained since the first trial:"
    yield "elsewhere lower or higher is a matter of the last digits."
    heads = [f"{which} {count}" for which in kinds for count in COUNTS]
    rows = [
        (text, *(_large(results, method, which, count) for which in kinds for count in COUNTS))
        for method, text in _changes(results)
    ]
    yield from ("", *table(["with this change", *heads], rows))


def _large(results: Results, method: str, which: str, count: int) -> str:
    found = [share(mine.found, other.found, count) for mine, other in _pairs(results, method, which)]
    if not found:
        return "–"
    return f"{sum(each > LARGE for each in found)}–{sum(each < -LARGE for each in found)}"


def share(mine: Found, other: Found, count: int) -> float:
    """How much higher the other search is, as a share of what the better one gained since the worse of their first trials.

    >>> share({"incumbents": [(1, 5.0), (4, 1.0)]}, {"incumbents": [(1, 5.0), (9, 2.0)]}, 25)
    0.25
    """
    a, b = (true_after(each["incumbents"], count) for each in (mine, other))
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf if a < b else -math.inf if b < a else 0.0
    gained = max(each["incumbents"][0][1] for each in (mine, other)) - min(a, b)
    return (b - a) / gained if gained > 0.0 else 0.0


def _changes(results: Results) -> list[tuple[str, str]]:
    """The changes that were run beside the defaults."""
    sets = ("development", "validation")
    run = [method for method in CHANGES if method != OURS and any(_pairs(results, method, which) for which in sets)]
    return [(method, CHANGES[method]) for method in run]


def _seeds(results: Results, sets: Iterable[str], method: str) -> str:
    """How many seeds a method was run with on the problems of each set."""
    found = []
    for which in sets:
        runs = Counter(record.task.problem for record in results.of(method=method) if record.task["set"] == which)
        if runs:
            few, many = min(runs.values()), max(runs.values())
            found.append((f"{few} to {many}" if few < many else str(few)) + f" seeds of the {which} set")
    return ", ".join(found)


def _classes(results: Results, which: str, known: Mapping[str, str], ranked: Ranked) -> Iterator[str]:
    classes = dict.fromkeys(known[record.task.problem] for record in results.of() if record.task["set"] == which)
    rows = []
    for method, text in _changes(results):
        found = [_won(results, method, which, max(COUNTS), ranked, known, kind) for kind in classes]
        rows.append((text, *(f"{won}–{lost}" if won + lost else "–" for won, lost in found)))
    yield from table(["with this change", *classes], rows)


def _pairs(results: Results, method: str, which: str) -> list[tuple[Record, Record]]:
    """What the defaults found beside what was found with a change, where both were run."""
    base = results.of(method=OURS)
    ours = {(r.task.problem, r.task.seed): r for r in base if r.task["set"] == which}
    theirs = [r for r in results.of(method=method) if r.task["set"] == which]
    return [(ours[key], r) for r in theirs if (key := (r.task.problem, r.task.seed)) in ours]


def _signs(results: Results, method: str, which: str, count: int, ranked: Ranked) -> dict[str, list[int]]:
    """Problem → 1 for each search in which ours is lower, -1 where it is higher."""
    made: dict[str, list[int]] = {}
    for mine, other in _pairs(results, method, which):
        a, b = ranked({OURS: mine.found, method: other.found}, (OURS, method), count)
        made.setdefault(mine.task.problem, []).append((a < b) - (a > b))
    return made


def _won(
    results: Results, method: str, which: str, count: int, ranked: Ranked, known: Mapping[str, str], kind: str
) -> tuple[int, int]:
    signs = _signs(results, method, which, count, ranked)
    own = [sign for problem, found in signs.items() if known[problem] == kind for sign in found]
    return own.count(1), own.count(-1)


def _cell(results: Results, method: str, which: str, count: int, ranked: Ranked) -> str:
    signs = _signs(results, method, which, count, ranked)
    if not signs:
        return "–"
    every = [sign for found in signs.values() for sign in found]
    mean, error = mean_and_error([statistics.mean(found) for found in signs.values()])
    return f"{every.count(1)}–{every.count(-1)} ({mean:+.2f} ± {error:.2f})"


def _time(results: Results, method: str) -> str:
    """The ratio of times, of searches that were made on one machine by one version."""
    both = [pair for which in ("development", "validation") for pair in _pairs(results, method, which)]
    pairs = [(one, other) for one, other in both if one.made == other.made]
    if not pairs:
        return "–"
    mine, other = (statistics.mean(pair[place].found["processor"] for pair in pairs) for place in (0, 1))
    return f"{other / mine:.2f}×"
