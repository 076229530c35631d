"""A study in a line, as a small table for notebooks, as plots; a trial explained, and a study forked.

``why`` and ``fork`` are rooms of ``inspect``, which stands after this one because it makes a study's decisions again. A user
looks for them on the study, so the two are imported here when they are called, against the order of the parts. The contract of
the import-linter names these two imports, and no others; nothing else here knows of ``inspect``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from xstar.core.markup import escaped, table, value
from xstar.core.words import number, plural, seconds
from xstar.journal import History
from xstar.journal.trial import State, Trial, number_of
from xstar.study.naming import described, headline, method_of
from xstar.study.table import to_frame
from xstar.study.tradeoffs import covered

if TYPE_CHECKING:
    import pandas as pd

    from xstar.look.plots.kinds import Plots
    from xstar.look.why import Why
    from xstar.study.study import Study

LATEST = 5
"""Trials that a notebook shows of a study: the last ones. A data frame has them all."""
MOST_FRONT = 12
"""Trials of a front that it shows."""


def in_words(study: Study) -> str:
    """``<Study 'digits' in sqlite:///xstar.db: mobster, 3 trials (2 complete, 1 failed), best error=0.03 (trial 1)>``."""
    history = study.history
    kept = f"{study.name!r} in {study.storage.url}" if study.storage else "in memory"
    text = f"<Study {kept}: {method_of(history.created)}, {plural(len(history.trials), 'trial')}"
    if history.trials:
        text += f" ({_counts(study)})"
    if history.best is not None:
        text += f", best {headline(history)} (trial {history.best.number})"
    elif history.front:
        text += f", {headline(history)}"
    return text + ">"


def as_html(study: Study) -> str:
    """What the study is, how far it got, its best and its last trials."""
    history, created = study.history, study.history.created
    facts = [
        ("goal", study.goals.goal),
        ("method", f"{described(created)}, seed {study.seed}"),
        ("stored", study.storage.url if study.storage else "in memory"),
        ("trials", _counts(study) or "none yet"),
    ]
    if history.prior_studies:
        facts.append(("began with", "; ".join(source.in_words for source in history.prior_studies)))
    if history.best is not None:
        config = ", ".join(f"{name}={value(given)}" for name, given in history.best.config.items())
        facts.append(("best", f"{number(history.best.value, 6)} (trial {history.best.number}): {config}"))
    parts = [f"<b>Study {escaped(study.name or '')}</b>", table((), facts)]
    if history.goals.several and history.front:
        parts.append(front_as_html(history))
    if history.trials:
        head = ("trial", "state", study.metric, "epochs", "time", "configuration")
        rows = [
            (
                trial.number,
                trial.state.value,
                trial.shown(6),
                trial.budget,
                seconds(trial.seconds),
                ", ".join(f"{name}={value(given)}" for name, given in trial.config.items()),
            )
            for trial in history.trials[-LATEST:]
        ]
        parts.append(table(head, rows))
    return f"<div>{''.join(parts)}</div>"


def front_as_html(history: History) -> str:
    """The front of several objectives, or trials that are spread over it, and the volume that it covers."""
    front, names = history.front, list(history.space)
    kept = sorted({round(place) for place in np.linspace(0, len(front) - 1, min(len(front), MOST_FRONT))})
    rows = [
        (trial.number, *map(value, trial.values.values()), *(value(trial.config.get(name, "")) for name in names))
        for trial in (front[place] for place in kept)
    ]
    volume, reference = covered(history)
    shown = f", {len(kept)} of them" if len(kept) < len(front) else ""
    upto = ", ".join(f"{name}={number(each, 6)}" for name, each in reference.items())
    head = f"<p>The front, {plural(len(front), 'trial')}{shown}; hypervolume {number(volume, 6)} up to {escaped(upto)}:</p>"
    return head + table(("trial", *history.goals.metrics, *names), rows)


def _counts(study: Study) -> str:
    history = study.history
    return ", ".join(f"{history.count(state)} {state.value}" for state in State if history.count(state))


def plots(study: Study) -> Plots:
    """Plots of the study: ``study.plot.history()``, ``study.plot.importance()``, …; needs ``pip install '.[plots]'``."""
    from xstar.look.plots.kinds import Plots  # at use: models and their SciPy

    study.refresh()
    return Plots(study)


def why(study: Study, trial: Trial | int) -> Why:
    """Why a trial was run, and why it was paused, promoted or stopped: recomputed from what was known then. Print it."""
    from xstar.look.why import why as explained  # against the order of the parts: see above

    return explained(study.journal, number_of(trial), study.history.known_objectives)


def fork(
    self: Study,
    at: int | None = None,
    *,
    study: str | None = None,
    method: str | None = None,
    max_budget: int | None = None,
    seed: int | None = None,
) -> Study:
    """A new study that begins as this one was after ``at`` events (default: all), under another method or seed.

    A stored study is forked into the same storage, as ``study`` (default: ``NAME-fork-AT``); one in memory into memory.
    """
    from xstar.look.fork import forked  # against the order of the parts: see above

    return forked(self, at, study, method=method, max_budget=max_budget, seed=seed)


def frame(study: Study) -> pd.DataFrame:
    """One row per trial, as a pandas ``DataFrame``."""
    return to_frame(study.refresh())


class Shown:
    """The part of a study that is looked at."""

    plot = property(plots)
    why = why
    fork = fork
    to_frame = frame
    __repr__ = in_words
    _repr_html_ = as_html
