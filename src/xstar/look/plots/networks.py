"""A map of the architectures that were tried, near where OTMANN is small (NASBOT, Figure 4), and the winner's ancestors.

Where a network was made by mutating another one, its origin names the parent; the line of parents of the best one is drawn.
The best one and some that lie apart from each other have their drawing beside them.

Notation

=============  ==========================================================================  ==================
symbol         meaning                                                                     shape
=============  ==========================================================================  ==================
``D``          OTMANN of all pairs, normalised: d̄ = d / (tm(G₁) + tm(G₂))                  (n, n)
``B``          -½ J (D∘D) J with J = I - 11ᵀ/n: inner products about the centre            (n, n)
``X``          places on the map                                                           (n, 2)
=============  ==========================================================================  ==================

Classical scaling (Torgerson 1952) takes the two largest eigenvalues λ of B: X = [v₁√λ₁, v₂√λ₂]. OTMANN is not Euclidean, so
B has negative eigenvalues, too; ``share`` says how much of the positive ones the map shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote

import numpy as np

from xstar import nets
from xstar.errors import InvalidArgument, NoValue
from xstar.journal import History
from xstar.journal.trial import State
from xstar.look.plots.figure import GREY, RAMP, Figure, Trace, axis, dots, figure, line, number, ring, text
from xstar.look.plots.source import Array, Source, joined, shown_of, thinned
from xstar.nets.draw import thumbnail
from xstar.space import Parameter

FEWEST = 3
"""Two points lie on a line, whatever the map."""
MOST = 150
"""Networks whose pairs are computed: their 11,000 distances take a second or two."""
PICTURES = 7
"""Drawings on the map, at most."""
APART = 0.3
SIZE = 0.27
"""How far drawn networks are from each other at least, and how large a drawing is, as shares of the map's width."""


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
    ancestors: tuple[int, ...] = ()
    """Places in these lists of the best one's parent, its parent, … as far as they are among them."""

    @property
    def values(self) -> Array:
        """In the user's own direction."""
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

    @cached_property
    def places(self) -> tuple[Array, float]:
        """X, and how much of the distances the two axes show."""
        return classical_scaling(self.distances)

    @property
    def correlation(self) -> float:
        """Spearman's, of distance and difference in value over all pairs; ``nan`` where all of either are the same.

        A model over OTMANN learns from it (NASBOT, Figure 6).
        """
        pairs = np.triu_indices(len(self.graphs), 1)
        a, b = ranks(self.distances[pairs]), ranks(np.abs(self.losses[pairs[0]] - self.losses[pairs[1]]))
        a, b = a - a.mean(), b - b.mean()
        scale = math.sqrt(float(a @ a) * float(b @ b))
        return float(a @ b) / scale if scale else math.nan


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
    some = tuple(graphs[place] for place in kept), tuple(trials[place] for place in kept), losses[kept]
    return Networks(name, history.created.metric, *some, history.goals.only.sign, len(firsts))


def classical_scaling(table: Array) -> tuple[Array, float]:
    """X of a matrix of distances, and how much of what was to be shown the two axes show."""
    squared = table**2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    two, axes = np.maximum(values[:-3:-1], 0.0), vectors[:, :-3:-1]
    # An eigenvector has no sign of its own: the entry farthest from 0 is made positive, so that a map can be drawn again.
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(2)] < 0, -1.0, 1.0)
    whole = float(values[values > 0].sum())
    return axes * np.sqrt(two), float(two.sum()) / whole if whole > 0 else 1.0


