"""Copies: when equal trials count as such, and what that changes, beside the rule in its plain form."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import xstar as xs
from xstar.inspect.audit import audit
from xstar.journal import History
from xstar.schedulers import ASHA, StoppingASHA
from xstar.schedulers.asha import Asynchronous
from xstar.schedulers.copies import AHEAD, LEAST, SURE, Copies
from xstar.trial import New, Promote, State, Trial, Verdict

SPACE = xs.Space(x=xs.Float(0, 1))
EPOCHS = 9
Curve = tuple[tuple[int, float], ...]


# ---------------------------------------------------------------- the plain form


def curve(history: History, trial: Trial, budget: int) -> Curve:
    return tuple((r.budget, history.loss_of(r.metrics)) for r in trial.reports if r.budget <= budget)


def may_repeat(losses: Curve) -> bool:
    return len(losses) == 1 or len({loss for _, loss in losses}) > 1


def followed(history: History) -> list[tuple[int, Curve]]:
    """Every step of every trial, as (bracket, the curve after it), in the order in which they became known."""
    steps: list[tuple[int, Curve]] = []
    known: Counter[int] = Counter()
    for number, budget, _ in history.observed:
        trial = history.trials[number]
        whole = curve(history, trial, budget)
        steps += [(trial.bracket, whole[:length]) for length in range(known[number] + 1, len(whole) + 1)]
        known[number] = len(whole)
    return steps


def told(history: History, budget: int) -> bool:
    equal: Counter[int] = Counter()
    parted: Counter[int] = Counter()
    before: set[tuple[int, Curve]] = set()
    for bracket, losses in followed(history):
        starts = [losses[:length] for length in range(len(losses) - 1, 0, -1)][:AHEAD]
        met = any((bracket, losses[:-1]) == (other, each[:-1]) for other, each in before)
        for start in filter(may_repeat, starts):
            if (bracket, losses) in before:
                equal[start[-1][0]] += may_repeat(losses)
            elif met:
                parted[start[-1][0]] += 1
        before.add((bracket, losses))
    return any(equal[r] >= SURE * parted[r] + LEAST for r in equal if r <= budget)


def classes(history: History, budget: int, bracket: int) -> dict[Any, list[Trial]]:
    """The trials of a rung by their curves, in the order in which they came; what may not repeat is by itself."""
    found: dict[Any, list[Trial]] = {}
    for number, at, _ in history.observed:
        trial = history.trials[number]
        if at == budget and trial.bracket == bracket:
            losses = curve(history, trial, budget)
            found.setdefault(losses if may_repeat(losses) else number, []).append(trial)
    return found


def at_rung(history: History, trial: Trial, budget: int) -> tuple[float, int]:
    return curve(history, trial, budget)[-1][1], trial.number


def plain_next(scheduler: ASHA, history: History) -> New | Promote:
    for place in reversed(range(len(scheduler.rungs) - 1)):
        budget = scheduler.rungs[place]
        for bracket in range(min(len(scheduler.sizes), place + 1)):
            groups = classes(history, budget, bracket)
            if not told(history, budget):
                groups = {t.number: [t] for group in groups.values() for t in group}
            ranked = sorted(groups.values(), key=lambda group: at_rung(history, group[0], budget))
            records = sum(map(len, ranked))
            for group in ranked[: scheduler.kept(records, place, bracket)]:
                first, known = group[0], {n for n, at, _ in history.observed if at > budget}
                if first.state is State.PAUSED and first.budget == budget and not known & {t.number for t in group}:
                    return Promote(first.number, scheduler.rungs[place + 1])
    bracket = scheduler.bracket_of(history.seed, len(history.trials))
    return New(scheduler.rungs[bracket], bracket)


def plain_verdict(scheduler: StoppingASHA, history: History, trial: Trial, budget: int, loss: float) -> Verdict:
    if not scheduler.at_rung(trial, budget):
        return Verdict.CONTINUE
    groups = classes(history, budget, trial.bracket)
    count = 1 + sum(map(len, groups.values()))
    if count < scheduler.eta:
        return Verdict.CONTINUE
    losses: Any = (*curve(history, trial, budget), (budget, loss))
    if not told(history, budget):
        groups = {t.number: [t] for group in groups.values() for t in group}
    alike = groups.get(losses, []) if may_repeat(losses) else []
    beyond = {n for n, at, _ in history.observed if at > budget}
    if alike and (
        alike[0].state is not State.STOPPED or beyond & {t.number for t in alike} or alike[0].budget > budget
    ):
        return Verdict.STOP
    mine = at_rung(history, alike[0], budget) if alike else (loss, trial.number)
    ranked = sorted({mine, *(at_rung(history, group[0], budget) for group in groups.values())})
    kept = scheduler.kept(count, scheduler.rungs.index(budget), trial.bracket)
    return Verdict.CONTINUE if mine in ranked[:kept] else Verdict.STOP


# ---------------------------------------------------------------- compared

tables = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=EPOCHS, max_size=EPOCHS), min_size=1, max_size=6
)
schedulers = st.sampled_from([{"min_budget": 1}, {"min_budget": 3}, {"min_budget": 1, "brackets": None}])


@settings(max_examples=60)
@given(tables, schedulers, st.randoms(use_true_random=False))
def test_promotion_is_the_plain_rule(table: list[list[float]], rules: dict[str, Any], draw: Any) -> None:
    """Curves drawn from a small table, so that there are copies, reported by three workers in any order."""
    scheduler = ASHA(EPOCHS, **rules)
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    running: list[Trial] = []
    rows: dict[int, list[float]] = {}
    for _ in range(120):
        if len(running) < 3:
            assert scheduler.next(study.history) == plain_next(scheduler, study.history)
            trial = study.ask()
            assert trial is not None
            running.append(trial)
            rows.setdefault(trial.number, draw.choice(table))
        trial = draw.choice(running)
        study.report(trial, rows[trial.number][trial.budget])
        running = [each for each in running if each.state is State.RUNNING]


@settings(max_examples=60)
@given(tables, schedulers, st.randoms(use_true_random=False))
def test_stopping_is_the_plain_rule(table: list[list[float]], rules: dict[str, Any], draw: Any) -> None:
    scheduler = StoppingASHA(EPOCHS, **rules)
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    running: list[Trial] = []
    rows: dict[int, list[float]] = {}
    for _ in range(120):
        if len(running) < 3:
            trial = study.ask()
            assert trial is not None
            running.append(trial)
            rows[trial.number] = draw.choice(table)
        trial = draw.choice(running)
        loss, budget = rows[trial.number][trial.budget], trial.budget + 1
        expected = plain_verdict(scheduler, study.history, trial, budget, loss)
        verdict = study.report(trial, loss)
        assert verdict is expected or budget == EPOCHS
        running = [each for each in running if each.state is State.RUNNING]


# ---------------------------------------------------------------- what it is for


def searched(scheduler: Asynchronous, table: list[list[float]], asked: int) -> xs.Study:
    """A study in which trial n has row n of the table, modulo its length."""
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    for _ in range(asked):
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            study.report(trial, table[trial.number % len(table)][trial.budget])
    return study


def falling(end: float, start: float = 1.0) -> list[float]:
    return [end + (start - end) / (epoch + 1) for epoch in range(EPOCHS)]


def full(study: xs.Study) -> list[float]:
    return sorted(trial.known_loss for trial in study.history.trials if trial.budget == EPOCHS)


CROWD = [falling(0.5, 0.6)] * 8 + [falling(0.4, 0.7), falling(0.3, 0.8), falling(0.2, 0.9), falling(0.1, 1.0)]
"""Most trials are copies of one that is the best at first."""


@pytest.mark.parametrize("kind", [ASHA, StoppingASHA])
def test_copies_leave_the_places_of_a_rung_to_others(kind: Any) -> None:
    asked = {ASHA: 60, StoppingASHA: 48}[kind]
    distinct, each = (searched(kind(EPOCHS, min_budget=1, repeats=rule), CROWD, asked) for rule in ("distinct", "each"))
    assert min(full(distinct)) == CROWD[-1][-1] < min(full(each))
    copies = [trial for trial in distinct.history.trials if trial.number % 12 < 8 and trial.budget == EPOCHS]
    assert len(copies) <= 2 + LEAST  # those that had to be seen
    assert audit(distinct).findings == audit(each).findings == []
