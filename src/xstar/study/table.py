"""A study as a table: one row per trial, for people and programs that know nothing of journals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xstar.core.words import last_line
from xstar.errors import MissingExtra
from xstar.journal import History
from xstar.journal.trial import Trial

if TYPE_CHECKING:
    import pandas as pd

FIRST_COLUMNS = ("number", "state", "value", "budget")
"""With several objectives, ``front`` says instead of ``value`` whether a trial is in the front."""
LAST_COLUMNS = ("origin", "seconds", "reason")

ABSENT = object()  # an inactive parameter, or a metric that was not reported: unlike None, which a Choice may offer


def table(history: History) -> tuple[list[str], Iterator[list[Any]]]:
    """Names of columns, and the rows."""
    # Metrics are not declared anywhere, so their names are those that were reported, the watched one first.
    metrics = list(
        dict.fromkeys([*history.goals.metrics, *(name for trial in history.trials for name in trial.metrics)])
    )
    attrs = list(dict.fromkeys(name for trial in history.trials for name in trial.attrs))
    parameters, front = list(history.space), {trial.number for trial in history.front}
    first = tuple("front" if name == "value" and history.goals.several else name for name in FIRST_COLUMNS)
    taken = {*first, *LAST_COLUMNS}
    columns = [
        *first,
        *(f"metric.{name}" for name in metrics),
        *(f"parameter.{name}" if name in taken else name for name in parameters),
        *(f"attr.{name}" for name in attrs),
        *LAST_COLUMNS,
    ]

    def row(trial: Trial) -> list[Any]:
        config = history.space.dump(trial.config)
        return [
            trial.number,
            trial.state.value,
            trial.number in front if history.goals.several else ABSENT if trial.losses is None else trial.value,
            trial.budget,
            *(trial.metrics.get(name, ABSENT) for name in metrics),
            *(config.get(name, ABSENT) for name in parameters),
            *(trial.attrs.get(name, ABSENT) for name in attrs),
            trial.origin,
            ABSENT if trial.seconds is None else trial.seconds,
            ABSENT if trial.reason is None else last_line(trial.reason),
        ]

    return columns, map(row, history.trials)


def to_frame(history: History) -> pd.DataFrame:
    """The table as a pandas ``DataFrame``."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        raise MissingExtra(f"a data frame needs {error.name}: pip install '.[pandas]' in a checkout of xstar") from None
    columns, rows = table(history)
    return pd.DataFrame([[None if value is ABSENT else value for value in row] for row in rows], columns=columns)
