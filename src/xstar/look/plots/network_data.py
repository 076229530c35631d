"""The networks of a study as arrays: which they are, how far apart, where on a map, and whether near ones have near values.

Notation

=============  ==========================================================================  ==================
symbol         meaning                                                                     shape
=============  ==========================================================================  ==================
``D``          OTMANN of all pairs, normalised: d̄ = d / (tm(G₁) + tm(G₂))                  (n, n)
``B``          -½ J (D∘D) J with J = I - 11ᵀ/n: inner products about the centre            (n, n)
``X``          places on the map                                                           (n, 2)
``y``          the value of each network, in the user's own direction                      (n,)
=============  ==========================================================================  ==================

Classical scaling (Torgerson 1952) takes the two largest eigenvalues λ of B: X = [v₁√λ₁, v₂√λ₂]. OTMANN is not Euclidean, so
B has negative eigenvalues, too; ``share`` says how much of the positive ones the map shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar import nets
from xstar.errors import InvalidArgument, NoValue
from xstar.journal import History
from xstar.journal.trial import State
from xstar.look.plots.source import thinned
from xstar.space import Parameter

Array = NDArray[np.float64]

FEWEST = 3
"""Two points lie on a line, whatever the map."""
MOST = 150
"""Networks whose pairs are computed: their 11,000 distances take a second or two."""


@dataclass(frozen=True, eq=False)
class Networks:
    """The different finished networks of one parameter, in the order in which they were first tried."""

    parameter: str
    metric: str
    graphs: tuple[nets.Graph, ...]
    trials: tuple[int, ...]
    """Of each network, the number of its best trial."""
    losses: Array
    """Of that trial: lower is better, (n,)."""
    sign: float
    found: int
    """How many different networks there were before they were thinned out."""

    def __len__(self) -> int:
        return len(self.graphs)

    @property
    def values(self) -> Array:
        """y."""
        return self.sign * self.losses

    @property
    def best(self) -> int:
        """The place of the best network in these lists."""
        return int(self.losses.argmin())

    @cached_property
    def distances(self) -> Array:
        """D."""
        try:
            plain = nets.distances(self.graphs, structure=(0.5,))
        except nets.InvalidGraph as error:
            raise NoValue(str(error)) from None
        found: Array = nets.normalise(plain, self.graphs, self.graphs)[:, :, 0]
        return found

    @property
    def correlation(self) -> float:
        """Spearman's, of distance and difference in value over all pairs; ``nan`` where all of either are the same."""
        pairs = np.triu_indices(len(self), 1)
        a, b = ranks(self.distances[pairs]), ranks(np.abs(self.losses[pairs[0]] - self.losses[pairs[1]]))
        a, b = a - a.mean(), b - b.mean()
        scale = math.sqrt(float(a @ a) * float(b @ b))
        return float(a @ b) / scale if scale else math.nan


@dataclass(frozen=True, eq=False)
class Places:
    """A map."""

    positions: Array
    """X."""
    share: float
    """Of what was to be shown, how much the two axes show."""


def graph_of(value: object) -> nets.Graph | None:
    """The network that a value of a configuration is or has."""
    found = value if isinstance(value, nets.Graph) else getattr(value, "graph", None)
    return found if isinstance(found, nets.Graph) else None


def net_parameters(history: History) -> list[str]:
    """The parameters of a study that hold networks."""
    own = [name for name, parameter in history.space.parameters.items() if not isinstance(parameter, Parameter)]
    return [name for name in own if graph_of(_example(history, name)) is not None]


def _example(history: History, name: str) -> object:
    """A value of a domain: that of the first trial that has one, else one at random."""
    tried = (trial.config[name] for trial in history.trials if name in trial.config)
    domain: Any = history.space.parameters[name]
    return next(tried, None) or domain.sample(np.random.default_rng(0))


def collect(history: History, parameter: str | None = None, most: int = MOST) -> Networks:
    """The finished networks of a parameter (the first that has any), thinned out evenly where there are more than ``most``.

    Only complete trials count: a value after a few epochs and one after all of them cannot be compared. A network that was
    tried several times, beside other learning rates, say, has its best value. Cells that compute the same are one network.
    """
    names = net_parameters(history)
    if parameter is not None and parameter not in names:
        raise InvalidArgument("parameter", f"must hold networks ({', '.join(names) or 'none does'})", parameter)
    if not names:
        raise NoValue("the space has no architecture")
    name = parameter or names[0]
    firsts: dict[nets.Graph, tuple[float, int]] = {}
    for trial in history.trials:
        graph = graph_of(trial.config.get(name))
        if graph is None or trial.state is not State.COMPLETE or trial.loss is None or not math.isfinite(trial.loss):
            continue
        firsts[graph] = min(firsts.get(graph, (math.inf, -1)), (trial.loss, trial.number))
    if len(firsts) < FEWEST:
        raise NoValue(f"needs {FEWEST} different networks of complete trials; there are {len(firsts)}")
    losses = np.array([loss for loss, _ in firsts.values()])
    kept = thinned(len(firsts), most, [int(losses.argmin())])
    graphs, trials = list(firsts), [number for _, number in firsts.values()]
    return Networks(
        name,
        history.created.metric,
        tuple(graphs[place] for place in kept),
        tuple(trials[place] for place in kept),
        losses[kept],
        history.goals.only.sign,
        len(firsts),
    )


def classical_scaling(table: Array) -> Places:
    """X of a matrix of distances."""
    squared = table**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    two, axes = np.maximum(values[:-3:-1], 0.0), vectors[:, :-3:-1]
    # An eigenvector has no sign of its own: the entry farthest from 0 is made positive, so that a map can be drawn again.
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(2)] < 0, -1.0, 1.0)
    whole = float(values[values > 0].sum())
    return Places(axes * np.sqrt(two), float(two.sum()) / whole if whole > 0 else 1.0)


def ranks(values: Array) -> Array:
    """From 1 upwards; equals share the mean of theirs.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Array = (ends - (counts - 1) / 2)[back]
    return means
