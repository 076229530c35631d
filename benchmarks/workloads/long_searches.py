"""Searches that go on after they have stagnated: with restarts and without, on problems of both sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.harness.cases import Case, true_after
from benchmarks.harness.methods import Xstar
from benchmarks.harness.records import Found, Record, Trajectory
from benchmarks.harness.report import Results, table
from benchmarks.workloads.gp_ablation import LARGE, share
from xstar.searchers import GP
from xstar.searchers.gp.earlier import BEFORE_RESTARTS

COUNTS = (150, 200, 250)
PATIENCE = 100
"""That of the restarts; today's default waits longer than most of these searches last (``stuck_searches.py``)."""


def searched(case: Case, searcher: GP, seed: int, evaluations: int) -> tuple[Trajectory, int]:
    """The true losses of the incumbents, and the number of trials of restarts."""
    best, trajectory, optimiser = float("inf"), [], Xstar(case.space, seed, None, searcher)
    for number in range(1, evaluations + 1):
        config = optimiser.ask()
        loss = case.observe(config, seed, number)
        if loss is None:
            optimiser.fail(config)
            continue
        optimiser.tell(config, loss)
        if loss < best:
            best = loss
            trajectory.append((number, case.true(config)))
    return trajectory, optimiser.count(lambda origin: "restart" in origin.numbers)


def run(case: Case, seed: int, evaluations: int) -> Found:
    """Both searches; where the first made no restart, the other is the same."""
    incumbents, anew = searched(case, GP(patience=PATIENCE), seed, evaluations)
    without = searched(case, GP(**BEFORE_RESTARTS), seed, evaluations)[0] if anew else incumbents
    return {"incumbents": incumbents, "without": without, "anew": anew}


def report(results: Results, kinds: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    yield f"Searches of `xstar-gp` that began anew (`patience={PATIENCE}`), and the same without (`patience=0`): lower–higher,"
    yield f"in brackets those that differ by more than {LARGE:.0%} of what the better one gained. All others are the same."
    rows = []
    for which, known in kinds.items():
        records = [record for record in results.of() if record.task["set"] == which]
        for kind in dict.fromkeys(known[record.task.problem] for record in records):
            own = [record for record in records if known[record.task.problem] == kind]
            rows += [_row(f"{which}: {kind}", own)]
        rows += [_row(f"**{which}**", records)] if records else []
    heads = ["problems", "searches", "began anew", *(f"after {count}" for count in COUNTS)]
    yield from ("", *table(["class", *heads], rows))


def _row(name: str, records: Sequence[Record]) -> tuple[str, ...]:
    problems = len({record.task.problem for record in records})
    anew = sum(record.found["anew"] > 0 for record in records)
    return name, str(problems), str(len(records)), str(anew), *(_cell(records, count) for count in COUNTS)


def _cell(records: Sequence[Record], count: int) -> str:
    pairs = [(record.found, {**record.found, "incumbents": record.found["without"]}) for record in records]
    ends = [tuple(true_after(each["incumbents"], count) for each in pair) for pair in pairs]
    large = [share(*pair, count) for pair in pairs]
    plain = f"{sum(a < b for a, b in ends)}–{sum(a > b for a, b in ends)}"
    return f"{plain} ({sum(each > LARGE for each in large)}–{sum(each < -LARGE for each in large)})"
