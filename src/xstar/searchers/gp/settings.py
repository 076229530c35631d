"""Settings of the searchers whose surrogate is a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

from xstar.core.checks import check_counts, check_names, check_shares, check_switches
from xstar.core.values import as_float
from xstar.errors import InvalidArgument
from xstar.searchers.base import BLIND, COPIES, DESIGNS, PENALTIES

SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
SHAPES = ("matern52", "rbf")
LENGTHS = ("independent", "shared", "alike")
STRUCTURES = ("product", "additive", "evidence")
EXPLORE_WHEN = ("always", "unexplained", "noisy")
SAFE_WHEN = ("always", "numbers")
DIVERGED = ("failed", "bad")
SILENT = ("keep", "leave", "narrow")
STRAIGHT_BESIDE = ("never", "rising")
EFFORTS = ("thorough", "lean")
PENDING = ("fantasies", "hallucination", "ignored")
ACQUISITIONS = ("ei", "ucb", "thompson")
ACQUIRE_AT = ("full", "reached")
REFITS = ("growth", "full-budget")
TRUSTS = ("learned", "constant")
TRUST_AT = ("comparable", "largest")
PRIOR_WEIGHT = 30.0
"""Evaluations to reach what a search without priors reached after 30 and 45, as a share of the latter's (geometric mean over
Branin, Hartmann6, Rosenbrock4 and Levy6, ten seeds): 0.34 with a good prior (0.40 with β = 10, 0.35 with 100), 1.04 with one in
the opposite corner."""
MOST_PENDING = 256
"""The trials that were started last stand where the model last wanted to look, and would be suggested again without them. Each
is a row of the Cholesky factor, in every decision: with a thousand of them one took 0.25 s, with ten thousand five did not end
within two minutes. On 500 workers (``curves-mlp``, 1,200 trials, two seeds) the regret with this limit was 0.016 and 0.005, and
0.019 and 0.010 without it."""


@dataclass(frozen=True)
class GPSettings:
    """Settings that ``GP`` and ``NASBOT`` share (abstract)."""

    initial: int | None = None
    """Sobol points before the first model-based suggestion. The default is twice the number of parameters, between 5
    and 12. Under a scheduler with rungs it is the number of parameters plus one, between 4 and 10. With an architecture
    it is at least 10, and the networks come from its pool."""
    middle: bool = False
    """Begin with the middle of a space of numbers, at the full budget. Losses after 100 trials on functions of 20 to 50
    parameters (``benchmarks/generality.py``, one seed): Levy 16.1 → 11.6, Ackley 19.7 → 5.3, Rosenbrock 196 → 138,
    Styblinski–Tang 546 → 463, an ellipsoid 23,700 → 8,300. From there, a trust region around the best (TuRBO) was lower on
    two of them and higher on three; length scales that grow with √d were no better (lower on two of four, higher on
    two)."""
    design: str = "sobol"
    """The trials of the initial design after the middle: Sobol points, or ``steps`` from the best trial so far, each of one
    parameter (``model_based/steps.py``)."""
    surrogate: str = "matern-warped"
    """Surrogate of f(x, r) under a scheduler with rungs: ``matern-warped``, ``matern``, ``decay`` (δ is learned),
    ``decay-0`` or ``decay-1`` (δ is 0 or 1)."""
    shape: str = "matern52"
    """Kernel over configurations: ``matern52`` or ``rbf``."""
    structure: str = "product"
    """Kernel at the full budget: the ``product`` over all parameters; ``additive``, with a term for each parameter alone
    added to it; or whichever the ``evidence`` favours."""
    lengths: str = "independent"
    """The prior of the length scales of numbers at the full budget: ``independent`` (``priors.LENGTH``), or with a factor
    that all of them have in common, ``shared`` (``priors.SHARED_LENGTH``), where all parameters are numbers, and at most 20.
    Beside options it was no better (16 problems with options or tables, 4 seeds: lower in 10 searches, higher in 16 after 50
    trials). ``alike``: also where all of them are switches (``priors.SWITCH_LENGTH``), however many."""
    warp: bool = False
    """Learn a warping of the range of each numeric parameter."""
    straighten: bool = True
    """Transform skewed losses (Yeo–Johnson)."""
    penalties: str = "keep"
    """A largest loss that several trials have and that is far above all others, as where trials that fail return a penalty:
    ``keep`` it as it is, or ``lower`` it (``models/standardise.py``), so that the others can be told apart."""
    samples: int = 0
    """Number of hyperparameter draws over which the acquisition function is averaged; 0: use the MAP estimate."""
    starts: int = 1
    """Number of starting points for optimising the hyperparameters."""
    acquisition: str = "ei"
    explore_every: int = 4
    """At full budget, one suggestion in this many aims for an improvement by one standard deviation of the losses
    instead of any improvement; 0: none."""
    explore_when: str = "always"
    """Whether that is so ``always``, or only while losses are ``noisy``: while the standard deviation of the noise, as learned,
    is above ``fit.UNEXPLAINED``; ``unexplained``: then, and once a trial has failed. Beside choices, switches and bits it is
    always so."""
    explore_running: int = 0
    """Over budgets, one suggestion in ``explore_every`` explores while fewer other trials than this run, whatever
    ``explore_when`` says; 0: none."""
    straight_running: int = 0
    """Over budgets and without architectures, while fewer other trials than this run, new trials that train to the end at once
    take turns with those that begin at the lowest rung (``straight.py``); 0: they take no turns."""
    straight_beside: str = "never"
    """Whether, while as many other trials run or more, a ``rising`` share of the trials at a time trains to the end at once;
    ``never``: none does."""
    cautious: bool = False
    """Suggest what would probably fail only where all that was compared would. On four problems of
    ``benchmarks/generality.py`` with a region that fails, 25 searches of 100 trials, 17.3 trials failed instead of 21.0; the
    losses were lower in 6 searches and higher in 4 after 25 trials, in 6 and 6 after 50, in 4 and 2 after 100."""
    safe: float = 0.5
    """Where ``cautious``, what has a value with at least this probability comes before what only probably has one. On the same
    problems, 16 searches of 100 trials, 17 trials failed with 0.5, 7 with 0.8 and 5 with 0.9, and those with 0.9 ended far
    from the optimum in four searches, instead of one with 0.5 and none with 0.8."""
    safe_when: str = "always"
    """Whether that is so ``always``, or only where all parameters are ``numbers``: beside options, what probably has a value is
    as good. Where options have to suit each other, none but the first combination with a value is ever safe
    (``searcher.SAFE_WHEN``)."""
    blind: str = "classifier"
    """While fewer than two trials have a value and all others have failed: go where the ``classifier`` of failures favours, or
    ``spread`` with every second trial (``model_based/blind.py``); ``level``: also while all losses are the same, or
    nearly all that they differ by is noise to the model (``fit.ALL_NOISE``); ``rungs``: and with every trial while all losses
    are the same at the rungs of a scheduler."""
    silent: str = "keep"
    """Over budgets, rungs below the full budget that say nothing: ``leave`` those out of the model at which nine trials or more
    have all had the same loss, or ``narrow`` ones, too, whose losses differ by little more than noise
    (``journal/silence.py``); ``keep`` all."""
    diverged: str = "bad"
    """Over budgets, a trial whose loss has risen far from one rung to the next (``journal/divergence.py``): it counts as
    ``failed``, or has a ``bad`` loss like others."""
    exhausted: float = 0.0
    """At full budget, a place is exhausted if the expected improvement there is below this share of the standard deviation of
    the noise; then the suggestion is another place. 0: never."""
    patience: int = 0
    """At full budget and without architectures, the trials without improvement after which every second suggestion is that of a
    search that begins anew, unless losses are noisy (``model_based/restarts.py``); 0: never."""
    effort: str = "thorough"
    """What a suggestion may cost, at full budget and without architectures. ``lean``: the best candidates climb to maxima of
    the acquisition function each by itself instead of together (``acquisition/ascent.py``), a quarter fewer of them are scored
    where all parameters are numbers, hyperparameters are fitted when the observations have grown by a fifth instead of a tenth,
    and structures are compared when they have grown by a half instead of a quarter."""
    robust: bool = False
    """At full budget and without architectures, leave out losses that lie far above what all others predict
    (``models/outliers.py``)."""
    exact: bool = False
    """Losses may be exact: at full budget the variance of the noise has the lower bound ``priors.EXACT``."""
    pending: str = "fantasies"
    fantasies: int = 20
    most_pending: int | None = MOST_PENDING
    """Of more running trials than this only those that were started last are fantasised; ``None``: all of them."""
    acquire_at: str = "full"
    """Over budgets, where the acquisition function is evaluated: at the ``full`` budget, or at the highest rung
    ``reached`` by as many observations as there are parameters (the rule of the paper)."""
    copies: str = "ignore"
    """Over budgets, where trials have proved to be copies of each other: ``avoid`` their surroundings
    (``model_based/away.py``), or ``ignore`` that they are."""
    refit: str = "growth"
    """``growth``: refit when the data have grown by a tenth; ``full-budget``: only if a trial has reached the full
    budget since."""
    limit: int = 500
    """Maximum number of observations that the model is fitted to."""
    prior_weight: float = PRIOR_WEIGHT
    """β of πBO: where parameters have a ``prior=``, the acquisition function is multiplied by its density to the power of
    β τ/n after n observations; 0: the prior places the first trials only."""
    prior_trust: str = "learned"
    """τ, how much priors are trusted: ``learned`` from how much better the trials were that they favour, in which case they
    place some of the first trials only, or ``constant`` (τ = 1), in which case they place all of them."""
    trust_at: str = "comparable"
    """The budget whose losses say how much better: the largest one with more observations than parameters (``largest``), and
    with some that priors favour and some that they do not (``comparable``)."""

    def __post_init__(self) -> None:
        check_names(
            self,
            {
                "surrogate": SURROGATES,
                "shape": SHAPES,
                "design": DESIGNS,
                "structure": STRUCTURES,
                "lengths": LENGTHS,
                "acquisition": ACQUISITIONS,
                "explore_when": EXPLORE_WHEN,
                "blind": BLIND,
                "silent": SILENT,
                "straight_beside": STRAIGHT_BESIDE,
                "diverged": DIVERGED,
                "penalties": PENALTIES,
                "safe_when": SAFE_WHEN,
                "effort": EFFORTS,
                "pending": PENDING,
                "acquire_at": ACQUIRE_AT,
                "copies": COPIES,
                "refit": REFITS,
                "prior_trust": TRUSTS,
                "trust_at": TRUST_AT,
            },
        )
        least = {
            "initial": 1,
            "samples": 0,
            "starts": 1,
            "explore_every": 0,
            "fantasies": 1,
            "limit": 10,
            "patience": 0,
        }
        least |= {"most_pending": 1, "explore_running": 0, "straight_running": 0}
        check_counts(self, least, optional=("initial", "most_pending"))
        check_switches(self, "middle", "warp", "straighten", "cautious", "robust", "exact")
        check_shares(self, "exhausted", "safe")
        object.__setattr__(self, "prior_weight", checked_weight(self.prior_weight))

    @property
    def learns_trust(self) -> bool:
        """Whether the weight of priors depends on how right they prove."""
        return self.prior_trust == "learned" and self.prior_weight > 0.0 and self.acquisition != "thompson"


def checked_weight(given: object) -> float:
    """Return a weight of priors as a number."""
    weight = as_float(given)
    if weight is None or weight < 0.0:
        raise InvalidArgument("prior_weight", "must be a number of at least 0", given, "e.g. 10")
    return weight
