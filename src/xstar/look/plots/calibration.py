"""Predicted against observed: can the values of this study be predicted at all, and are the intervals honest?

At full budget every trial is predicted from all others by a Gaussian process (leave-one-out, with the hyperparameters fitted to
all). Over budgets it is predicted by the model that ``xstar why`` tells of, a Gaussian process and a forest over configurations
and budgets, from what nine tenths of the other trials reported at any rung.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.journal import History
from xstar.look.plots.figure import GREY, Figure, axis, dots, figure, line, spread, text
from xstar.look.plots.models import MOST_GP, Learned, encoded, fitted
from xstar.look.plots.source import Array, Source, joined
from xstar.models.gp import Posterior
from xstar.models.gp_prior import over_budgets
from xstar.models.linalg import backward, forward
from xstar.models.predictive import SHOWN, Mixture, forest_over_budgets, with_budget
from xstar.models.targets import Targets, choose

SHARES = (0.5, SHOWN)
"""The intervals whose coverage is given."""
FOLDS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predictions of observations that the model did not have."""

    metric: str
    observed: Array
    predicted: Array
    low: Array
    high: Array
    """The interval of 90 % of a new observation."""
    numbers: list[int]
    within: dict[float, float]
    """The share of observations within intervals of 50 and 90 %."""
    explained: float
    """1 − Σ(observed − predicted)² / Σ(observed − mean)², on the scale of the model."""
    which: str
    how: str


def compute(source: Source) -> Calibration:
    """Predict what was observed."""
    history, learned = source.history, Learned.required(source.history)
    loss = learned.loss[learned.gp_rows]
    left_out, how = _at_full_budget, "leave-one-out by a Gaussian process"
    if len(history.levels) > 1:
        left_out, how = _over_budgets, "tenfold cross-validation of a Gaussian process and a forest over all rungs"
    made, targets = left_out(history, learned)
    y = targets(loss)
    place, rest = made.below(y), float(((y - y.mean()) ** 2).sum())
    mean, *ends = (learned.sign * each for each in made.losses(targets, learned.loss))
    within = {share: float((np.abs(place - 0.5) <= share / 2).mean()) for share in SHARES}
    explained = 1 - float(((y - made.mean) ** 2).sum()) / rest if rest else 0.0
    about = [learned.trials[each].number for each in learned.gp_rows], within, explained, learned.which, how
    low, high = np.minimum(*ends), np.maximum(*ends)
    return Calibration(history.created.metric, learned.sign * loss, mean, low, high, *about)


def _at_full_budget(history: History, learned: Learned) -> tuple[Mixture, Targets]:
    """Each observation predicted from all others (Rasmussen & Williams 2006, eq. 5.12)."""
    gp, y = learned.gp, learned.y[learned.gp_rows]
    variance = 1.0 / np.diag(backward(gp.L, forward(gp.L, np.eye(len(gp.X)))))
    standardised = Targets(learned.centre, learned.scale, power=1.0, mean=0.0, std=1.0)
    return Mixture.of((y - gp.weights[:, 0] * variance, variance)), standardised


def _over_budgets(history: History, learned: Learned) -> tuple[Mixture, Targets]:
    """Each observation predicted from the reports of nine tenths of the other trials."""
    full, asked = history.levels[-1], [learned.trials[place] for place in learned.gp_rows]
    A = np.column_stack([learned.X[learned.gp_rows], [max(1, learned.level or trial.budget) / full for trial in asked]])
    found = np.array([each[:3] for each in history.observed_inside])
    trials = [history.trials[int(number)] for number in found[:, 0]]
    X = np.column_stack([encoded(learned.cube, learned.catalogues, trials), np.maximum(found[:, 1], 1.0) / full])
    rows = choose(X, found[:, 2], X[:, -1], MOST_GP)
    X, loss, number = X[rows], found[rows, 2], found[rows, 0]
    targets = Targets.of(loss, transform=True, lower_penalty=True)
    t, surrogate = targets(loss), over_budgets(learned.inputs, "matern")
    theta = fitted(surrogate, X, t).theta
    _, fold = np.unique(np.append(number, [trial.number for trial in asked]), return_inverse=True)
    known, own = np.split(fold % FOLDS, [len(rows)])
    means, variances = np.empty((2, 2, len(asked)))
    for part in np.unique(own):
        X_known, t_known, at = X[known != part], t[known != part], A[own == part]
        gp = Posterior.of(surrogate, theta, X_known, t_known)
        forest = forest_over_budgets(X_known[:, :-1], X_known[:, -1], t_known)
        by_gp, by_forest = gp.predict(at), forest.predict(with_budget(at[:, :-1], at[:, -1]))
        means[:, own == part] = by_gp.mean[:, 0], by_forest.mean[:, 0]
        variances[:, own == part] = by_gp.variance + gp.noise, by_forest.variance
    return Mixture(means, np.sqrt(variances)), targets


def draw(data: Calibration) -> Figure:
    metric, both = text(data.metric), np.concatenate([data.observed, data.predicted])
    ends = [float(both.min()), float(both.max())]
    error = spread(data.high - data.predicted, data.predicted - data.low, color="rgba(61,77,179,0.35)", thickness=0.7)
    marker = {"size": 6, "color": "#3d4db3", "opacity": 0.7}
    own = {"marker": marker, "error_x": {**error, "width": 0}, "customdata": data.numbers}
    hover = "trial %{customdata}: predicted %{x:.4g}, observed %{y:.4g}"
    traces = [
        line(ends, ends, "exact", line={"dash": "dot", "color": GREY}, hoverinfo="skip"),
        dots(data.predicted, data.observed, "trials", hover, **own),
    ]
    shares = ", ".join(f"{found:.0%} within intervals of {share:.0%}" for share, found in data.within.items())
    explained = f"explains {max(0.0, data.explained):.0%}"
    facts = joined(f"{data.how}: {len(data.numbers)} {data.which}", explained, shares)
    across, up = axis(f"predicted {metric}, intervals of {SHOWN:.0%}"), axis(f"observed {metric}")
    return figure(traces, f"Predicted and observed {metric}", facts, xaxis=across, yaxis=up, showlegend=False)
