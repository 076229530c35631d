"""Trials whose loss rose far from one rung to a later one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import xstar as xs
from tests.schedulers.curves import EPOCHS, SPACE, falling, train_next, trained
from xstar.journal import History
from xstar.journal.divergence import LEAST, QUARTILE, Divergence
from xstar.schedulers import ASHA

RULES: dict[str, Any] = {"min_budget": 1, "last_rung": "best"}


def diverged(study: xs.Study) -> dict[int, int]:
    return study.history.memo.fold(Divergence, study.history).at


def turning(end: float, to: float, at: int) -> list[float]:
    """Falls to ``end``, and is ``to`` from epoch ``at`` on."""
    return falling(end)[: at - 1] + [to] * (EPOCHS - at + 1)


def test_a_rise_beyond_what_most_lie_behind() -> None:
    curves = [falling(0.5), falling(0.4), falling(0.6), turning(0.0, 1e6, 5), falling(0.3)]
    study = trained(ASHA(EPOCHS, **RULES), curves, 40)
    turned = {t.number for t in study.history.trials if t.number % 5 == 3 and t.budget >= 9}
    assert turned
    assert diverged(study) == dict.fromkeys(turned, 9)


def test_none_where_losses_fall_or_rise_a_little() -> None:
    curves = [falling(0.5), falling(0.4), [*falling(0.3)[:4], *(0.45 for _ in range(5))], falling(0.6)]
    assert diverged(trained(ASHA(EPOCHS, **RULES), curves, 40)) == {}


def test_none_where_all_have_been_equal() -> None:
    """Else the first that differs would have diverged, whatever it differs by."""
    rising = [0.9, *(0.9 + 1e-9 for _ in range(8))]
    assert diverged(trained(ASHA(EPOCHS, **RULES), [rising], 20)) == {}


def test_without_rungs_nothing_diverges() -> None:
    study = xs.Study(SPACE, method="random", seed=1)
    for loss in (0.1, 0.2, 0.3, 0.4, 0.5, 1e9):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, loss)
    assert diverged(study) == {}


def plain(history: History) -> dict[int, int]:
    """The rule as it is written, for one observation after the other."""
    found: dict[int, int] = {}
    last: dict[int, float] = {}
    kept: list[float] = []
    for number, budget, loss in history.observed:
        if number in found:
            continue
        spread = math.inf
        if len(kept) >= LEAST:
            spread = float(np.quantile(kept, QUARTILE, method="lower") - min(kept))
        if number in last and spread > 0.0 and loss - last[number] > spread:
            found[number] = budget
        else:
            last[number] = loss
            kept.append(loss)
    return found


@settings(max_examples=30)
@given(
    st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.5, 0.6, 0.9, 30.0]), min_size=EPOCHS, max_size=EPOCHS),
        min_size=2,
        max_size=6,
    ),
    st.randoms(use_true_random=False),
)
def test_it_is_the_plain_rule_whenever_one_looks(table: list[list[float]], draw: Any) -> None:
    study = xs.Study(SPACE, scheduler=ASHA(EPOCHS, **RULES), method="random", seed=1)
    for _ in range(40):
        train_next(study, table)
        if draw.random() < 0.3:
            assert diverged(study) == plain(study.history)
    study.history.memo.clear()
    assert diverged(study) == plain(study.history)
