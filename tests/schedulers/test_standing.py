"""Records of trials that diverged no longer count at the rungs below."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xstar as xs
from tests.schedulers.curves import EPOCHS, SPACE, falling, train_next, trained
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.inspect.why import why
from xstar.journal import History
from xstar.journal.divergence import Divergence
from xstar.schedulers import ASHA, SCHEDULERS, StoppingASHA
from xstar.schedulers.standing import Standing
from xstar.trial import State

GOOD, BAD = falling(0.3), [*falling(0.0)[:5], *[1e6] * 4]
RULES: dict[str, Any] = {"min_budget": 1, "last_rung": "best", "silent": "compare"}


def complete(scheduler: ASHA | StoppingASHA, asked: int = 60) -> tuple[int, int]:
    """Of two kinds of curves, half of them ahead until they explode: complete trials that did not, and that did."""
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    for _ in range(asked):
        trial = study.ask()
        assert trial is not None
        while trial.state is State.RUNNING:
            base = BAD if trial.number % 2 else GOOD
            study.report(trial, base[trial.budget] + 1e-3 * trial.number)
    assert audit(study).findings == []
    done = [trial for trial in study.history.trials if trial.state is State.COMPLETE]
    return sum(trial.number % 2 == 0 for trial in done), sum(trial.number % 2 for trial in done)


def test_others_go_on_in_their_place() -> None:
    good, bad = complete(ASHA(EPOCHS, **RULES))
    before, _ = complete(ASHA(EPOCHS, **RULES, diverged="keep"))
    assert good > before
    assert bad > 0


def test_by_stopping_too() -> None:
    good, _ = complete(StoppingASHA(EPOCHS, min_budget=1))
    before, _ = complete(StoppingASHA(EPOCHS, min_budget=1, diverged="keep"))
    assert good >= before


def plain(history: History, budget: int, bracket: int) -> list[tuple[float, int]]:
    diverged = history.memo.fold(Divergence, history).at
    found = [
        (loss, number)
        for number, at, loss in history.observed
        if at == budget and history.trials[number].bracket == bracket and diverged.get(number, at) <= at
    ]
    return sorted(found)


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.9, 30.0]), min_size=EPOCHS, max_size=EPOCHS), min_size=2, max_size=6
    ),
    st.sampled_from([1, None]),
    st.randoms(use_true_random=False),
)
def test_it_is_the_plain_rule_whenever_one_looks(table: list[list[float]], brackets: int | None, draw: Any) -> None:
    scheduler = ASHA(EPOCHS, **RULES, brackets=brackets)
    study = xs.Study(SPACE, scheduler=scheduler, method="random", seed=1)
    for _ in range(40):
        train_next(study, table)
        if draw.random() < 0.3:
            standing = study.history.memo.fold(Standing, study.history)
            for budget in study.history.levels[:-1]:
                for bracket in range(len(scheduler.sizes)):
                    assert list(standing.records(study.history, budget, bracket)) == plain(
                        study.history, budget, bracket
                    )


def test_why_counts_what_stands() -> None:
    curves = [falling(0.5), falling(0.4), BAD, falling(0.6), falling(0.45)]
    study = trained(ASHA(EPOCHS, **RULES), curves, 40)
    history = study.history
    assert history.memo.fold(Divergence, history).order
    promoted = next(t for t in reversed(history.trials) if t.number % 5 != 2 and t.attempt > 1)
    text = " ".join(f"{turn.what} {turn.why}" for turn in why(study.journal, promoted.number).turns)
    assert "promoted" in text


def test_studies_from_before_keep_them() -> None:
    for made, name in ((ASHA, "asha"), (StoppingASHA, "asha-stop")):
        stored = {key: value for key, value in SCHEDULERS.dump(made(27)).items() if key != "diverged"}
        first, *others = (SCHEDULERS.load(each) for each in SCHEDULERS.read(stored))
        assert first == made(27, diverged="keep"), name
        assert made(27) in others
        with pytest.raises(InvalidArgument, match="diverged"):
            made(27, diverged="forget")
