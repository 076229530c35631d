"""Which parameters mattered: the functional ANOVA of a random forest.

Notation

==========  ===================================================================================  ==========
symbol      meaning                                                                              shape
==========  ===================================================================================  ==========
``A, B``    configurations drawn uniformly from the space, encoded                               (N, w)
``f``       the prediction of one tree                                                           (N, T)
``AB_j``    A with the columns of parameter j from B                                             (N, w)
``S_j``     the share of the variance of f that parameter j explains alone                       (T,)
``T_j``     the share in which it takes part, interactions included                              (T,)
==========  ===================================================================================  ==========

The decomposition of variance over the whole space is that of Hutter et al. (2014); the shares are estimated by Monte Carlo,
S_j = E[f(B)(f(AB_j) − f(A))]/Var f (Saltelli et al. 2010) and T_j = E[(f(A) − f(AB_j))²]/(2 Var f) (Jansen 1999), which a
conditional space allows, too: AB_j is made valid again by the space. Each tree has shares of its own, whose spread is the
error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from xstar.look.plots.figure import GREY, Figure, Trace, axis, bars, figure, spread, text
from xstar.look.plots.models import Learned
from xstar.look.plots.source import Array, Source, joined

SAMPLES = 512
"""N. Beside the spread over the trees the error of 512 draws (about 0.02 of a share) is small."""
MOST_BARS = 20


@dataclass(frozen=True, eq=False)
class Importance:
    """Shares of parameters, the most important first."""

    metric: str
    names: list[str]
    total: Array
    """T_j."""
    total_error: Array
    main: Array
    """S_j."""
    main_error: Array
    trials: int
    which: str


def compute(source: Source) -> Importance:
    """How much of the differences in value each parameter explains."""
    learned = Learned.required(source.history)
    main, main_error, total, error = _anova(learned)
    order = np.argsort(-total, kind="stable")[:MOST_BARS]
    names = [learned.parameters[place][0] for place in order]
    shares = (total[order], error[order], main[order], main_error[order])
    return Importance(source.history.created.metric, names, *shares, len(learned.trials), learned.which)


def _anova(learned: Learned) -> tuple[Array, Array, Array, Array]:
    """Mean and spread over the trees of S and of T, one entry per parameter."""
    rng = np.random.default_rng(learned.seed)
    forest = learned.forest

    def drawn() -> Array:
        rows = learned.cube.snap(rng.random((SAMPLES, learned.cube.width)))
        networks = learned.X[rng.integers(len(learned.X), size=SAMPLES), learned.cube.width :]  # architectures as tried
        return np.hstack([rows, networks])

    def predicted(rows: Array) -> Array:
        made: Array = forest.mean[forest.leaves(rows)]
        return made

    A, B = drawn(), drawn()
    f_a, f_b = predicted(A), predicted(B)
    variance = np.maximum(np.var(np.vstack([f_a, f_b]), axis=0), 1e-12)
    mains, totals = [], []
    for _, columns in learned.parameters:
        mixed = A.copy()
        mixed[:, columns] = B[:, columns]
        if learned.cube.conditional:
            mixed[:, : learned.cube.width] = learned.cube.snap(mixed[:, : learned.cube.width])
        f_ab = predicted(mixed)
        mains.append(np.clip((f_b * (f_ab - f_a)).mean(axis=0) / variance, 0.0, 1.0))
        totals.append(np.clip(((f_a - f_ab) ** 2).mean(axis=0) / (2 * variance), 0.0, 1.0))
    S, T = np.array(mains), np.array(totals)
    return S.mean(axis=1), S.std(axis=1), T.mean(axis=1), T.std(axis=1)


def draw(data: Importance) -> Figure:
    title = f"What mattered for {text(data.metric)}"
    names = [text(name, 28) for name in reversed(data.names)]
    traces = [
        _bars(names, data.total, data.total_error, "with interactions", "#a9c7e6"),
        _bars(names, data.main, data.main_error, "alone", "#3d4db3"),
    ]
    how = "functional ANOVA of a random forest; error bars: spread over its trees"
    across = axis("share of the differences in value", tickformat=".0%", range=[0, 1])
    up = axis("", type="category")
    facts = joined(how, f"{data.trials:,} {data.which}")
    height = max(320, 130 + 34 * len(names))
    return figure(traces, title, facts, xaxis=across, yaxis=up, barmode="overlay", height=height)


def _bars(names: list[str], values: Array, errors: Array, name: str, colour: str) -> Trace:
    # A share lies between 0 and 1, and so do the ends of its bar.
    up, down = np.minimum(errors, np.maximum(1 - values, 0.0))[::-1], np.minimum(errors, values)[::-1]
    return bars(values[::-1], names, name, colour, "%{y}: %{x:.1%}", error_x=spread(up, down, color=GREY, thickness=1))
