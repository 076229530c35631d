"""Curves in a few characters."""

from __future__ import annotations

import math

import pytest

from xstar.look.progress.picture import BARS, CURVE, sparkline


@pytest.mark.parametrize(
    ("values", "curve"),
    [
        ([], ""),
        ([3.0], "▁"),
        ([2.0, 2.0], "▁▁"),
        ([0.0, 1.0], "▁█"),
        ([float(step) for step in range(8)], BARS),
        ([1.0, math.nan, 0.0, math.inf], "█ ▁ "),
        ([math.nan], " "),
        ([-1.7e308, 1.7e308, 0.0], "▁█▅"),  # whose difference is infinite
    ],
)
def test_a_curve(values: list[float], curve: str) -> None:
    assert sparkline(values) == curve


def test_a_long_curve_keeps_its_ends_and_its_shape() -> None:
    curve = sparkline([1 / (1 + step) for step in range(1000)])
    assert len(curve) == CURVE
    assert curve[0] == "█"
    assert curve[-1] == "▁"
    assert sparkline([float(step) for step in range(1000)]) == "".join(sorted(sparkline(list(map(float, range(1000))))))
