"""A study in a line, in a notebook, as plots; a trial explained, and a study forked.

All but the line is in ``look``, a later layer, because it makes a study's decisions again or draws. A user looks for it on the
study, so it is imported here when it is called, against the order of the parts. The contract of the import-linter names these
imports, and no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xstar.core.words import plural
from xstar.journal import History
from xstar.journal.trial import Trial, number_of
from xstar.study.naming import counts_of, headline, method_of
from xstar.study.table import to_frame

if TYPE_CHECKING:
    import pandas as pd

    from xstar.look.plots.kinds import Plots
    from xstar.look.why import Why
    from xstar.study.study import Study


def in_words(study: Study) -> str:
    """``<Study 'digits' in sqlite:///xstar.db: mobster, 3 trials (2 complete, 1 failed), best error=0.03 (trial 1)>``."""
    history = study.history
    kept = f"{study.name!r} in {study.storage.url}" if study.storage else "in memory"
    text = f"<Study {kept}: {method_of(history.created)}, {plural(len(history.trials), 'trial')}"
    if history.trials:
        text += f" ({', '.join(f'{count} {state}' for state, count in counts_of(history).items())})"
    if history.best is not None:
        text += f", best {headline(history)} (trial {history.best.number})"
    elif history.front:
        text += f", {headline(history)}"
    return text + ">"


def as_html(study: Study) -> str:
    """What the study is, how far it got, its best and its last trials."""
    from xstar.look.html import study_as_html  # against the order of the parts: see above
    from xstar.look.view import StudyView

    view = StudyView(study.name, study.history, study.journal)
    return study_as_html(view, study.storage.url if study.storage else "in memory")


def front_as_html(history: History) -> str:
    """The front of several objectives, and the volume that it covers."""
    from xstar.look.html import front_as_html as front  # against the order of the parts: see above

    return front(history)


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
