"""Copies: when equal trials count as such, and what that changes, beside the rule in its plain form."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstar as xs
from tests.schedulers.curves import EPOCHS, SPACE, falling, trained
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.journal import History
from xstar.journal.copies import AHEAD, LEAST, SURE, Copies
from xstar.schedulers import ASHA, SCHEDULERS
from xstar.schedulers.asha import TIES
from xstar.trial import New, Promote, State, Trial

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
    aims = {trial.target for trial in history.trials if trial.state is State.RUNNING}
    soon = EPOCHS not in aims and not any(trial.state is State.COMPLETE for trial in history.trials)
    for place in reversed(range(len(scheduler.rungs) - 1)):
        budget = scheduler.rungs[place]
        for bracket in range(min(len(scheduler.sizes), place + 1)):
            groups = classes(history, budget, bracket)
            if not told(history, budget):
                groups = {t.number: [t] for group in groups.values() for t in group}
            ranked = sorted(groups.values(), key=lambda group: at_rung(history, group[0], budget))
            records = sum(map(len, ranked))
            losses = [at_rung(history, group[0], budget)[0] for group in ranked]
            places = max(scheduler.kept(records, place, bracket), soon and place > bracket)
            if scheduler.ties == "latest" and records >= scheduler.eta**2 and len(set(losses)) == 1:
                places = records
            known = {number for number, at, _ in history.observed if at > budget}
            ready = [
                group[0].state is State.PAUSED and group[0].budget == budget and not known & {t.number for t in group}
                for group in ranked
            ]
            for at, group in enumerate(ranked[:places]):
                if scheduler.ties == "earliest":
                    if ready[at]:
                        return Promote(group[0].number, scheduler.rungs[place + 1])
                    continue
                equal = [other for other, loss in enumerate(losses) if loss == losses[at]]
                waiting = [ranked[other][0].number for other in equal if ready[other]]
                if waiting and len(equal) - len(waiting) < places - equal[0]:
                    return Promote(max(waiting), scheduler.rungs[place + 1])
    bracket = scheduler.bracket_of(history.seed, len(history.trials))
    return New(scheduler.rungs[bracket], bracket)


# ---------------------------------------------------------------- compared

tables = st.lists(
    st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), min_size=EPOCHS, max_size=EPOCHS), min_size=1, max_size=6
)
schedulers = st.sampled_from(
    [
        {**rules, "ties": ties}
        for rules in ({"min_budget": 3}, {"levels": (1, 2, 4, 9)}, {"min_budget": 1, "brackets": None})
        for ties in TIES
    ]
)


@settings(max_examples=25)
@given(tables, schedulers, st.randoms(use_true_random=False))
def test_promotion_is_the_plain_rule(table: list[list[float]], rules: dict[str, Any], draw: Any) -> None:
    """Curves drawn from a small table, so that there are copies, reported by three workers in any order."""
    scheduler = ASHA(EPOCHS, last_rung="soon", diverged="keep", **rules)
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


# ---------------------------------------------------------------- what it is for


def full(study: xs.Study) -> list[float]:
    return sorted(trial.known_loss for trial in study.history.trials if trial.budget == EPOCHS)


CROWD = [falling(0.5, 0.6)] * 8 + [falling(0.4, 0.7), falling(0.3, 0.8), falling(0.2, 0.9), falling(0.1, 1.0)]
"""Most trials are copies of one that is the best at first."""


def test_copies_leave_the_places_of_a_rung_to_others() -> None:
    distinct, each = (trained(ASHA(EPOCHS, min_budget=1, repeats=rule), CROWD, 60) for rule in ("distinct", "each"))
    assert set(full(distinct)) == {row[-1] for row in CROWD}
    assert set(full(each)) == {CROWD[0][-1]}
    assert full(distinct).count(CROWD[0][-1]) <= 2  # the second had to be seen
    assert audit(distinct).findings == audit(each).findings == []


def test_copies_alone_are_trained_to_the_end_once() -> None:
    """Of one curve there are never three; ⌊n/η⌋ counts trials, so it goes on all the same."""
    study = trained(ASHA(EPOCHS, min_budget=1), [falling(0.1)], 40)
    assert 1 <= len(full(study)) <= 2


@pytest.mark.parametrize("values", [10, 30, 100])
@pytest.mark.parametrize("seed", range(4))
def test_coarse_losses_make_no_copies(values: int, seed: int) -> None:
    """Errors on a small validation set: many are equal by chance, and no decision changes."""
    draw = np.random.default_rng([values, seed])
    ends, rates = draw.uniform(0.05, 0.6, 150), draw.uniform(0.3, 1.5, 150)
    means = ends[:, None] + (0.7 - ends[:, None]) * np.exp(-rates[:, None] * np.arange(EPOCHS))
    table = (draw.binomial(values, np.clip(means, 0, 1)) / values).tolist()
    for lowest in (1, 3):
        distinct, each = (
            trained(ASHA(EPOCHS, min_budget=lowest, repeats=rule), table, 150) for rule in ("distinct", "each")
        )
        assert len({trial.known_loss for trial in distinct.history.trials}) < len(distinct.history.trials) / 2
        assert [trial.budget for trial in distinct.history.trials] == [trial.budget for trial in each.history.trials]


@pytest.mark.parametrize(
    "table",
    [
        pytest.param([[0.9] * EPOCHS], id="at chance throughout"),
        pytest.param([[0.9, *falling(0.1 + 0.01 * number)[1:]] for number in range(40)], id="at chance at first"),
        pytest.param([falling(0.1 + 0.01 * n, 1.0 - 0.003 * n) for n in range(80)], id="all different"),
    ],
)
def test_without_copies_nothing_changes(table: list[list[float]]) -> None:
    distinct, each = (trained(ASHA(EPOCHS, min_budget=1, repeats=rule), table, 60) for rule in ("distinct", "each"))
    assert [trial.budget for trial in distinct.history.trials] == [trial.budget for trial in each.history.trials]


def test_what_is_told_does_not_depend_on_when_one_looks() -> None:
    """The fold in one go, and after every event of an audit: the promotions are the same."""
    study = trained(ASHA(EPOCHS, min_budget=1, brackets=None), CROWD, 80)
    expected = study.scheduler.next(study.history)
    study.history.memo.clear()
    assert study.scheduler.next(study.history) == expected
    assert study.history.memo.fold(Copies, study.history).told_at(1)


# ---------------------------------------------------------------- stored studies


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        (ASHA(9, repeats="once"), "once"),
        (ASHA(9, repeats="each"), "each"),
        (ASHA(9), "distinct"),
    ],
    ids=repr,
)
def test_a_stored_study_keeps_its_rule(tmp_path: Path, stored: ASHA, kept: str) -> None:
    with xs.Study(SPACE, name="s", storage=tmp_path / "s.db", scheduler=stored, method="random"):
        pass
    with xs.Study(name="s", storage=tmp_path / "s.db") as study:
        assert study.scheduler == stored
        assert SCHEDULERS.dump(study.scheduler)["repeats"] == kept


@pytest.mark.parametrize(
    ("stored", "missing"),
    [(ASHA(9, repeats="once"), ()), (ASHA(9), ("repeats",))],
    ids=repr,
)
def test_asking_for_the_method_of_today_is_not_asking_for_another(stored: ASHA, missing: tuple[str, ...]) -> None:
    data = {name: value for name, value in SCHEDULERS.dump(stored).items() if name not in missing}
    first, *others = (SCHEDULERS.load(each) for each in SCHEDULERS.read(data))
    assert first == replace(stored, repeats="each" if missing else "once")
    assert replace(stored, repeats="distinct") in others


def test_a_ladder_of_an_earlier_release_is_read_with_its_rule() -> None:
    data = SCHEDULERS.dump(ASHA(52, min_budget=1, ladder="bottom", last_rung="ratio"))
    for name in ("ladder", "repeats", "long_steps"):
        del data[name]
    first, *others = (SCHEDULERS.load(each) for each in SCHEDULERS.read(data))
    assert first == ASHA(52, min_budget=1, ladder="bottom", last_rung="ratio", repeats="each", long_steps="eta")
    assert ASHA(52) in others


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="repeats"):
        ASHA(9, repeats="twice")
