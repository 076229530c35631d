"""A surrogate of a GP searcher as of its last refit, and extended by the observations since.

Notation: ``last`` the number of observations at the last refit; ``X`` inputs; ``y`` losses; targets are losses on the model's
scale.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from xstar.core.randomness import Streams
from xstar.journal import History
from xstar.models.gp import Posterior, fit, sample_fits
from xstar.models.kernels import Array
from xstar.models.outliers import confirmed, suspects
from xstar.models.prediction import Prediction, normal_draws
from xstar.models.standardise import Targets
from xstar.models.subset import choose
from xstar.models.surrogate import Surrogate
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.gp.structure import Data
from xstar.searchers.model_based.shelved import thetas
from xstar.searchers.model_based.sources import Shift, shifted

ROUNDS = 2
"""How often outliers are looked for: the largest hide others."""


@dataclass(frozen=True)
class Fitted:
    """A model as of its last refit."""

    last: int
    targets: Targets
    places: NDArray[np.intp]
    """Indices, among the ``last`` observations, of those that it was fitted to."""
    posteriors: tuple[Posterior, ...]
    """One posterior, or one per draw of the hyperparameters."""
    shift: Shift | None = None
    """What other studies predict; the posteriors are of what is left."""


def fitted(
    history: History,
    key: Hashable,
    purpose: str,
    surrogate: Surrogate,
    last: int,
    data: Data,
    settings: GPSettings,
    *,
    robust: bool = False,
) -> Fitted:
    """Return the model fitted to the first ``last`` observations, from ``history.memo`` if it is there.

    ``robust``: without those that lie far above what the others predict (``models/outliers.py``).
    """
    kept = history.memo.get(Fitted, key)
    if kept is not None and kept.last == last:
        return kept
    X, y = data.X[:last], data.y[:last]
    places = choose(data.spread(X) if last > settings.limit else X, y, data.budget[:last], settings.limit)
    made = _fitted_to(history, purpose, surrogate, last, places, data, settings)
    if robust:
        made = _without_outliers(made, history, purpose, surrogate, data, settings)
    return history.memo.put(made, key)


def _without_outliers(
    made: Fitted, history: History, purpose: str, surrogate: Surrogate, data: Data, settings: GPSettings
) -> Fitted:
    """Return the model fitted again without the outliers of the first, if there are any."""
    for turn in range(ROUNDS):
        y = made.targets(data.y[made.places])
        doubted = np.any([suspects(posterior, y) for posterior in made.posteriors], axis=0)
        if not doubted.any():
            break
        doubtful, name = made.places[doubted], f"{purpose} but outliers {turn}"
        again = _fitted_to(history, name, surrogate, made.last, made.places[~doubted], data, settings)
        y = again.targets(data.y[doubtful])
        sure = np.all([confirmed(posterior, data.X[doubtful], y) for posterior in again.posteriors], axis=0)
        if not sure.any():
            break
        if not sure.all():
            usual = made.places[~np.isin(made.places, doubtful[sure])]
            again = _fitted_to(history, f"{name}, sure", surrogate, made.last, usual, data, settings)
        made = again
    return made


def _fitted_to(
    history: History,
    purpose: str,
    surrogate: Surrogate,
    last: int,
    places: NDArray[np.intp],
    data: Data,
    settings: GPSettings,
) -> Fitted:
    """Return the model of the observations at ``places``."""
    X, y = data.X[:last], data.y[:last]
    # Not of a constraint metric, which is compared with its bound.
    lower = settings.penalties == "lower" and purpose.startswith("loss")
    targets = Targets.of(y[places], straighten=settings.straighten, lower=lower)
    inputs, outputs = X[places], targets(y[places])
    rng = Streams(history.seed).generator(last, "gp fit")
    shift = None if data.sources is None else data.sources.shift(inputs, outputs)
    if shift is not None:
        outputs = outputs - shift(inputs)

    def fits() -> list[Array]:
        if settings.samples:
            return sample_fits(surrogate, inputs, outputs, rng, settings.samples)
        return [fit(surrogate, inputs, outputs, rng, settings.starts)]

    found = thetas(history, f"gp {purpose}", (settings, last, inputs, outputs), surrogate, fits)
    posteriors = tuple(Posterior.of(surrogate, theta, inputs, outputs) for theta in found)
    return Fitted(last, targets, places, posteriors, shift)


@dataclass(frozen=True)
class Extended:
    """A posterior and the observations since its refit, which become rows together with pending trials."""

    posterior: Posterior
    X: Array
    y: Array
    shift: Shift | None = None
    """What other studies predict; ``y`` are the residuals."""

    @cached_property
    def _whole(self) -> Posterior:
        return self.posterior.extended(self.X, self.y)

    @property
    def noise(self) -> float:
        return self.posterior.noise

    @property
    def rows(self) -> int:
        """The number of rows of the factor."""
        return len(self._whole.X)

    @property
    def jitter(self) -> float:
        """The jitter added to the diagonal."""
        return self._whole.jitter

    def means(self, A: Array) -> Array:
        made = self._whole.means(A)
        return made if self.shift is None else made + self.shift(A)[:, None]

    def predict(self, A: Array) -> Prediction:
        at = self._whole.predict(A)
        return at if self.shift is None else shifted(at, self.shift, A)

    def sample(self, A: Array, normal: Array) -> Array:
        made = self._whole.sample(A, normal)
        return made if self.shift is None else made + self.shift(A)[:, None]

    def fantasised(self, A: Array, draws: int, rng: np.random.Generator) -> Extended:
        normal = normal_draws(len(A), draws, rng) if draws else None
        made = self.posterior.extended(np.vstack([self.X, A]), self.y, normal)
        return Extended(made, A[:0], self.y[:0], self.shift)
