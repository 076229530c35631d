"""The networks of a study as arrays: which they are, how far apart, where on a map, and how distance and value go together.

Notation

=============  ==========================================================================  ==================
symbol         meaning                                                                     shape
=============  ==========================================================================  ==================
``D``          OTMANN of all pairs: d, or d̄ = d / (tm(G₁) + tm(G₂))                        (n, n)
``B``          -½ J (D∘D) J with J = I - 11ᵀ/n: inner products about the centre            (n, n)
``X``          places on the map                                                           (n, 2)
``y``          the value of each network, in the user's own direction                      (n,)
=============  ==========================================================================  ==================

Classical scaling (Torgerson 1952) takes the two largest eigenvalues λ of B: X = [v₁√λ₁, v₂√λ₂]. OTMANN is not Euclidean, so
B has negative eigenvalues, too; ``share`` says how much of the positive ones the map shows. t-SNE (van der Maaten & Hinton
2008) is what the paper's Figure 4 shows: it keeps neighbours together and says nothing about larger distances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar import nets
from xstar.errors import InvalidArgument, MissingExtra
from xstar.journal import History
from xstar.space import Parameter
from xstar.trial import State

Array = NDArray[np.float64]

FEWEST = 3
"""Two points lie on a line, whatever the map."""
MOST = 300
"""Networks whose pairs are computed: as many as in the paper's Figure 6. Time and memory grow with the square."""
DISTANCES = ("normalised", "plain")
METHODS = ("mds", "tsne")
PERPLEXITY = 30.0
"""Neighbours that t-SNE counts on: its authors' usual figure; a third of the networks where there are fewer."""


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
    structure: float = 0.5
    """ν_str."""

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
    def _plain(self) -> Array:
        found: Array = nets.distances(self.graphs, structure=(self.structure,))
        return found

    def distances(self, distance: str) -> Array:
        """D."""
        _one_of("distance", distance, DISTANCES)
        table = nets.normalise(self._plain, self.graphs, self.graphs) if distance == "normalised" else self._plain
        return table[:, :, 0]


@dataclass(frozen=True, eq=False)
class Places:
    """A map."""

    positions: Array
    """X."""
    share: float | None
    """Of what was to be shown, how much the two axes show; None where that has no meaning."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of networks, in no particular order."""

    distance: Array
    """(n (n - 1) / 2,)"""
    difference: Array
    """|y₁ - y₂|, of the same shape."""

    @property
    def correlation(self) -> float:
        """Spearman's, from -1 to 1; ``nan`` where all distances or all differences are the same."""
        a, b = ranks(self.distance), ranks(self.difference)
        a, b = a - a.mean(), b - b.mean()
        scale = math.sqrt(float(a @ a) * float(b @ b))
        return float(a @ b) / scale if scale else math.nan


def graph_of(value: object) -> nets.Graph | None:
    """The network that a value of a configuration is or has."""
    found = value if isinstance(value, nets.Graph) else getattr(value, "graph", None)
    return found if isinstance(found, nets.Graph) else None


def net_parameters(history: History) -> list[str]:
    """The parameters of a study that hold networks."""
    space = getattr(history, "space", None)  # a history without any event has none
    parameters: Mapping[str, Any] = space.parameters if space is not None else {}
    own = [name for name, parameter in parameters.items() if not isinstance(parameter, Parameter)]
    return [name for name in own if graph_of(_example(history, name)) is not None]


def _example(history: History, name: str) -> object:
    """A value of a domain: that of the first trial that has one, else one at random."""
    tried = (trial.config[name] for trial in history.trials if name in trial.config)
    domain: Any = history.space.parameters[name]
    return next(tried, None) or domain.sample(np.random.default_rng(0))


