"""The settings of searchers whose surrogate is a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass

from xstar.core.checks import check_counts, check_names, check_switches

SURROGATES = ("matern-warped", "matern", "decay", "decay-0", "decay-1")
SHAPES = ("matern52", "rbf")
PENDING = ("fantasies", "hallucination", "ignored")
ACQUISITIONS = ("ei", "ucb", "thompson")
ACQUIRE_AT = ("full", "reached")
REFITS = ("growth", "full-budget")


@dataclass(frozen=True)
class GPSettings:
    """What ``GP`` and ``NASBOT`` have in common (abstract)."""

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
            },
        )
        least = {"initial": 1, "samples": 0, "starts": 1, "explore_every": 0, "fantasies": 1, "limit": 10}
        check_counts(self, least, optional=("initial",))
        check_switches(self, "warp", "straighten")
