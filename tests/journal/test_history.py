"""The fold: states, best, rungs, queue, and events that make no sense."""

from __future__ import annotations

import math
import random

import pytest

from xstar.errors import CorruptJournal
from xstar.journal import History, MemoryJournal, events as ev
from xstar.journal.rules import MOST_TIMES_LOST
from xstar.journal.trial import State, Verdict
from xstar.testing import check_journal
from xstar.testing.journals import created, one_of_each


def folded(*events: ev.Event, rungs: tuple[int, ...] = ()) -> History:
    history = History(rungs)
    history.extend([created(), *events])
    return history


def asked(number: int, x: float = 0.5) -> ev.Asked:
    return ev.Asked(number, {"x": x}, "random", 1, 1.0, budget=9)


def reported(number: int, budget: int, value: float, **more: object) -> ev.Reported:
    return ev.Reported(number, budget, {"value": value}, 2.0, 1, **more)  # type: ignore[arg-type]


def test_a_memory_journal_conforms() -> None:
    check_journal(MemoryJournal)


def test_folding_in_pieces_is_folding_at_once() -> None:
    events = one_of_each()
    whole, pieces = History(), History()
    whole.extend(events)
    for event in events:
        pieces.extend([event])
    assert repr(whole.trials) == repr(pieces.trials)
    assert whole.seen == pieces.seen == len(events)


def test_best_before_and_after_completion() -> None:
    history = folded(asked(0), asked(1), reported(0, 1, 3.0), reported(1, 1, 2.0))
    assert history.best is history.trials[1]
    history.extend([reported(1, 2, 5.0)])  # what was best got worse, but nobody else came as far
    assert history.best is history.trials[1]
    history.extend([reported(0, 2, 4.5)])
    assert history.best is history.trials[0]
    history.extend([reported(1, 3, 5.0), reported(0, 9, 6.0, final=True)])  # complete: it outranks those that are not
    assert history.best is history.trials[0]
    history.extend([asked(2), reported(2, 9, 6.0, final=True)])
    assert history.best is history.trials[0], "ties go to the earlier trial"
    assert history.since_best == 1


def steps(history: History) -> list[tuple[int, int | None, float, int, bool]]:
    return [
        (step.begun, None if step.trial is None else step.trial.number, step.value, step.budget, step.complete)
        for step in history.best_over_time
    ]


def test_best_over_time_compares_equal_budgets_only() -> None:
    history = folded(asked(0), asked(1), reported(0, 1, 0.1), reported(1, 1, 0.3))
    assert steps(history) == [(2, 0, 0.1, 1, False)]
    history.extend([reported(1, 2, 0.5)])  # further, though worse than a value at budget 1
    history.extend([asked(2), reported(2, 3, 0.9, final=True)])  # complete, at whatever value
    history.extend([reported(0, 2, 0.01), asked(3), reported(3, 3, 0.8, final=True)])
    history.extend([asked(4), reported(4, 3, 0.85, final=True)])
    assert steps(history) == [(2, 0, 0.1, 1, False), (2, 1, 0.5, 2, False), (3, 2, 0.9, 3, True), (4, 3, 0.8, 3, True)]


def test_best_over_time_takes_back_what_failed() -> None:
    history = folded(asked(0), asked(1), reported(0, 1, 0.1), reported(1, 1, 0.3))
    history.extend([ev.Failed(0, "exception", "boom", 3.0), ev.Failed(1, "exception", "boom", 4.0)])
    assert [trial for _, trial, *_ in steps(history)] == [0, 1, None]
    assert history.best is None
    history.extend([asked(2), reported(2, 1, 0.5)])
    assert [trial for _, trial, *_ in steps(history)] == [0, 1, None, 2]


def test_the_last_step_is_the_best() -> None:
    dice = random.Random(1)
    history = folded()
    for number in range(200):
        history.extend([asked(number)])
        for budget in range(1, dice.randint(1, 5)):
            history.extend([reported(number, budget, dice.random())])
            assert history.best is history.best_over_time[-1].trial
        if dice.random() < 0.3:
            history.extend([ev.Failed(number, "exception", "boom", 1.0)])
        elif number > 100:
            history.extend([reported(number, 5, dice.random(), final=True)])
        last = history.best_over_time[-1] if history.best_over_time else None
        assert history.best is (last.trial if last else None)
        if last is not None and last.trial is not None:
            assert (last.value, last.budget) == (last.trial.value, last.trial.budget)
    first = next(place for place, step in enumerate(history.best_over_time) if step.complete)
    values = [step.value for step in history.best_over_time[first:]]
    assert all(step.complete for step in history.best_over_time[first:])
    assert values == sorted(values, reverse=True)


