"""DNGO's feasibility classifier: a separate network, trained at the counts of the schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.features import Network
from xstar.models.kernels import Array
from xstar.models.logistic import Belief, Constraint, fit, with_constant
from xstar.searchers.bo.failures import Outcomes
from xstar.searchers.dngo.fit import CHUNK, DNGOOptions, Sizes, last_training, networks_of


@dataclass(frozen=True)
class Classified:
    """A classifier as of its last training."""

    last: tuple[int, int]
    """The numbers of trials with and without a value that it was trained on."""
    network: Network
    belief: Belief


def constraint(history: History, options: DNGOOptions, sizes: Sizes, outcomes: Outcomes, doubtful: Array) -> Constraint:
    """Return the classifier of trials with a value, trials without, and ``doubtful`` inputs, which count as failed.

    A trial that reported a value and then failed belongs to both kinds. The order of the two kinds is not recorded, so
    each kind has its own schedule, and the network is retrained at the counts of either. Later trials update the
    posterior of the weights: full blocks with a value, full blocks without, then the rest at once.
    """
    evaluated, failed = outcomes.evaluated.rows, outcomes.failed.rows[:, :-1]
    counts = (len(evaluated), len(failed))
    last = (min(last_training(counts[0], sizes), counts[0]), min(last_training(counts[1], sizes), counts[1]))
    key = (options, "feasible")
    kept = history.memo.get(Classified, key)
    if kept is None or kept.last != last:
        X = np.vstack([evaluated[: last[0]], failed[: last[1]]])
        feasible = np.arange(len(X)) < last[0]
        rng = Streams(history.seed).generator(sum(last), "dngo feasible")
        (network,) = networks_of(options, X, feasible.astype(np.float64), rng, 1, logistic=True)
        F = np.vstack([with_constant(network(X[at : at + CHUNK])) for at in range(0, len(X), CHUNK)])
        kept = history.memo.put(Classified(last, network, fit(F, feasible)), key)
    belief, ends = _folded(history, kept, (evaluated, failed), sizes.fold)
    rest = (evaluated[ends[0] :], failed[ends[1] :], doubtful)
    F = with_constant(kept.network(np.vstack(rest)))
    belief, _ = belief.after(F, np.arange(len(F)) < len(rest[0]))
    return Constraint.of(kept.network, belief)


@dataclass(frozen=True)
class Folded:
    """A classifier's weight posterior after all full blocks of both kinds, and the ends of those blocks."""

    model: Classified
    ends: tuple[int, int]
    belief: Belief


def _folded(
    history: History, model: Classified, rows: tuple[Array, Array], block: int
) -> tuple[Belief, tuple[int, int]]:
    """Return the weight posterior after all full blocks, and the ends of those blocks."""
    first, second = (at + (len(own) - at) // block * block for at, own in zip(model.last, rows, strict=True))
    kept = history.memo.get(Folded)
    if kept is None or kept.model is not model or kept.ends != (first, second):
        belief = model.belief
        for begin, end, own, kind in zip(model.last, (first, second), rows, (True, False), strict=True):
            for at in range(begin, end, block):
                F = with_constant(model.network(own[at : at + block]))
                belief, _ = belief.after(F, np.full(block, kind))
        kept = history.memo.put(Folded(model, (first, second), belief))
    return kept.belief, kept.ends
