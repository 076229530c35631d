"""Grid search: every combination once, in order.

Choose it for small spaces that you want to tabulate completely; any other method finds a good configuration sooner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np

from xstar.core.checks import check_counts
from xstar.core.goals import Goals
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.space import Domain, Float, Int, Parameter, Space

LARGEST_GRID = 1_000_000
"""A grid is stored in memory; one with more points than this is a mistake (20 parameters at 5 points are 10¹³)."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The full grid. Numbers with many values are sampled at ``points`` positions, equally spaced when encoded."""

    points: int = 5

    def __post_init__(self) -> None:
        check_counts(self, {"points": 2}, remedies={"points": "e.g. Grid(points=5)"})

    def size(self, space: Space) -> int:
        """Return the number of grid points."""
        return len(_grid(space, self.points))

    def handles(self, goals: Goals) -> bool:
        """It looks at no loss."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        grid = _grid(history.space, self.points)
        # The next point is after the latest on record: compared with configurations from another machine, a point of the grid
        # may differ in the last digit. Beyond it, only points that a user enqueued or added are skipped.
        origins = (trial.origin for trial in reversed(history.trials) if trial.origin.method == "grid")
        latest = next((origin.numbers["point"] for origin in origins if "point" in origin.numbers), 0)
        for index in range(latest, len(grid)):
            if history.tried(grid[index]) is None:
                origin = Origin("grid", "point {point} of {points}", point=index + 1, points=len(grid))
                return Suggestion(dict(grid[index]), origin)
        return Done(f"all {len(grid):,} points of the grid have been tried")


@lru_cache(maxsize=4)
def _grid(space: Space, points: int) -> list[Config]:
    # Without conditions the size is known in advance; with conditions it is only known after the walk.
    if (
        not space.structure.when
        and math.prod(min(_values(p), points) for p in space.parameters.values()) > LARGEST_GRID
    ):
        raise _too_large(space, points)
    grid = list(islice(space.grid(points), LARGEST_GRID + 1))
    if len(grid) > LARGEST_GRID:
        raise _too_large(space, points)
    return grid


def _values(parameter: Parameter | Domain) -> float:
    return parameter.size if isinstance(parameter, Float | Int) else 1


def _too_large(space: Space, points: int) -> InvalidArgument:
    rule, found = f"a grid may have at most {LARGEST_GRID:,} points", f"points={points} with {len(space)} parameters"
    return InvalidArgument("method", rule, found, "use fewer points, or method='sobol', which needs no grid")


SEARCHERS.register("grid", Grid)
