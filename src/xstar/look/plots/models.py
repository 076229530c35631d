"""What the plots learn from a study: its comparable trials as arrays, a forest and a Gaussian process fitted to them.

These are models of the plots' own, fitted to complete trials in the same way whatever method searched, so that studies can be
compared. What the *searcher* believed when it chose a trial is another question: ``xstar why`` answers it.

Notation

=========  ================================================================================  ==========
symbol     meaning                                                                           shape
=========  ================================================================================  ==========
``X``      encoded configurations, then the descriptive features of architectures            (n, w)
``y``      losses, standardised                                                              (n,)
=========  ================================================================================  ==========
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xstar.errors import NoValue
from xstar.journal import History
from xstar.journal.trial import Trial
from xstar.look.plots.source import Array, comparable
from xstar.models.forest import Forest, Growth
from xstar.models.gp import Posterior, fit
from xstar.models.gp_prior import GPPrior, Inputs, at_full_budget
from xstar.models.linalg import NotPositiveDefinite
from xstar.models.targets import choose
from xstar.nets.catalogue import Catalogue, is_of_networks
from xstar.space.cube import Cube, cube_of

FEWEST = 5
"""Trials below which a model says more about its prior than about the study."""
MOST_GP = 250
"""Observations of the Gaussian process: a fit takes about a quarter of a second then."""
MOST_FOREST = 3000
TREES = 32


@dataclass(frozen=True, eq=False)
class Learned:
    """The comparable trials of a study as arrays."""

    cube: Cube
    catalogues: dict[str, Catalogue]
    """Of the parameters that hold architectures."""
    trials: list[Trial]
    which: str
    level: int | None
    """The rung of their losses; none: they are complete."""
    X: Array
    loss: Array
    centre: float
    scale: float
    sign: float
    seed: int
    seen: int
    """After how many events."""

    @classmethod
    def of(cls, history: History) -> Learned:
        """What is learned from a history: once for all plots and sentences of the same moment."""
        known = history.memo.get(Learned)
        return known if known is not None and known.seen == history.seen else history.memo.put(cls._encoded(history))

    @classmethod
    def _encoded(cls, history: History) -> Learned:
        found = comparable(history)
        # A cube has no columns for what a narrower space has left out.
        kept = [place for place in _spread(found.losses) if found.trials[place].inside]
        trials, loss = [found.trials[place] for place in kept], found.losses[kept]
        cube = cube_of(history.space)
        domains = {name: history.space[name] for name in cube.encoder.domains}
        catalogues = {name: Catalogue(domain) for name, domain in domains.items() if is_of_networks(domain)}
        X = encoded(cube, catalogues, trials)
        unit = float(np.abs(loss).max(initial=0.0)) or 1.0  # squares of losses near 1e300 are not finite
        centre = float((loss / unit).mean()) * unit if len(loss) else 0.0
        scale = float((loss / unit).std()) * unit if len(loss) else 1.0
        about = scale or 1.0, history.goals.only.sign, history.seed, history.seen
        return cls(cube, catalogues, trials, found.which, found.level, X, loss, centre, *about)

    @property
    def enough(self) -> bool:
        """Whether there is anything to learn: some trials, some columns, and values that differ."""
        return len(self.trials) >= FEWEST and self.X.shape[1] > 0 and float(np.ptp(self.loss)) > 0

    @classmethod
    def required(cls, history: History) -> Learned:
        """The same for a plot that has nothing to show without it."""
        found = cls.of(history)
        if not found.enough:
            needs = f"needs {FEWEST} trials that can be compared, with values that differ"
            raise NoValue(f"{needs}; there are {len(found.trials)}")
        return found

    @property
    def y(self) -> Array:
        made: Array = (self.loss - self.centre) / self.scale
        return made

    def values(self, y: Array) -> Array:
        """Standardised losses as values in the user's own direction."""
        made: Array = self.sign * (y * self.scale + self.centre)
        return made

    @property
    def parameters(self) -> list[tuple[str, list[int]]]:
        """Parameters with their columns of ``X``."""
        places = self.cube.encoder.places
        made = [(name, list(range(*place.indices(self.cube.width)))) for name, place in places.items()]
        start = self.cube.width
        for name, catalogue in self.catalogues.items():
            made.append((name, list(range(start, start + len(catalogue.names)))))
            start += len(catalogue.names)
        return [(name, columns) for name, columns in made if columns]

    @cached_property
    def forest(self) -> Forest:
        """Trees that disagree where little is known."""
        return Forest.fit(self.X, self.y, Growth(trees=TREES), self.seed)

    # ------------------------------------------------------------ the Gaussian process

    @cached_property
    def gp_rows(self) -> NDArray[np.intp]:
        """The places of the observations that the Gaussian process has."""
        return choose(self.X, self.loss, np.ones(len(self.loss)), MOST_GP)

    @cached_property
    def inputs(self) -> Inputs:
        """Which columns share a length scale: those of one parameter."""
        groups = np.zeros(self.X.shape[1], dtype=int)
        for place, (_, columns) in enumerate(self.parameters):
            groups[columns] = place
        return Inputs(tuple(groups.tolist()), tuple(name for name, _ in self.parameters))

    @cached_property
    def gp(self) -> Posterior:
        """The Gaussian process of the observations that it has."""
        return fitted(at_full_budget(self.inputs), self.X[self.gp_rows], self.y[self.gp_rows])


def fitted(surrogate: GPPrior, X: Array, y: Array) -> Posterior:
    """The Gaussian process at the most probable hyperparameters."""
    try:
        return Posterior.of(surrogate, fit(surrogate, X, y), X, y)
    except NotPositiveDefinite as error:
        raise NoValue(f"the Gaussian process could not be fitted: {error}") from None


def encoded(cube: Cube, catalogues: Mapping[str, Catalogue], trials: Sequence[Trial]) -> Array:
    """The columns of parameters, then those of the descriptive features of architectures."""
    if not trials:
        return np.empty((0, cube.width + sum(len(catalogue.names) for catalogue in catalogues.values())))
    configs = [trial.searched for trial in trials]
    columns = [cube.encoder.encode(configs)[0]]
    for name, catalogue in catalogues.items():
        own = catalogue.enter([config.get(name) for config in configs])
        columns.append(catalogue.described(np.array(own, dtype=np.int64)))
    return np.hstack(columns)


def _spread(losses: Array) -> NDArray[np.intp]:
    """All places; where there are too many, the best third of what a model may have and an even choice of the others."""
    if len(losses) <= MOST_FOREST:
        return np.arange(len(losses))
    order = np.argsort(losses, kind="stable")
    best, rest = order[: MOST_FOREST // 3], np.sort(order[MOST_FOREST // 3 :])
    even = rest[np.linspace(0, len(rest) - 1, MOST_FOREST - len(best)).astype(np.intp)]
    return np.unique(np.concatenate([best, even]))
