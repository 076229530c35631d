"""An initial design of steps: each trial moves one parameter of the best trial so far, the first of which is the middle.

After one step of each parameter a model knows the slopes, and what was better on the way was kept. Sobol points in many
dimensions are far from each other and from the optimum, so that a model learns its first slope late. Nevergrad's optimiser
begins with such steps (Powell's COBYLA), and was ahead of a GP with Sobol points after 25 evaluations wherever losses are
smooth.

Losses on 18 functions of ``benchmarks/harness/development.py`` (4 seeds, length scales with a common factor), beside
nevergrad: lower in 49 searches and higher in 23 after 25 evaluations, where four Sobol points in the inner half of the space
gave 37 and 35, and twelve Sobol points without the common factor 26 and 52; after 50, 47 and 25, instead of 48 and 24, and 42
and 36.
"""

from __future__ import annotations

import numpy as np

from xstar.journal import History
from xstar.searchers.model_based.observations import Observations, feasible_places
from xstar.trial import Suggestion

STEP = 0.2
"""In sides of the cube. Between 0.17 and 0.25 there was no difference (33 searches lower and 39 higher after 25 evaluations,
36 and 34 after 50)."""
LENGTHS = (STEP, 2 * STEP, 4 * STEP)
"""The lengths of a step that has to change a parameter: one of two values is a quarter from either end."""
FEWEST = 3
MOST_PARAMETERS = 20
"""With more, a model learns more from Sobol points than from the first of many steps."""


def trials_of_steps(d: int) -> int:
    """Return the trials of a design for ``d`` parameters: the middle, and a step of each."""
    return max(d + 1, FEWEST)


def next_step(
    history: History,
    data: Observations,
    rng: np.random.Generator,
    *,
    lengthened: bool = False,
    turn: int | None = None,
    share: float = 1.0,
) -> Suggestion | None:
    """Return a step of the next parameter, up or down at random; ``None`` if no loss is known, or all steps were tried.

    ``lengthened``: a step that leaves a parameter of few values as it is, is doubled until it does not. ``turn``: which
    parameter, if it is not the trial's number that says so. ``share``: of the usual length.
    """
    known = feasible_places(history, data, np.arange(data.count))
    if not len(known):
        return None
    cube, best = data.cube, int(known[np.argmin(data.loss[known])])
    for place in range(cube.width):
        column = ((len(history.trials) - 1 if turn is None else turn) + place) % cube.width
        way = 1.0 if rng.random() < 0.5 else -1.0
        for length in LENGTHS if lengthened else LENGTHS[:1]:
            row = data.X[best].copy()
            step = way * share * length
            row[column] += step if 0.0 <= row[column] + step <= 1.0 else -step
            row = cube.snap(row[None])[0]
            if row[column] != data.X[best, column]:
                break
        config = cube.decode(row)
        if history.tried(config) is None:
            parameter = cube.labels[cube.groups[column]]
            return Suggestion(config, f"a step of {parameter} from trial {data.trial[best]}")
    return None
