"""What to try while nothing is known but failures, or losses that are all the same.

Where all trials have failed, a classifier of failures favours what is farthest from them: the corners of the space, one after
the other, and then places beside them. It never looks inside. So every second trial is the next point of a Sobol sequence
instead. Where one trial has a value, there is no model of the loss either, and the others are steps from it, shorter after
each round of failures.

Trials until the first with a value, where 5 or 15 % of a cube of 2, 4 or 8 parameters have one (a box or a ball inside, a
band, a half, an edge, a corner; 216 searches of at most 60 trials): 12.2 with the classifier alone, which found none in 14 % of
them, 7.3 with Sobol points alone, 6.8 with both in turn (off record). Whole searches are in ``benchmarks/generality.py --part
blind``.

Where all losses are the same, as where trials return a penalty or an accuracy is that of chance, a model of the loss goes to
the corners as well, and every second trial spreads, too (``--part penalties``); and so it does while a model takes nearly all
that losses differ by for noise, as those of chance do.

At rungs every trial spreads while all losses are the same. There few are trained on, and with one worker and the time of ten
trainings, searches where the first three tenths of all curves are at chance ended lower than with every second one in 18 and
higher in 3 (``benchmarks/kinds.py``, two tasks, 16 seeds; not on record).
"""

from __future__ import annotations

import numpy as np

from xstar.journal import History
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.model_based.steps import next_step
from xstar.searchers.sobol import BLOCK, place
from xstar.trial import Done, Origin, Suggestion

ENOUGH = 2
"""The losses or metrics from which a model is made."""
FIRST = BLOCK // 2
"""The first of its Sobol points: those of the initial design come before. One after the other, because every second one of a
Sobol sequence has its first coordinate in one half."""
SHORTEST = 2.0**-12
WHILE_LEVEL = ("level", "rungs")
"""The rules by which trials spread while losses are all the same, too."""


def next_trial(
    history: History, data: Observations, rng: np.random.Generator, method: str, rule: str, *, steps: bool
) -> Suggestion | Done | None:
    """Return a trial that spreads, or a step from the only one with a value; ``None`` if the choice is the model's."""
    if data.networks or len(data.measured) >= ENOUGH:
        return None
    same = rule in WHILE_LEVEL and data.count >= ENOUGH and bool((data.loss == data.loss[0]).all())
    if not same and (data.count >= ENOUGH or not data.failed):
        return None
    started = len(history.trials)
    known = "all losses are the same" if same else "one trial has a value" if data.count else "no trial has a value"
    if same and rule == "rungs" and len(history.levels) > 1:
        return spread(history, rng, method, known, every=1)
    if has_turn(history, data):
        return spread(history, rng, method, known)
    if not steps or data.count != 1:
        return None
    rounds = (started - 1 - int(data.trial[0])) // (2 * data.cube.width)
    drawn = next_step(history, data, rng, turn=started // 2, share=max(0.5**rounds, SHORTEST))
    return None if drawn is None else Suggestion(drawn.config, Origin(method, f"{drawn.origin}, {known}"))


def has_turn(history: History, data: Observations) -> bool:
    """Return whether the next trial is one that spreads: every second one."""
    return bool(len(history.trials) % 2) and not data.networks


def spread(history: History, rng: np.random.Generator, method: str, why: str, every: int = 2) -> Suggestion | Done:
    """Return the next point of a Sobol sequence, from which one trial in ``every`` is taken."""
    drawn = place(history, history.space, rng, FIRST + len(history.trials) // every)
    return drawn if isinstance(drawn, Done) else Suggestion(drawn.config, Origin(method, f"{drawn.origin}, {why}"))
