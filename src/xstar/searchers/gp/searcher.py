"""Bayesian optimisation with a Gaussian process: asynchronous, at full budget or over budgets.

Choose it when a training run takes longer than a few seconds and there will be at most some thousand of them. Under a scheduler
with a ladder it models f(x, r) over configurations and budgets, which with ASHA is MOBSTER.

One suggestion, in the words of MOBSTER's Algorithm 1:

    observed     rows of the model, whose hyperparameters were fitted at the last count of a schedule      (gp_model.py)
    new          observations since then: rows below its Cholesky factor
    pending      what runs, at the budget it runs to
    fantasised   M joint draws of their outcomes, each a column of the whitened targets           (acquisition/pending.py)

then the acquisition at the budget r_acq is maximised, and the best configuration that was not tried before is suggested.

Two defaults differ from the paper's, because ``benchmarks/mobster.py`` says so: the surrogate is the Matérn kernel over (x, r)
with r warped, not the exponential decay with δ learned, which takes longer to reach ASHA's regret with either scheduler
(though under stopping it ends no higher); and r_acq is the full budget, not the highest one reached often.
Where one epoch says nothing about the last (some of LCBench), the decay model carries its noise up to the full budget, and an
acquisition at one epoch seeks configurations that are good after one epoch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.checks import check_counts, check_names, check_switches
from xstar.core.values import as_float
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.searchers.base import SEARCHERS
from xstar.searchers.model_based import initial
from xstar.searchers.model_based.observations import Observations
from xstar.space.cube import cube_of
from xstar.trial import Done, New, Suggestion

SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
SHAPES = ("matern52", "rbf")
PENDING = ("fantasies", "hallucination", "ignored")
ACQUISITIONS = ("ei", "ucb", "thompson")
ACQUIRE_AT = ("full", "reached")
REFITS = ("growth", "full-budget")
DISTANCES = ("both", "plain", "normalised", "none")
MODIFIERS = ("all", "units", "structure")


@dataclass(frozen=True)
class GP:
    """A Gaussian process and expected improvement. The defaults were chosen by ``benchmarks/quality.py`` and want no tuning."""

    initial: int | None = None
    """Sobol points before the model is asked. By default twice as many as there are parameters, between 5 and 12; under a
    scheduler with rungs one more than there are parameters, between 4 and 10. Where a
    parameter is an architecture, at least 10, with the networks of its pool."""
    surrogate: str = "matern-warped"
    """Of f(x, r), under a scheduler with rungs: ``matern-warped``, ``matern``, ``decay`` (δ is learned), ``decay-0`` or
    ``decay-1`` (it is 0 or 1)."""
    shape: str = "matern52"
    """Of the kernel over configurations: ``matern52`` or ``rbf``."""
    warp: bool = False
    """Learn a warping of every number's range."""
    straighten: bool = True
    """Transform skewed losses."""
    samples: int = 0
    """Average the acquisition over so many draws of the hyperparameters; 0: use the most probable ones."""
    starts: int = 1
    """Starts of their optimisation."""
    acquisition: str = "ei"
    explore_every: int = 4
    """At full budget, every so many suggestions seek an improvement by a standard deviation of the losses instead of any; 0:
    none does."""
    pending: str = "fantasies"
    fantasies: int = 20
    acquire_at: str = "full"
    """Over budgets, where the acquisition is taken: at the ``full`` budget, or at the highest rung ``reached`` by as many
    observations as there are parameters (the rule of the paper)."""
    refit: str = "growth"
    """``growth``: when the data have grown by a tenth; ``full-budget``: only if a trial reached the full budget since then."""
    limit: int = 500
    """The model is fitted to at most so many observations."""
    distances: str = "both"
    """Of architectures: the ``plain`` term of NASBOT's kernel, the ``normalised`` one, ``both`` or ``none``."""
    describe: bool = True
    """Of architectures: a term for numbers that describe a network."""
    powers: tuple[float, float] = (1.0, 1.0)
    """p and p̄ of that kernel. The paper has p̄ = 2, with which matrices have eigenvalues down to -12 % of the diagonal (120 MLPs
    or CNNs; -63 % for cells) and predictions go astray; with 1 they have none for MLPs and CNNs."""
    modifiers: str = "all"
    """Of architectures, when the acquisition is maximised: those that change ``units``, the ``structure``, or ``all``."""

    def __post_init__(self) -> None:
        check_names(
            self,
            {
                "surrogate": SURROGATES,
                "shape": SHAPES,
                "acquisition": ACQUISITIONS,
                "pending": PENDING,
                "acquire_at": ACQUIRE_AT,
                "refit": REFITS,
                "distances": DISTANCES,
                "modifiers": MODIFIERS,
            },
        )
        least = {"initial": 1, "samples": 0, "starts": 1, "explore_every": 0, "fantasies": 1, "limit": 10}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "warp", "straighten", "describe")
        if self.distances == "none" and not self.describe:
            raise InvalidArgument("describe", "must be True where distances is none", False, "leave one of them out")
        powers = self.powers if isinstance(self.powers, (tuple, list)) and len(self.powers) == 2 else ()
        if not powers or any(as_float(power) is None or not 0.0 < power <= 2.0 for power in powers):
            raise InvalidArgument("powers", "must be two numbers above 0 and at most 2", self.powers)
        object.__setattr__(self, "powers", tuple(map(float, powers)))

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        networks = bool(cube_of(history.space).encoder.domains)
        if networks and self.acquisition == "thompson":
            rule = "must be ei or ucb where a parameter is an architecture"
            raise InvalidArgument("acquisition", rule, self.acquisition, "leave it out")

        def decided(data: Observations) -> Suggestion | str:
            from xstar.searchers.gp.decide import decide  # at use: see there

            return decide(self, history, data, rng)

        name = "nasbot" if networks else "gp"
        return initial.suggest(history, task, rng, name=name, initial=self.initial, in_numbers=True, decide=decided)


SEARCHERS.register("gp", GP)
