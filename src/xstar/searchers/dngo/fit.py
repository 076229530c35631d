"""The models of a DNGO searcher: trained at the counts of a schedule, updated through their sums in between.

Notation: ``count`` the number of observations; ``last`` the count at the last training; ``X`` inputs, with the position
of the budget in the last column if the model is over budgets; ``y`` losses; targets are losses on the model's scale.

A model is a function of the first ``count`` observations and nothing else. Network, targets and theta come from the
first ``last`` of them; the others are added to the head's sums. Sums of rounded numbers depend on their order, so
observations are added in blocks whose boundaries follow from ``last``. Resuming or auditing a study therefore
reproduces the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.features import Network, train
from xstar.models.kernels import Array
from xstar.models.linear import Basis, Head, Statistics, sample
from xstar.models.quadratic import Quadratic
from xstar.models.targets import Targets
from xstar.searchers.bo.observations import last_refit
from xstar.searchers.bo.surrogate import BAD
from xstar.searchers.bo.transfer import Shift, SourceMeans
from xstar.searchers.dngo.searcher import DNGO

CHUNK = 4096
"""Rows whose basis functions are held in memory at once."""


DEFAULT = DNGO()


@dataclass(frozen=True)
class DNGOOptions:
    """The settings of a method, and what users do not set."""

    settings: DNGO = DEFAULT
    method: str = "dngo"
    keeps_distance: bool = True
    """Whether suggestions keep a distance from many running trials, and leave out their fantasies if there are very many."""
    bad_values: bool = True
    """Whether infeasible trials and expected failures count as bad values, besides what the classifier learns from them."""
    lowest_observed: bool = False
    """Whether the loss to improve on is the lowest observed (eq. 2), and not the lowest posterior mean."""
    of_observations: bool = False
    """Whether the variance is that of a new observation, with 1/β (eq. 5), and not that of the function."""


PAPER = DNGOOptions(
    DNGO(networks=1, samples=10, transform=False, explore_every=0),
    "dngo-paper",
    keeps_distance=False,
    bad_values=False,
    lowest_observed=True,
    of_observations=True,
)
"""Those of the paper, with a training after ``EVERY`` observation."""


@dataclass(frozen=True)
class Sizes:
    """Constants that users do not set. Tests make them small, so that a few trials fill several blocks."""

    growth: int = 4
    """A training happens when the data have grown by a quarter (one part in this many), or after every observation."""
    block: int = 32
    """New observations are added to the sums in blocks of this size. Those in an incomplete block are added again at
    every suggestion."""
    fold: int = 256
    """Trials of one kind update the classifier's weight posterior in blocks of this size."""
    leaders: int = 128
    """The number of observations with the lowest losses, at each rung, among which the incumbent is chosen."""
    spacing_from: int = 10
    """From this many running trials on, suggestions keep a distance from them (``surrogate.apart``)."""
    no_fantasies_from: int = 50
    """From this many running trials on there are no fantasies: with 50 basis functions they determine the posterior
    completely, and the minimum over so many fantasised outcomes leaves no expected improvement. The best of random candidates
    is taken, many of them near good ones, instead of optimising further to points where the networks happen to agree. (100
    workers, 300 trials, four seeds: best loss 0.196 ± 0.014, with fantasies and no distances 0.303 ± 0.031; 200 workers, 625
    trials, one seed: 0.10 and 0.17, in less than half of the time.)"""


EVERY = 10**9
"""Growth by one part in so many is a training after every observation."""


def last_training(count: int, sizes: Sizes) -> int:
    """Return the largest count of the schedule that is at most ``count``."""
    return last_refit(count, sizes.growth, None)


# ---------------------------------------------------------------- the loss, or a constraint metric


@dataclass(frozen=True)
class Member:
    """One network with its statistics and draws of theta."""

    basis: Basis
    thetas: tuple[Array, ...]
    statistics: Statistics
    """Statistics of the observations it was trained on."""


@dataclass(frozen=True)
class Trained:
    """A model as of its last training."""

    last: int
    targets: Targets
    bad: float
    """The target assigned to trials that count as bad values."""
    members: tuple[Member, ...]
    shift: Shift | None = None
    """What other studies predict; the members are models of what is left."""

    def residuals(self, X: Array, t: Array) -> Array:
        """Return what is left of targets."""
        return t if self.shift is None else t - self.shift(X)


