"""Predicted against observed: can the values of this study be predicted at all, and are the error bars honest?

Every trial is predicted from all others by a Gaussian process (leave-one-out, with the hyperparameters fitted to all).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.plots.figure import Figure, axis, dots, figure, line, text
from xstar.plots.models import Learned
from xstar.plots.source import Array, Source, joined

NORMAL = {1: 0.6827, 2: 0.9545}
"""How many of a normal distribution lie within so many standard deviations."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predictions of observations that the model did not have."""

    metric: str
    observed: Array
    predicted: Array
    deviation: Array
    """Standard deviation of a new observation, noise included."""
    numbers: list[int]
    within: dict[int, float]
    """The share of observations within 1 and 2 standard deviations."""
    explained: float
    """1 − Σ(observed − predicted)² / Σ(observed − mean)²."""
    which: str


def compute(source: Source) -> Calibration:
    """Leave-one-out predictions."""
    learned = Learned.required(source.history)
    mean, variance, y = learned.left_out()
    off = np.abs(y - mean) / np.sqrt(variance)
    rest = float(((y - y.mean()) ** 2).sum())
    return Calibration(
        source.history.created.metric,
        learned.values(y),
        learned.values(mean),
        np.sqrt(variance) * learned.scale,
        [learned.trials[place].number for place in learned.gp_rows],
        {sigmas: float((off <= sigmas).mean()) for sigmas in NORMAL},
        1 - float(((y - mean) ** 2).sum()) / rest if rest else 0.0,
        learned.which,
    )


def draw(data: Calibration) -> Figure:
    """The figure."""
    title = f"Predicted and observed {text(data.metric)}"
    low, high = (
        float(min(data.observed.min(), data.predicted.min())),
        float(max(data.observed.max(), data.predicted.max())),
    )
    down = 2 * data.deviation
    if data.observed.min() >= 0:  # what is never negative, an error say, is not drawn as if it might be
        down = np.minimum(down, np.maximum(data.predicted, 0.0))
    traces = [
        line([low, high], [low, high], "exact", line={"dash": "dot", "color": "#8a8a84"}, hoverinfo="skip"),
        dots(
            data.predicted,
            data.observed,
            "trials",
            marker={"size": 6, "color": "#3d4db3", "opacity": 0.7},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": 2 * data.deviation,
                "arrayminus": down,
                "thickness": 0.7,
                "width": 0,
                "color": "rgba(61,77,179,0.35)",
            },
            customdata=data.numbers,
            hovertemplate="trial %{customdata}: predicted %{x:.4g}, observed %{y:.4g}<extra></extra>",
        ),
    ]
    shares = ", ".join(
        f"{share:.0%} within {sigmas}σ (normal: {NORMAL[sigmas]:.0%})" for sigmas, share in data.within.items()
    )
    facts = joined(
        f"leave-one-out by a Gaussian process on {len(data.numbers)} {data.which}",
        f"explains {max(0.0, data.explained):.0%}",
        shares,
    )
    metric = text(data.metric)
    return figure(
        traces, title, facts, xaxis=axis(f"predicted {metric} ± 2σ"), yaxis=axis(f"observed {metric}"), showlegend=False
    )
