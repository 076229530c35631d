"""The models of a DNGO searcher: trained at counts fixed by a schedule, brought up to date by sums in between.

Notation: ``count`` observations there are; ``last`` the count of the last training; ``X`` inputs, the budget's place on the
ladder in the last column if the model is over budgets; ``y`` losses; targets are losses on the model's scale.

A model is a function of the first ``count`` observations and nothing else: network, targets and theta come from the first
``last`` of them, the others are added to the head's sums. Sums of rounded numbers depend on their order, so observations are
added in blocks whose borders follow from ``last``: whoever resumes or audits a study computes the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.features import Network, train
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics, sample
from xstar.models.logistic import Belief, Constraint, fit, with_constant
from xstar.models.quadratic import Quadratic
from xstar.models.standardise import Targets
from xstar.searchers.dngo.searcher import DNGO
from xstar.searchers.model_based.outcomes import Settled

FIRST = 2
"""A model is trained from so many observations on."""
GROWTH = 4
"""Trainings happen when the data have grown by a quarter."""
BLOCK = 32
"""New observations are added to the sums in blocks of so many; those of a block that is not full yet, at every suggestion."""
CHUNK = 4096
"""Rows whose basis functions are held at once when all of them are gone through."""
BAD = 0.9
"""What failed or could not be evaluated counts as this quantile of all targets, in the head alone (a GP here does the same)."""
LEADERS = 128
"""Of so many observations at each rung, those with the lowest losses, it is asked which one is the incumbent."""


def last_training(count: int) -> int:
    """The largest count of the schedule that is not above ``count``."""
    at = FIRST
    while (after := at + max(1, at // GROWTH)) <= count:
        at = after
    return at


# ---------------------------------------------------------------- the loss, or a constraint metric


@dataclass(frozen=True)
class Member:
    """One network, and what goes with it."""

    basis: Basis
    thetas: tuple[Array, ...]
    statistics: Statistics
    """Of the observations it was trained on."""


@dataclass(frozen=True)
class Trained:
    """A model after its last training."""

    last: int
    targets: Targets
    bad: float
    """The target of what failed or could not be evaluated."""
    members: tuple[Member, ...]


def trained(history: History, settings: DNGO, purpose: str, last: int, X: Array, y: Array, mean: Quadratic) -> Trained:
    """The model trained on the first ``last`` observations: the one in ``history.memo``, if it is that one."""
    key = (settings, purpose)
    kept = history.memo.get(Trained, key)
    if kept is not None and kept.last == last:
        return kept
    rng = Streams(history.seed).generator(last, f"dngo {purpose}")
    targets = Targets.of(y[:last], straighten=settings.straighten)
    t = targets(y[:last])
    members = []
    for network in networks_of(settings, X[:last], t, rng, settings.networks, logistic=False):
        basis = Basis(network, mean)
        statistics = _summed(Statistics.none(basis.width + mean.size), basis, X[:last], t, CHUNK)
        members.append(Member(basis, tuple(sample(statistics, basis, rng, settings.samples)), statistics))
    return history.memo.put(Trained(last, targets, float(np.quantile(t, BAD)), tuple(members)), key)


def networks_of(
    settings: DNGO, X: Array, t: Array, rng: np.random.Generator, count: int, *, logistic: bool
) -> list[Network]:
    """Trained where the settings say."""
    if settings.device == "cuda":
        from xstar.models.features_torch import train_on

        return train_on("cuda", X, t, rng, networks=count, activation=settings.activation, logistic=logistic)
    return train(X, t, rng, networks=count, activation=settings.activation, logistic=logistic)


def _summed(sums: Statistics, basis: Basis, X: Array, t: Array, rows: int) -> Statistics:
    for at in range(0, len(X), rows):
        sums = sums.extended(basis.design(X[at : at + rows]), t[at : at + rows])
    return sums


def heads(
    history: History, purpose: str, model: Trained, X: Array, y: Array, broken: tuple[Array, Array] | None = None
) -> list[Head]:
    """The posterior for each draw of theta, after all observations, with ``broken`` inputs counting as bad ones.

    Of these the first only ever become more, and the second are others each time.
    """
    new = _up_to_date(history, purpose, model, model.last, X, lambda part: model.targets(y[part]))
    sums = [member.statistics.joined(more) for member, more in zip(model.members, new, strict=True)]
    if broken is not None:
        lasting, others = broken
        bad = _up_to_date(
            history, f"{purpose}, broken", model, 0, lasting, lambda part: np.full(part.stop - part.start, model.bad)
        )
        sums = [own.joined(more) for own, more in zip(sums, bad, strict=True)]
        t = np.full(len(others), model.bad)
        sums = [_summed(own, member.basis, others, t, BLOCK) for own, member in zip(sums, model.members, strict=True)]
    return [
        Head.of(own, member.basis, theta)
        for own, member in zip(sums, model.members, strict=True)
        for theta in member.thetas
    ]


@dataclass(frozen=True)
class Summed:
    """The sums of a model's members over the observations up to ``end``, in full blocks."""

    model: Trained
    end: int
    sums: list[Statistics]


