"""Words for numbers."""

from __future__ import annotations

import pytest

from xstar.core.words import seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.123, "0.12 s"),
        (12.34, "12.3 s"),
        (59.99, "60.0 s"),
        (65.2, "1 min 05 s"),
        (3599.7, "1 h 00 min"),
        (11_520, "3 h 12 min"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    assert seconds(value) == text
