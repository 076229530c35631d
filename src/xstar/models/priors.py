"""Priors of the hyperparameters of Gaussian processes.

Targets are standardised, so these priors have no units. Every prior is a normal distribution, or a uniform one, over an
entry of ``theta``: μ itself, the logit of δ, and the logarithm of every other hyperparameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True, slots=True)
class Prior:
    """A normal prior within bounds, or a uniform one."""

    centre: float
    spread: float
    low: float
    high: float
    shared: float = 0.0
    """The standard deviation of a deviation that all hyperparameters with this prior have in common, besides ``spread`` of
    each: together they are normal with the covariance spread² I + shared² 11ᵀ."""
    flat: bool = False
    """Whether the density is the same everywhere within the bounds: ``centre`` is where a fit begins, ``spread`` its unit."""


def about(value: float, factor: float, low: float, high: float) -> Prior:
    """Return a log-normal prior, from the median, the factor of one standard deviation, and the bounds."""
    return Prior(np.log(value), np.log(factor), np.log(low), np.log(high))


def uniform(low: float, high: float) -> Prior:
    """Return a prior that is uniform in the logarithm, between bounds."""
    begin, end = np.log(low), np.log(high)
    return Prior((begin + end) / 2.0, (end - begin) / 4.0, begin, end, flat=True)


MEAN = Prior(0.0, 0.5, -3.0, 3.0)
"""Standardised targets have mean 0. The level far from the data may be higher than that, but not by much."""
ZERO_MEAN = Prior(0.0, 1.0, 0.0, 0.0)
"""The mean of standardised targets, not a hyperparameter."""
SCALE = about(1.0, 2.7, 0.02, 50.0)
"""Standardised targets have variance 1."""
NOISE = about(1e-3, 10.0, 1e-6, 1.0)
"""Most losses are reproducible to a few percent of their spread, some are exact, and some data are all noise."""
EXACT = 1e-8
"""The lower bound of σ² where losses may be exact. With 10⁻⁶, a search near an optimum of an exact function takes 0.001 of the
spread for noise, and refines the same digit again and again: on 14 development problems, three of them noisy (two seeds, 100
trials) the loss was lower with 10⁻⁸ in 7 searches and higher in 2."""
BUDGET_WARP = about(1.0, 2.0, 0.1, 10.0)
"""Learning curves fall fast at first, so warping of the budget is likely, and it is stronger."""
LENGTH = about(0.7, 2.0, 0.02, 20.0)
"""Length scale, in sides of the cube. Of the medians 0.5, 0.7 and 1.0, 0.7 had the best mean rank over fifteen
problems (five seeds, 100 evaluations)."""
SHARED_LENGTH = replace(about(0.7, 1.5, 0.02, 20.0), shared=1.0)
"""Length scales that have a factor in common, of 2.7 either way, and differ from it by 1.5. Independent priors need several
observations per parameter to learn that a function is smooth in all of them, or rough: with 4 seeds on 18 functions of
``harness/development.py`` the loss after 50 evaluations was lower in 50 searches and higher in 20 with a common factor of 2
and own ones of 1.65, other settings as here. Own factors of 2 were worse (30 and 39), a common one of 2.7 no different (35
and 34), but better under noise (7 and 1). A median that grows with √d was worse than none (37 and 35 beside 46 and 26)."""
SWITCH_LENGTH = replace(about(1.4, 1.5, 0.02, 20.0), shared=1.0)
"""Length scales of switches, where there is nothing else. Two strings of 20 at random differ in ten: with independent scales of
0.7 they tell nothing of each other, and after 24 trials of a knapsack nearly all scales were where the prior had put them,
after 40 half of them. On nine problems of switches of ``harness/development.py`` (two to three seeds) searches ended lower in
15 and higher in 3 after 25 and after 50 trials, in 6 and 3 after 100."""
OPTION_LENGTH = about(1.0, 2.0, 0.02, 20.0)
"""Length scale of a categorical parameter. Two options are √2 apart in one-hot columns, so this is the same prior. With
half this length scale, the regret on NAS-Bench-201 (CIFAR-100) after 50 evaluations was 1.2 instead of 0.07."""
ALPHA = about(1.0, 2.0, 0.05, 20.0)
"""The exponent of the power law that learning curves follow on average: between 1/4 and 4 with probability 95 %."""
BETA = about(0.1, 4.0, 1e-4, 10.0)
"""Where the curve begins to fall, as a share of the full budget: from one epoch of 200 to all of it with 95 %."""
GAMMA = about(1.0, 2.7, 1e-3, 20.0)
"""How far an untrained model lies above the mean, in standard deviations of the observations."""
LOGIT_DELTA = Prior(0.0, 1.5, -6.0, 6.0)
"""Nearly flat in δ between 0.05 and 0.95."""