def collect(history: Any, parameter: str | None = None, structure: float = 0.5, most: int = MOST) -> Networks:
    """The finished networks of a history, or of a study; thinned out evenly where there are more than ``most``.

    Only complete trials count: a value after a few epochs and one after all of them cannot be compared. A network that was
    tried several times, beside other learning rates, say, has its best value. Cells that compute the same are one network.
    """
    history = getattr(history, "history", history)
    if not isinstance(history, History):
        raise InvalidArgument("history", "must be a study or its history", history, "pass study.history")
    name = _named(net_parameters(history), parameter)
    firsts: dict[nets.Graph, tuple[float, int]] = {}
    for trial in history.trials:
        graph = graph_of(trial.config.get(name))
        if graph is None or trial.state is not State.COMPLETE or trial.loss is None or not math.isfinite(trial.loss):
            continue
        firsts[graph] = min(firsts.get(graph, (math.inf, -1)), (trial.loss, trial.number))
    if len(firsts) < FEWEST:
        rule = f"must have {FEWEST} different networks of complete trials, or more"
        raise InvalidArgument("history", rule, len(firsts), "let the study go on, then draw it")
    losses = np.array([loss for loss, _ in firsts.values()])
    kept = thinned(len(firsts), most, int(losses.argmin()))
    graphs, trials = list(firsts), [number for _, number in firsts.values()]
    return Networks(
        name,
        history.created.metric,
        tuple(graphs[place] for place in kept),
        tuple(trials[place] for place in kept),
        losses[kept],
        history.sign,
        len(firsts),
        structure,
    )


def thinned(count: int, most: int, keep: int) -> NDArray[np.intp]:
    """``most`` of the places 0 … count - 1, evenly spaced, ``keep`` among them; all where there are no more."""
    places = np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))
    if keep not in places:
        places[np.abs(places - keep).argmin()] = keep
    return places


def place(networks: Networks, distance: str = "normalised", method: str = "mds") -> Places:
    """A map of networks: near on it, near by OTMANN."""
    _one_of("method", method, METHODS)
    table = networks.distances(distance)
    return classical_scaling(table) if method == "mds" else _neighbours(table)


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


def _neighbours(table: Array) -> Places:
    """X by t-SNE, from the classical map: a start without chance, which keeps the large structure, too."""
    try:
        from sklearn.manifold import TSNE
    except ImportError as error:
        raise MissingExtra('method="tsne" needs scikit-learn: pip install scikit-learn; "mds" needs nothing') from error
    start = classical_scaling(table).positions
    spread = float(start[:, 0].std())
    if not spread:
        return Places(start, None)  # all at one place, and nothing to pull them apart by
    model = TSNE(
        metric="precomputed",
        init=(start * (1e-4 / spread)).astype(np.float32),  # the size of scikit-learn's own starts
        perplexity=max(1.0, min(PERPLEXITY, (len(table) - 1) / 3)),
        learning_rate="auto",
        random_state=0,
    )
    found: Array = np.asarray(model.fit_transform(table), dtype=np.float64)
    return Places(found - found.mean(axis=0), None)


def pairs(networks: Networks, distance: str = "plain") -> Pairs:
    """Distance and difference in value of all pairs."""
    rows, columns = np.triu_indices(len(networks), 1)
    losses = networks.losses
    return Pairs(networks.distances(distance)[rows, columns], np.abs(losses[rows] - losses[columns]))


def ranks(values: Array) -> Array:
    """From 1 upwards; equals share the mean of theirs.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Array = (ends - (counts - 1) / 2)[back]
    return means


def _named(names: list[str], parameter: str | None) -> str:
    if not names:
        remedy = "give it one, for instance net=nets.MLP(inputs=64, outputs=10)"
        raise InvalidArgument("history", "must be of a space with a parameter that holds networks", names, remedy)
    if parameter is None and len(names) > 1:
        raise InvalidArgument("parameter", f"must be named, one of {', '.join(names)}", None)
    if parameter is not None and parameter not in names:
        raise InvalidArgument("parameter", f"must be one of those with networks ({', '.join(names)})", parameter)
    return names[0] if parameter is None else parameter


def _one_of(argument: str, found: str, known: tuple[str, ...]) -> None:
    if found not in known:
        raise InvalidArgument(argument, f"must be one of {', '.join(known)}", found)
