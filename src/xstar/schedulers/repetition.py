"""Whether trials of a study repeat each other: different configurations, the same learning curve to the last digit.

That is so where a parameter has no effect (a momentum that the chosen optimiser ignores, a size that is rounded) and training
is deterministic, or where curves come from a table. A model then suggests a good curve again and again, and its copies fill
the top of every rung. One equal loss proves nothing: many networks err alike after their first epoch. So trials count as
repeating each other once two of them have reported the same losses up to a rung, at least two of which differ.

This is the rule of ``ASHA(repeats="once")``, which studies keep that were begun with it; ``copies.py`` has the one of today.
"""

from __future__ import annotations

from xstar.journal import History


class Repetition:
    """A fold of the history: have two trials reported the same curve?"""

    def __init__(self) -> None:
        self.seen = False
        self._taken = 0
        self._latest: dict[tuple[int, float], int] = {}
        """The latest trial with this loss at this budget."""

    def catch_up(self, history: History) -> None:
        if self.seen:
            return
        observed = history.observed
        for place in range(self._taken, len(observed)):
            number, budget, loss = observed[place]
            other = self._latest.get((budget, loss), number)
            if other != number and _same_curve(history, number, other, budget):
                self.seen = True
                self._latest.clear()
                return
            self._latest[budget, loss] = number
        self._taken = len(observed)


def _same_curve(history: History, one: int, other: int, budget: int) -> bool:
    """Whether both reported the same losses at the same budgets up to this one, and not one loss throughout."""
    first, second = (
        [(r.budget, history.loss_of(r.metrics)) for r in history.trials[number].reports if r.budget <= budget]
        for number in (one, other)
    )
    return first == second and len({loss for _, loss in first}) > 1