def trained(
    history: History,
    options: DNGOOptions,
    purpose: str,
    last: int,
    X: Array,
    y: Array,
    mean: Quadratic,
    sources: SourceMeans | None = None,
) -> Trained:
    """Return the model trained on the first ``last`` observations, from ``history.memo`` if it is there."""
    key = (options, purpose)
    kept = history.memo.get(Trained, key)
    if kept is not None and kept.last == last:
        return kept
    rng = Streams(history.seed).generator(last, f"dngo {purpose}")
    # A penalty is lowered in losses only: a constraint metric is compared with its bound.
    lower_penalty = options.settings.transform and purpose == "loss"
    targets = Targets.of(y[:last], transform=options.settings.transform, lower_penalty=lower_penalty)
    t = targets(y[:last])
    bad = float(np.quantile(t, BAD))
    shift = None if sources is None else sources.shift(X[:last], t)
    t = t if shift is None else t - shift(X[:last])
    members = []
    for network in networks_of(options, X[:last], t, rng, options.settings.networks, logistic=False):
        basis = Basis(network, mean)
        statistics = _summed(Statistics.none(basis.width + mean.size), basis, X[:last], t, CHUNK)
        members.append(Member(basis, tuple(sample(statistics, basis, rng, options.settings.samples)), statistics))
    return history.memo.put(Trained(last, targets, bad, tuple(members), shift), key)


def networks_of(
    options: DNGOOptions, X: Array, t: Array, rng: np.random.Generator, count: int, *, logistic: bool
) -> list[Network]:
    """Train networks on the device given in the options."""
    if options.settings.device == "cuda":
        from xstar.models.features_torch import train_on

        return train_on("cuda", X, t, rng, networks=count, activation=options.settings.activation, logistic=logistic)
    return train(X, t, rng, networks=count, activation=options.settings.activation, logistic=logistic)


def _summed(sums: Statistics, basis: Basis, X: Array, t: Array, rows: int) -> Statistics:
    for at in range(0, len(X), rows):
        sums = sums.extended(basis.design(X[at : at + rows]), t[at : at + rows])
    return sums


@dataclass(frozen=True)
class Bad:
    """Inputs that count as bad values."""

    lasting: Array
    """Inputs that remain bad values; this set only ever grows."""
    others: Array
    """Inputs that count as bad in this decision only."""


def heads(
    history: History,
    purpose: str,
    model: Trained,
    X: Array,
    y: Array,
    block: int,
    bad: Bad | None = None,
    *,
    of_observations: bool = False,
) -> list[Head]:
    """Return the posterior for each draw of theta, given all observations and ``bad`` inputs."""
    new = _up_to_date(
        history, purpose, model, model.last, X, block, lambda part: model.residuals(X[part], model.targets(y[part]))
    )
    sums = [member.statistics.joined(more) for member, more in zip(model.members, new, strict=True)]
    if bad is not None:
        lasting = _up_to_date(
            history,
            f"{purpose}, bad",
            model,
            0,
            bad.lasting,
            block,
            lambda part: model.residuals(bad.lasting[part], np.full(part.stop - part.start, model.bad)),
        )
        sums = [own.joined(more) for own, more in zip(sums, lasting, strict=True)]
        t = model.residuals(bad.others, np.full(len(bad.others), model.bad))
        pairs = zip(sums, model.members, strict=True)
        sums = [_summed(own, member.basis, bad.others, t, block) for own, member in pairs]
    return [
        Head.of(own, member.basis, theta, of_observations=of_observations)
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
    history: History,
    purpose: str,
    model: Trained,
    first: int,
    X: Array,
    block: int,
    targets: Callable[[slice], Array],
) -> list[Statistics]:
    """Return each member's sums from row ``first`` on: full blocks from ``history.memo``, plus the remaining rows."""
    kept = history.memo.get(Summed, purpose)
    if kept is None or kept.model is not model:
        kept = Summed(model, first, [Statistics.none(len(member.statistics.cross)) for member in model.members])
    at, sums = kept.end, kept.sums
    full = at + (len(X) - at) // block * block
    for begin, end in ((at, full), (full, len(X))):
        if begin < end:
            t = targets(slice(begin, end))
            sums = [
                _summed(own, member.basis, X[begin:end], t, block)
                for own, member in zip(sums, model.members, strict=True)
            ]
        if end == full:
            history.memo.put(Summed(model, full, sums), purpose)
    return sums
