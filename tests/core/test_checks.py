"""One rule for whole numbers, wherever they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from xstar.core.checks import whole_number
from xstar.core.goals import DEFAULT
from xstar.errors import InvalidArgument
from xstar.run import ProcessExecutor
from xstar.schedulers import ASHA, FIFO, Median
from xstar.searchers import DNGO, GP, Grid
from xstar.searchers.bo.observations import Table


@pytest.mark.parametrize("given", [4, np.int64(4), np.uint8(4), 4.0, np.float32(4.0)])
def test_what_counts_as_a_whole_number(given: Any) -> None:
    found = whole_number("workers", given, least=1)
    assert found == 4
    assert type(found) is int


@pytest.mark.parametrize("given", [True, "4", None, 2.5, float("nan"), float("inf"), 0, -3, [4]])
def test_what_does_not(given: Any) -> None:
    with pytest.raises(
        InvalidArgument, match=r"workers: must be a whole number of at least 1, but got .*; e.g. workers=4"
    ):
        whole_number("workers", given, least=1, remedy="e.g. workers=4")


def test_numpy_integers_are_taken_everywhere() -> None:
    three: Any = np.int64(3)
    parts = (FIFO(three), ASHA(27 * three // 3, eta=three), Median(three), Grid(points=three), GP(fantasies=three))
    assert [type(part.max_budget) for part in parts[:3]] == [int] * 3
    assert type(parts[3].points) is int
    assert ASHA(27 * three // 3, eta=three).rungs == (1, 3, 9, 27)
    assert DNGO(networks=three) == DNGO(networks=3)
    assert xs.Limits(trials=three) == xs.Limits(trials=3)
    ProcessExecutor(len, DEFAULT, three // 3).close()


def test_a_table_grows() -> None:
    table, expected = Table(3), np.random.default_rng(0).random((500, 3))
    for start in range(0, 500, 7):
        table.append(expected[start : start + 7])
    assert table.count == 500
    np.testing.assert_array_equal(table.rows, expected)
