"""Which trial goes up first: of those that train quickly, the best.

By ⌊n/η⌋ alone the first complete trial may be long in coming, above all where good configurations are slow ones: a ladder waits
for several of them. So while none is complete or on its way there, one trial goes up at once: the best, at the highest rung
that has one, of those whose epochs take no longer than the median. A quick trial occupies its worker for less than the usual
time of a training, while another might hold it for several.

    pace   seconds of an epoch: between a trial's report at a rung and the one before, if it did not pause there; until then, up
           to its first report

Times decide only while other trials run. With a single worker, whose order of trials does not depend on them, nothing does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from sortedcontainers import SortedList

from xstar.journal import History
from xstar.trial import LIVE, Trial


class Paces:
    """A fold of the history: the paces of its trials."""

    def __init__(self) -> None:
        self._taken = 0
        self._of: dict[int, float] = {}
        self._sorted: SortedList[float] = SortedList()

    def catch_up(self, history: History) -> None:
        observed = history.observed
        for place in range(self._taken, len(observed)):
            number, budget, _ = observed[place]
            trial = history.trials[number]
            if trial.bracket >= 0 and trial.reports:
                self._know(number, _pace(trial, budget, history.levels))
        self._taken = len(observed)

    def _know(self, number: int, pace: float | None) -> None:
        before = self._of.get(number)
        if pace is None:
            return
        if before is not None:
            self._sorted.remove(before)
        self._of[number] = pace
        self._sorted.add(pace)

    def __len__(self) -> int:
        return len(self._of)

    def is_quick(self, trial: Trial) -> bool:
        """Whether a trial that has reached a rung takes no longer than the median."""
        pace = self._of.get(trial.number)
        return pace is not None and pace <= self._sorted[(len(self._sorted) - 1) // 2]


def _pace(trial: Trial, budget: int, levels: Sequence[int]) -> float | None:
    """As the report at ``budget`` tells; None: nothing new."""
    reports = [each for each in trial.reports if each.budget <= budget]
    last = reports[-1]
    if len(reports) == 1:
        return (last.at - trial.asked_at) / last.budget
    before = reports[-2]
    if before.budget in levels:  # it may have paused in between
        return None
    return (last.at - before.at) / (last.budget - before.budget)


class Ahead:
    """A live trial for each of two questions that are asked with every decision, as it was found last: while it still answers
    with yes, the others need not be looked at. With 20,000 trials running, looking took 2.5 ms a decision."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}

    def any(self, history: History, question: str, holds: Callable[[Trial], bool]) -> bool:
        """Whether ``holds`` is true of a trial that runs, or waits to run again."""
        number = self._found.get(question)
        if number is not None and (trial := history.trials[number]).state in LIVE and holds(trial):
            return True
        live = itertools.chain(history.running.values(), history.waiting.values())
        found = next((trial.number for trial in live if holds(trial)), None)
        if found is None:
            self._found.pop(question, None)
            return False
        self._found[question] = found
        return True


def first_up(history: History, rungs: Iterable[tuple[int, int]], top: int, least: int) -> Trial | None:
    """The paused trial that goes up at once, if ``least`` trials have been compared and no quick one is on its way up, nor any
    on its way to the ``top``.

    ``rungs`` are those that it may pause at, from the top down: budget and bracket.
    """
    paces = history.memo.fold(Paces, history)
    if len(paces) < least:
        return None
    ahead = history.memo.get(Ahead) or history.memo.put(Ahead())
    if ahead.any(history, "quick", paces.is_quick) or ahead.any(history, "top", lambda trial: trial.target == top):
        return None
    for budget, bracket in rungs:
        for _, number in history.rung(budget, bracket).paused:
            if paces.is_quick(history.trials[number]):
                return history.trials[number]
    return None
