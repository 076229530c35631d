"""TPE: two densities, one of good configurations and one of the others, and the candidate with the largest ratio.

Choose it for conditional and discrete spaces, or where a decision may take no more than milliseconds, also after thousands of
trials. With a few continuous parameters ``GP()`` needs fewer trials. Under a scheduler with rungs it learns from the largest
budget that has enough observations; with Hyperband that is BOHB.

One suggestion:

    split       the best share γ of the observations are good; all others, failed and running trials are bad        (fit.py)
    l, g        Parzen estimators of both, with the prior as one more kernel                               (models/parzen.py)
    candidates  drawn from l; the one with the largest l/g that was not tried is suggested

Expected improvement grows with l/g (Bergstra et al. 2011, Section 4.1). Running trials are bad until they report (a constant
liar), so that workers who ask at the same time are sent apart.

References: Bergstra et al. (2011), Algorithms for hyper-parameter optimization, NeurIPS; Falkner et al. (2018), BOHB, ICML;
Watanabe (2023), Tree-structured Parzen estimator, arXiv:2304.11127.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.checks import check_counts, check_shares
from xstar.core.goals import Goals
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers.base import SEARCHERS
from xstar.searchers.bo.design import Design, before_model


@dataclass(frozen=True)
class TPE:
    """Tree-structured Parzen estimators, multivariate."""

    initial: int | None = None
    """Sobol points before the first estimate. The default is twice the number of parameters, between 5 and 12; under a
    scheduler with rungs the number of parameters plus one, between 4 and 10; with an architecture at least 10."""
    gamma: float = 0.1
    """γ: the share of the observations that are good, rounded up; 25 of them at most."""
    candidates: int = 24
    """How many are drawn from l. The more there are, the less is explored."""
    random_fraction: float = 0.0
    """The share of suggestions that are random. BOHB takes a third, which keeps Hyperband's guarantees."""

    def __post_init__(self) -> None:
        check_counts(self, {"initial": 1, "candidates": 1}, optional=("initial",))
        check_shares(self, "gamma", "random_fraction")

    def handles(self, goals: Goals) -> bool:
        """Good configurations are the first ones in the order of fronts."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        first = before_model(history, task, rng, Design("tpe", self.initial))
        if isinstance(first, Suggestion | Done):
            return first
        from xstar.searchers.tpe.fit import decide  # imported at use: SciPy loads slowly

        return decide(self, history, first, rng)


SEARCHERS.register("tpe", TPE)