def ranks(values: Array) -> Array:
    """From 1 upwards; equals share the mean of theirs.

    >>> ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: Array = (ends - (counts - 1) / 2)[back]
    return means


def compute(source: Source, *, parameter: str | None = None, most: int = MOST) -> Networks:
    """Networks of complete trials, placed by classical scaling of normalised OTMANN."""
    found = collect(source.history, parameter, most)
    parents = lineage(source.history, found.trials[found.best])
    return replace(found, ancestors=tuple(found.trials.index(each) for each in parents if each in found.trials))


def well_spread(positions: Array, first: int) -> list[int]:
    """The first place, then each time the one farthest from all before, until those left are too near."""
    chosen, least = [first], APART * float(np.ptp(positions, axis=0).max())
    while len(chosen) < PICTURES:
        away = np.linalg.norm(positions[:, None] - positions[chosen], axis=2).min(axis=1)
        if not away.max() > least:
            break
        chosen.append(int(away.argmax()))
    return chosen


def lineage(history: History, trial: int) -> list[int]:
    """The trial's parent, that one's parent, … according to the origins."""
    found: list[int] = []
    while True:
        parent = history.trials[trial].origin.numbers.get("parent")
        if not isinstance(parent, int) or parent in found or not 0 <= parent < trial:
            return found
        found.append(parent)
        trial = parent


def draw(own: Networks) -> Figure:
    positions, shown = own.places
    (x, y), places = positions.T, ranks(own.losses) - 1
    bar = {"title": {"text": text(own.metric, 20)}, "thickness": 10, "tickvals": [0, 1], "ticktext": ["best", "worst"]}
    colours = {
        "color": places / max(1.0, float(places.max())),
        "colorscale": RAMP,
        "cmin": 0,
        "cmax": 1,
        "colorbar": bar,
    }
    marker = {"size": 9, "line": {"width": 0.5, "color": "#1d1d1b"}, **colours}
    traces: list[Trace] = []
    if own.ancestors:
        way = [own.best, *own.ancestors]
        grey = {"color": GREY, "width": 1.5}
        traces.append(line(x[way], y[way], "ancestors of the best", line=grey, hoverinfo="skip"))
    sizes = [f"{len(each.layers)} layers, {len(each.edges)} edges, mass {each.mass:,.4g}" for each in own.graphs]
    values = [number(value, 6) for value in own.values.tolist()]
    about = [list(row) for row in zip(own.trials, sizes, values, strict=True)]
    hover = "trial %{customdata[0]}: %{customdata[2]}<br>%{customdata[1]}"
    traces += [dots(x, y, "networks", hover, marker=marker, customdata=about), ring([x[own.best]], [y[own.best]], 17)]
    low, high = positions.min(axis=0), positions.max(axis=0)
    pad = 0.6 * SIZE * float((high - low).max())  # pictures end within the plot
    share = f"the two axes show {shown:.0%} of the distances"
    known = "" if math.isnan(own.correlation) else f"rank correlation with differences in value {own.correlation:.2f}"
    facts = joined("near: similar by OTMANN", known, share, shown_of(len(own.trials), own.found, "networks"))
    across = axis("", showticklabels=False, range=[low[0] - pad / 2, high[0] + 2 * pad])
    up = axis("", showticklabels=False, range=[low[1] - pad, high[1] + pad], scaleanchor="x", scaleratio=1)
    layout: dict[str, Any] = {
        "showlegend": False,
        "height": 600,
        "images": _images(own),
        "meta": {"parameter": own.parameter},
    }
    return figure(traces, f"Architectures by distance: {text(own.parameter)}", facts, xaxis=across, yaxis=up, **layout)


def _images(own: Networks) -> list[dict[str, Any]]:
    """Drawings beside their dots, which a browser keeps as images: nothing in them is run."""
    positions, _ = own.places
    size = SIZE * float(np.ptp(positions, axis=0).max())
    about = {"xref": "x", "yref": "y", "xanchor": "left", "yanchor": "middle", "layer": "below"}
    made = []
    for place in well_spread(positions, own.best):
        picture, ratio = thumbnail(own.graphs[place])
        x, y = positions[place]
        wide = {"sizex": size * min(1.0, ratio), "sizey": size * min(1.0, 1.0 / ratio)}
        made.append({**about, "source": f"data:image/svg+xml,{quote(picture)}", "x": x + 0.08 * size, "y": y, **wide})
    return made
