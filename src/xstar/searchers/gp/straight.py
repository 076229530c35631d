"""Over budgets: two searches, along the rungs and straight to the end, that take turns or run beside each other.

Rungs find a good region with little: a bad configuration costs 1/27 of a training. Within that region they tell less and less,
as all suggestions are good after a few epochs, and which is the best in the end is another matter; and since few trials are
trained to the end, a model over (x, r) learns slowly what is good there. A search that goes on for long ended behind the plain
GP that trains every trial to the end.

So once there are a few complete trials, new ones may also go *straight*: a plain GP that knows the complete trials alone
suggests them, and they train to the end without a comparison at any rung (in a bracket of their own, ``New.straight``). Both
searches learn from what the other completes. With one worker they take turns: whichever has not improved on the best complete
trial for the epochs of ``PATIENCE`` trainings makes way for the other. With several, a share of the trials at a time goes
straight that rises with what has been spent (``SHARES``).

Notation

===============  ====================================================================================
symbol           meaning
===============  ====================================================================================
``d``            the number of parameters
``spent``        epochs of this search so far, as reports at rungs tell
``at_a_time``    trials that run with the new one
``since``        epochs that the search whose turn it is has spent since it improved, or since its turn began
===============  ====================================================================================
"""

from __future__ import annotations

import math

from xstar.journal import History
from xstar.searchers.model_based.observations import constraint_metrics, within
from xstar.trial import New, Origin, Suggestion

PATIENCE = 2.0
"""In trainings. On the development tasks of ``benchmarks/alone.py`` (one worker, 28 searches of 20 tasks; not on record) losses
after the time of 16, 32, 50 and 100 trainings were lower – higher than along the rungs alone in 14–14, 18–10, 17–11 and 16–12
with 2, in 12–15, 16–11, 14–13 and 14–13 with 4, in 13–14, 13–14, 10–18 and 13–15 with 8, and in 13–14, 12–15, 9–19 and 12–16
if trials that go straight never make way."""
WORTH = 0.5
"""Turns begin when the epochs of so many trainings per parameter (and one) have been spent, and ``FEWEST`` trials are
complete. The first is that of trials that go straight. With twice as many (and a patience of 4) it was 15–12, 18–10, 13–15 and
14–14."""
FEWEST = 3

SHARES = ((8.0, 0.75), (4.0, 0.5), (1.0, 0.25))
"""The share of the trials at a time that may go straight, from so many trainings for each of them on. On the development tasks
of ``benchmarks/budgets.py`` (four at a time, four seeds; off record) losses after 4, 6, 10, 15 and 30 trainings for each were
lower – higher than along the rungs alone in 24–27, 36–24, 41–26, 46–25 and 46–27 searches, and than of the plain GP in 61–19,
61–18, 54–25, 51–27 and 42–31 (along the rungs alone 63–17, 61–18, 57–23, 46–32 and 34–40). If the first step was at two
trainings, they were lower – higher in 18–25, 21–31, 35–31, 35–34 and 43–32 than along the rungs alone; with a quarter
throughout in 24–27, 36–24, 37–29, 50–21 and 44–27, in two and a half times the processor time; with a half at once in 10–22,
16–21, 16–20, 21–16 and 25–11 (two seeds); if all at a time take turns in 9–23, 15–20, 18–18, 19–18 and 22–15 (two seeds)."""


class Turns:
    """A fold of the history: whose turn it is."""

    def __init__(self) -> None:
        self.straight = True
        self.complete = 0
        """Reports at the full budget."""
        self.spent = 0
        self._taken = 0
        self._since = 0
        self._best = math.inf
        self._reached: dict[int, int] = {}

    def catch_up(self, history: History) -> None:
        levels, observed = history.levels, history.observed
        top, patience, begin = levels[-1], PATIENCE * levels[-1], _beginning(history)
        for place in range(self._taken, len(observed)):
            number, budget, loss = observed[place]
            better = budget == top and loss < self._best and _feasible(history, number, budget)
            self.complete += budget == top
            self._best = loss if better else self._best
            if (bracket := history.trials[number].bracket) < 0:
                continue  # it was added by hand
            epochs = budget - self._reached.get(number, 0)
            self._reached[number] = budget
            self.spent += epochs
            if self.spent < begin:
                continue
            if (bracket == len(levels) - 1) == self.straight:
                self._since = 0 if better else self._since + epochs
            if self._since >= patience:
                self.straight, self._since = not self.straight, 0
        self._taken = len(observed)


def _beginning(history: History) -> float:
    return WORTH * (len(history.space) + 1) * history.levels[-1]


def _feasible(history: History, number: int, budget: int) -> bool:
    if not history.created.constraints:
        return True
    metrics = constraint_metrics(history, number, budget)
    return metrics is not None and within(history, metrics)


def goes_straight(history: History, task: New, running: int, beside: str) -> bool:
    """Whether a new trial is to train to the end at once: if it is the turn of those that do, while fewer than ``running``
    other trials run; else, if their share has not been reached and is ``rising``.

    Not after other studies have brought something along, as with architectures: neither was compared.
    """
    if task.straight is None or history.brought:
        return False
    alone = len(history.running) < running
    if not alone and beside == "never":
        return False
    turns = history.memo.fold(Turns, history)
    if turns.complete < FEWEST:
        return False
    if alone:
        return turns.straight and turns.spent >= _beginning(history)
    return _is_beside(history, turns.spent, task.straight)


def _is_beside(history: History, spent: int, bracket: int) -> bool:
    """Whether one more of the trials at a time goes straight."""
    at_a_time = len(history.running) + 1
    each = spent / (at_a_time * history.levels[-1])
    share = next((share for begin, share in SHARES if each >= begin), 0.0)
    places = int(share * at_a_time)
    return places > 0 and sum(trial.bracket == bracket for trial in history.running.values()) < places


def straight(made: Suggestion, top: int) -> Suggestion:
    """The suggestion with the full budget, and an origin that says so."""
    origin = Origin.of(made.origin)
    detail = origin.detail if origin.numbers else origin.detail.replace("{", "{{").replace("}", "}}")
    return Suggestion(
        made.config, Origin(origin.method, detail + ", straight to {top}", **origin.numbers, top=top), top
    )
