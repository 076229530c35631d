"""What a decision knows of the objectives: posteriors given what is pending, and what is to be improved on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from xstar.models.kernels import Array
from xstar.models.model import Model, with_pending
from xstar.searchers.acquisition.criterion import log_expected_improvement
from xstar.searchers.bo.fronts import fronts_of
from xstar.searchers.bo.surrogate import LOCAL_CENTRES, Data, Known, Settings, Surrogate
from xstar.searchers.bo.transfer import Shifted, unshifted


def known_of(data: Data, surrogate: Surrogate, settings: Settings, rng: np.random.Generator) -> Known:
    """Return the posteriors given what is pending, and what is to be improved on."""
    observed, goals = data.observed, data.observed.goals
    fits = [surrogate.fit(data, data.losses(goal)) for goal in range(len(goals))]
    fitted = fits[goals.learned[0]]
    seen = [each.seen for each in fits if each.seen is not None]
    possible = observed.feasible(data.history, np.unique(np.concatenate(seen)) if seen else None)
    tried = observed.X[possible]
    if data.over_budgets and len(tried):
        tried = tried[distinct_rows(tried)]
    waiting = data.inputs_of(data.pending if settings.pending is None else settings.pending)
    running = observed.rows(data.history.running.values() if settings.running is None else settings.running)
    if goals.several:
        return Known(fitted, **fronts_of(data, settings, fits, waiting, tried, running, rng))
    models, rows = fitted.models, tried
    everywhere = np.vstack([tried, running]) if len(tried) else tried
    if settings.ranks_pending:
        models, rows = _given(models, waiting, settings, rng), everywhere
    if not len(tried):
        return Known(fitted, models, posteriors=[unshifted(each) for each in models])
    means = [model.means(data.with_budget(rows)) for model in models]
    most = settings.most_fantasised if data.over_budgets else 0
    if not settings.ranks_pending:
        order = _ranked(means)
        models = _given(models, np.vstack([waiting, data.with_budget(tried[order[:most]])]), settings, rng)
        centres = tried[order[:LOCAL_CENTRES]]
        means = [model.means(data.with_budget(everywhere)) for model in models]
    else:
        if most:
            pairs = zip(models, means, strict=True)
            models = [_fantasised(*pair, data.with_budget(rows), most, settings.fantasies, rng) for pair in pairs]
            means = [model.means(data.with_budget(rows)) for model in models]
        centres = rows[_ranked(means)[:LOCAL_CENTRES]]
    # The incumbent is the lowest posterior mean at observed and running configurations, not a lucky noisy value.
    incumbents = [each.min(axis=0) for each in means]
    if settings.lowest_observed and not data.over_budgets:
        lowest = fitted.targets(observed.loss[possible]).min()
        incumbents = [np.minimum(lowest, _drawn(model, waiting).min(axis=0, initial=np.inf)) for model in models]
    return Known(fitted, models, incumbents, centres=centres, posteriors=[unshifted(each) for each in models])


def _given(models: Sequence[Model], pending: Array, settings: Settings, rng: np.random.Generator) -> Sequence[Model]:
    """Condition the models on fantasies of pending inputs.

    A trial paused below the acquisition's budget can be resumed at any time, so a new configuration must improve on
    its possible outcome. That outcome is therefore pending, too (noisy expected improvement, Letham et al. 2019).
    Without this, an observation far below that budget leaves the acquisition function nearly unchanged, and almost
    the same point is suggested again and again.
    """
    return [with_pending(model, pending, settings.fantasies, rng) for model in models]


def _ranked(means: Sequence[Array]) -> NDArray[np.intp]:
    """Return the order of rows by their means over all models and fantasies, lowest first."""
    return np.argsort(np.mean([each.mean(axis=1) for each in means], axis=0), kind="stable")


def _fantasised(model: Model, mean: Array, inputs: Array, most: int, fantasies: int, rng: np.random.Generator) -> Model:
    """Condition a model on fantasies of the tried configurations that may improve most on the incumbent."""
    if len(inputs) > most:
        at = model.predict(inputs)
        value, _ = log_expected_improvement(at.mean, at.variance, mean.min(axis=0))
        inputs = inputs[np.sort(np.argsort(-value, kind="stable")[:most])]
    return model.fantasised(inputs, fantasies, rng)


def _drawn(model: Model, waiting: Array) -> Array:
    """Return the drawn outcomes of pending trials (J, M), of models that have them; otherwise none: (0, 1)."""
    inner = model.model if isinstance(model, Shifted) else model
    drawn: Array | None = getattr(inner, "fantasies", None)
    if drawn is None:
        return np.empty((0, 1))
    return drawn + model.shift(waiting)[:, None] if isinstance(model, Shifted) else drawn


def distinct_rows(X: Array) -> NDArray[np.intp]:
    """Return the index of the first of each set of equal rows, in ascending order."""
    return np.sort(np.unique(X, axis=0, return_index=True)[1])
