"""Fronts that are kept as rows come are those of all rows at once."""

import numpy as np
import pytest

from xstar.core.pareto import FINE, fronts, spread_order
from xstar.journal.fronts import Fronts


@pytest.mark.parametrize("m", [2, 3, 5])
@pytest.mark.parametrize("equal", [False, True])
def test_fronts_that_are_kept_are_those_made_anew(m: int, equal: bool) -> None:
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 6, (120, m)).astype(float) if equal else rng.random((120, m))
    kept = Fronts(m)
    for n, row in enumerate(Y, 1):
        found = kept.front_of(row) if n > 40 else None  # before, many wait and are sorted together
        kept.add(row)
        if n > 40:
            assert kept.numbers.tolist() == fronts(Y[:n]).tolist()
            assert kept.numbers[-1] == found


def test_a_large_front_is_spread_until_its_rows_are_close_to_one_another() -> None:
    x = np.sort(np.random.default_rng(0).random(5 * FINE))
    order = spread_order(np.column_stack([x, 1.0 - x]))
    assert sorted(order.tolist()) == list(range(len(x)))
    away = np.abs(x[order[FINE:], None] - x[order[:FINE]]).min(axis=1) / (x[-1] - x[0])
    assert away[0] < 0.02
    assert (np.diff(away) <= 1e-12).all()
