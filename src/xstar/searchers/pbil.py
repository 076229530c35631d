"""PBIL: a distribution over the whole space, improved by natural gradient, without tuning parameters.

Choose it for many discrete parameters (masks of features, layers or connections; hundreds of switches) and objectives
that are cheap enough for hundreds of trials or more. The time of a suggestion is linear in the number of parameters and
does not depend on the number of trials. For fewer than a hundred trials and a few parameters, a model-based method is
the better choice.

Generations. Trials are drawn in generations of λ, each from one distribution. Generation g + 1 opens as soon as λ
trials of generation g have been *drawn*, without waiting for their results. When a generation opens, the distribution
is updated with every earlier generation whose trials all have results and that was not used before, in ascending order.
The trials of a generation are ranked among themselves, and the step is applied to the current distribution, with the
gradient of the distribution from which they were drawn. A late result therefore delays only its own generation. With
one worker this is exactly Algorithm 1.

    pbil: generation 12                      drawn from the distribution of generation 12
    pbil: generation 13, learned 9-10 12     the first of its generation; it opened after updates from those three
    pbil: generation 13, again 4             trial 4 was drawn once more: its result counts in this generation, too
    pbil: generation 12, again 7; generation 13, learned 12     trial 7 filled generation 12, and 13 opened

The journal stores these origins. Together with the results they determine the state completely: which generations had
their results when the next one opened does not depend on a clock.

Results. A trial has a result when it ends, or pauses for the first time. Trials are ranked by the budget reached there
(more is better), then by the loss. Failed and infeasible trials come last, and ties share a rank. Trials that a user
enqueued or added were not drawn from the distribution and are not used for updates.

Repetitions. In a finite space no configuration is suggested twice. If a draw repeats a tried configuration, its old
result is used in its place, if necessary for several generations, until an untried configuration is drawn: Algorithm 1
with a cache. (Redrawing until a configuration is untried, without counting the known ones, samples from a different
distribution: a search that did so for the last trial of each generation had not found the optimum of LeadingOnes-50
after 20,000 trials in any of 3 runs; this one takes 8,416, the median of 3.)

References: Nishida et al. (2018), Algorithm 1; ``igo/`` for the mathematics and its notation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.goals import Goals
from xstar.errors import InvalidArgument
from xstar.igo.adaptation import WEIGHTS, Settings
from xstar.igo.generations import METHOD, Generations
from xstar.journal import History
from xstar.journal.known import RULED_OUT
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS, at_random, exhausted

DRAWS = 64
"""Draws for one suggestion before an untried configuration is drawn from the prior. At the margins, two draws in three
differ from the most probable configuration, and one in four differs in two variables or more. The limit is reached only
when a small space is nearly exhausted.
"""


@dataclass(frozen=True, slots=True)
class PBIL:
    """Natural-gradient search in any space."""

    adapt: str = "samples"
    """``samples``: PBIL-λ, which adapts the size of a generation; ``step``: PBIL-ε, with generations of two; ``none``:
    neither, as in cGA and UMDA."""
    weights: str = "quarters"
    """How much the ranks of a generation count (``igo/adaptation.py``): ``quarters``, ``truncation``, ``umda`` or
    ``exponential``, which takes ranks for losses here."""
    step: float | None = None
    """ε; the default is n^(−½) for n parameters of the distribution."""
    samples: int | None = None
    """λ, or the least λ if it is adapted; the default is 2."""

    def __post_init__(self) -> None:
        if self.weights not in WEIGHTS:
            raise InvalidArgument("weights", f"must be one of {', '.join(WEIGHTS)}", self.weights, "leave it out")
        Settings.of(10, self.adapt, self.step, self.samples)  # says what is wrong with the others

    def handles(self, goals: Goals) -> bool:
        """A generation is ranked by fronts."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        fold = history.memo.get(Generations, self)
        if fold is None:
            try:
                fold = Generations.new(history.space, self.adapt, self.weights, self.step, self.samples)
            except InvalidArgument as error:
                return at_random(history, rng, f"pbil has nothing to learn about, {error.rule}")
        fold = history.memo.put(fold.caught_up(history), self)
        draft = fold.copy()
        for _ in range(DRAWS):
            generation = draft.current(history)
            config = draft.layout.config(draft.core.family.draw(generation.theta, 1, rng)[0], rng)
            known = history.tried(config)
            if known is None or history.space.size == float("inf"):
                steps = [(generation, [*learned], [*again]) for generation, learned, again in draft.steps]
                draft.origin = Origin(METHOD, "; ".join(draft.segments()), steps=steps)
                fold.draft = draft
                return Suggestion(config, draft.origin)
            if known != RULED_OUT:
                draft.add(known)
        return at_random(history, rng, f"pbil: generation {fold.newest} and on drew nothing but tried ones")


SEARCHERS.register("pbil", PBIL)
