"""``study.plot``: every kind of plot as a method."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xstar.plots.figure import Figure
from xstar.plots.kinds import KINDS, kind
from xstar.plots.output import to_plotly
from xstar.plots.source import Source

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Plots:
    """The plots of a study: ``study.plot.history(over="time")`` is a Plotly figure.

    ``dir(study.plot)`` lists the kinds, and ``help(study.plot.slice)`` the options of one.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Callable[..., go.Figure]:
        if name.startswith("_") or name not in KINDS:
            raise AttributeError(f"there is no plot {name!r}; there are: {', '.join(KINDS)}")
        found = KINDS[name]

        @functools.wraps(found.compute)
        def plot(**options: Any) -> go.Figure:
            return to_plotly(found.figure(self._source, **options))

        signature = inspect.signature(found.compute)
        given = [each for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]
        plot.__signature__ = signature.replace(parameters=given, return_annotation="plotly Figure")  # type: ignore[attr-defined]
        plot.__name__, plot.__doc__ = name, f"{found.about[0].upper()}{found.about[1:]}. {found.compute.__doc__ or ''}"
        return plot

    def data(self, name: str, **options: Any) -> Any:
        """The figure data of a kind: dataclasses of numbers, for a drawing of your own."""
        return kind(name).compute(self._source, **options)

    def figure(self, name: str, **options: Any) -> Figure:
        """The figure of a kind as a dictionary of ``data`` and ``layout``, as Plotly's JavaScript takes it; needs no Plotly."""
        return kind(name).figure(self._source, **options)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]
