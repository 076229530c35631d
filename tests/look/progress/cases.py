"""Studies with a clock that stands still until it is set."""

from __future__ import annotations

import xstar as xs
from tests.clocks import study_at


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_study(clock: Clock | None = None, **options: object) -> xs.Study:
    if "scheduler" not in options:
        options.setdefault("method", "random")
    return study_at(clock or Clock(), xs.Space(x=xs.Float(0, 1)), seed=1, **options)