def test_rungs_are_kept_in_order_and_know_who_pauses() -> None:
    history = folded(rungs=(1, 3))
    values = {0: 0.5, 1: 0.1, 2: 0.5, 3: 0.3}
    for number, value in values.items():
        history.extend([asked(number), reported(number, 1, value, verdict=Verdict.PAUSE)])
    assert list(history.rung(1).records) == [(0.1, 1), (0.3, 3), (0.5, 0), (0.5, 2)]
    assert list(history.rung(1).paused) == list(history.rung(1).records)
    assert set(history.paused) == {0, 1, 2, 3}
    history.extend([ev.Started(1, 1, 9, 3.0, budget=3)])
    assert list(history.rung(1).paused) == [(0.3, 3), (0.5, 0), (0.5, 2)]
    assert len(history.rung(1).records) == 4
    history.extend([reported(1, 2, 0.05, attempt=1), reported(1, 3, 0.04, attempt=1, verdict=Verdict.STOP)])
    assert list(history.rung(3).records) == [(0.04, 1)]
    assert history.trials[1].state is State.STOPPED


def test_late_reports_are_without_effect() -> None:
    history = folded(asked(0), reported(0, 1, 1.0), ev.Lost(0, "gone", 2.0), ev.Started(0, 1, 4, 3.0, budget=9))
    history.extend([reported(0, 2, 0.0, attempt=0)])  # the old run speaks up
    assert history.trials[0].budget == 1
    history.extend([reported(0, 9, 0.5, attempt=1, final=True), reported(0, 3, 0.0, attempt=1)])
    assert history.trials[0].value == 0.5


def test_a_late_end_of_a_superseded_attempt_does_not_end_the_new_one() -> None:
    history = folded(asked(0), reported(0, 1, 1.0), ev.Lost(0, "gone", 2.0), ev.Started(0, 1, 4, 3.0, budget=9))
    for late in (ev.Completed(0, 4.0), ev.Failed(0, "exception", "late", 4.0), ev.Lost(0, "late", 4.0)):
        history.extend([late])
        assert history.trials[0].state is State.RUNNING
    history.extend([ev.Completed(0, 5.0, 1)])
    assert history.trials[0].state is State.COMPLETE


def test_a_late_value_of_a_lost_trial_that_waits_is_accepted() -> None:
    history = folded(asked(0), ev.Lost(0, "gone", 2.0))
    assert list(history.waiting) == [0]
    history.extend([reported(0, 9, 0.5, final=True)])
    assert history.trials[0].state is State.COMPLETE
    assert not history.waiting


def test_a_program_may_die_often_but_not_for_ever() -> None:
    history = folded(asked(0))
    for attempt in range(MOST_TIMES_LOST):
        history.extend([ev.Lost(0, "gone", 2.0, attempt)])
        assert history.trials[0].state is State.WAITING
        history.extend([ev.Started(0, attempt + 1, 3, 3.0)])
    history.extend([ev.Lost(0, "gone", 2.0, MOST_TIMES_LOST)])
    assert history.trials[0].state is State.FAILED
    assert "given up" in (history.trials[0].reason or "")


def test_counts_agree_with_the_trials() -> None:
    history = History()
    history.extend(one_of_each())
    for state in State:
        assert history.count(state) == sum(trial.state is state for trial in history.trials)
    assert history.over == sum(trial.state.over for trial in history.trials)
    assert history.distinct == len({trial["x"] for trial in history.trials})
    assert history.tried({"x": 1e-300}) == 1
    assert history.tried({"x": math.pi}) is None


@pytest.mark.parametrize(
    "events", [[created()], [asked(1)], [reported(0, 1, 1.0)], [ev.Completed(-1, 1.0)], [ev.Started(5, 1, 1, 1.0)]]
)
def test_nonsense_is_named(events: list[ev.Event]) -> None:
    with pytest.raises(CorruptJournal, match="event"):
        folded(*events)