def _up_to_date(
    history: History, purpose: str, model: Trained, first: int, X: Array, targets: Callable[[slice], Array]
) -> list[Statistics]:
    """The sums from row ``first`` on, for each member: full blocks from ``history.memo``, and what came since."""
    kept = history.memo.get(Summed, purpose)
    if kept is None or kept.model is not model:
        kept = Summed(model, first, [Statistics.none(len(member.statistics.cross)) for member in model.members])
    at, sums = kept.end, kept.sums
    full = at + (len(X) - at) // BLOCK * BLOCK
    for begin, end in ((at, full), (full, len(X))):
        if begin < end:
            t = targets(slice(begin, end))
            sums = [
                _summed(own, member.basis, X[begin:end], t, BLOCK)
                for own, member in zip(sums, model.members, strict=True)
            ]
        if end == full:
            history.memo.put(Summed(model, full, sums), purpose)
    return sums


# ---------------------------------------------------------------- where the incumbent may be


@dataclass
class Leaders:
    """The places of the observations with the lowest losses, ``LEADERS`` of each rung. Grows with the history."""

    seen: int = 0
    lowest: dict[float, NDArray[np.intp]] | None = None

    def catch_up(
        self, loss: Array, level: Array, fine: Callable[[NDArray[np.intp]], NDArray[np.bool_]]
    ) -> NDArray[np.intp]:
        """All of them, ascending. ``level`` groups observations; ``fine`` says which may be the answer."""
        kept = self.lowest if self.lowest is not None else {}
        new = np.arange(self.seen, len(loss))
        if len(new):
            new = new[fine(new)]
            for each in np.unique(level[new]).tolist():
                own = np.concatenate([kept.get(each, new[:0]), new[level[new] == each]])
                # By loss, then by place: the same ones in however many steps they are found.
                kept[each] = own[np.lexsort((own, loss[own]))[:LEADERS]]
        self.seen, self.lowest = len(loss), kept
        return np.sort(np.concatenate([np.empty(0, dtype=np.intp), *kept.values()]))


# ---------------------------------------------------------------- what cannot be evaluated, or is out of bounds


FOLD = 256
"""Trials of one kind are folded into the classifier's belief in blocks of so many."""


@dataclass(frozen=True)
class Divided:
    """A classifier after its last training."""

    last: tuple[int, int]
    """How many trials with a value, and without, it was trained on."""
    network: Network
    belief: Belief


def constraint(history: History, settings: DNGO, settled: Settled, doubtful: Array) -> Constraint:
    """The classifier of trials with a value and without, and ``doubtful`` inputs. One that reported and then failed is both.

    Which came first is not on record, so each kind has its own schedule, and the network is trained anew at either's counts.
    What came since is folded into the belief: full blocks with a value, full blocks without, then the rest at once.
    """
    whole, broken = settled.whole.rows, settled.broken.rows[:, :-1]
    last = (min(last_training(len(whole)), len(whole)), min(last_training(len(broken)), len(broken)))
    key = (settings, "feasible")
    kept = history.memo.get(Divided, key)
    if kept is None or kept.last != last:
        X = np.vstack([whole[: last[0]], broken[: last[1]]])
        feasible = np.arange(len(X)) < last[0]
        rng = Streams(history.seed).generator(sum(last), "dngo feasible")
        (network,) = networks_of(settings, X, feasible.astype(np.float64), rng, 1, logistic=True)
        F = np.vstack([with_constant(network(X[at : at + CHUNK])) for at in range(0, len(X), CHUNK)])
        kept = history.memo.put(Divided(last, network, fit(F, feasible, settings.likelihood)), key)
    belief, ends = _folded(history, kept, (whole, broken))
    rest = (whole[ends[0] :], broken[ends[1] :], doubtful)
    F = with_constant(kept.network(np.vstack(rest)))
    belief, _ = belief.after(F, np.arange(len(F)) < len(rest[0]))
    return Constraint.of(kept.network, belief, settings.likelihood)


@dataclass(frozen=True)
class Folded:
    """A classifier's belief after all full blocks of trials with a value and without, and where those end."""

    model: Divided
    ends: tuple[int, int]
    belief: Belief


def _folded(history: History, model: Divided, rows: tuple[Array, Array]) -> tuple[Belief, tuple[int, int]]:
    """The belief after all full blocks, and where those end."""
    first, second = (at + (len(own) - at) // FOLD * FOLD for at, own in zip(model.last, rows, strict=True))
    kept = history.memo.get(Folded)
    if kept is None or kept.model is not model or kept.ends != (first, second):
        belief = model.belief
        for begin, end, own, kind in zip(model.last, (first, second), rows, (True, False), strict=True):
            for at in range(begin, end, FOLD):
                F = with_constant(model.network(own[at : at + FOLD]))
                belief, _ = belief.after(F, np.full(FOLD, kind))
        kept = history.memo.put(Folded(model, (first, second), belief))
    return kept.belief, kept.ends
