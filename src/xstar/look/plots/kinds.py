"""All kinds of plots, in one place: notebook, command line, report and dashboard look here; and ``study.plot``.

A kind is two functions. ``compute`` turns a study into figure data (dataclasses of numbers); its keywords are the options of
the kind. ``draw`` turns those into a figure. Options given as words (by the command line, by the dashboard's address) are read
by the types of ``compute``'s own signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xstar.core.checks import nearest
from xstar.errors import InvalidArgument, NoValue, SeveralObjectives
from xstar.journal import History
from xstar.look.plots import (
    best,
    calibration,
    comparison,
    contour,
    curves,
    failures,
    front,
    importance,
    networks,
    parallel,
    rungs,
    slices,
    theta,
    timeline,
)
from xstar.look.plots.figure import Figure, empty, text
from xstar.look.plots.output import to_plotly
from xstar.look.plots.source import Source, dimensions
from xstar.models.linalg import single_threaded

if TYPE_CHECKING:
    import plotly.graph_objects as go


Has = Callable[[History], bool]


@dataclass(frozen=True)
class Kind:
    """A kind of plot."""

    name: str
    about: str
    """What it shows, in a phrase."""
    compute: Callable[..., Any]
    draw: Callable[[Any], Figure]
    has: Has = lambda history: True
    """Whether a study has what it shows."""
    objectives: str = "one"
    """Of studies with how many objectives: ``one``, ``several`` or ``any``."""

    def suits(self, history: History) -> bool:
        """Whether a study has, or will have, something to show."""
        return self.fits(history) and self.has(history)

    def fits(self, history: History) -> bool:
        """Whether it supports the study's number of objectives."""
        return self.objectives == "any" or (self.objectives == "several") is history.goals.several

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """The keywords of ``compute``; ``others`` are studies and are given in another way."""
        given = inspect.signature(self.compute).parameters
        return {name: each for name, each in given.items() if each.kind is each.KEYWORD_ONLY}

    def figure(self, source: Source, **options: Any) -> Figure:
        """The plot of a study."""
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            rule = f"is no option of the plot {self.name!r}; it has: {', '.join(self.options) or 'none'}"
            raise InvalidArgument(unknown[0], rule, options[unknown[0]])
        try:
            return self.draw(self.data(source, **options))
        except NoValue as error:
            return empty(f"{self.about[0].upper()}{self.about[1:]}", text(error, 140))

    def data(self, source: Source, **options: Any) -> Any:
        """The figure data, of a study with as many objectives as are shown; ``NoValue`` says why there are none."""
        history = source.history
        if self.fits(history):
            with single_threaded():
                return self.compute(source, **options)
        remedy = f"of this study there are: {', '.join(each.name for each in KINDS.values() if each.suits(history))}"
        if history.goals.several:
            found = f"{len(history.goals)} objectives: {', '.join(history.goals.metrics)}"
            raise SeveralObjectives("kind", f"{self.name!r} is a plot of one objective", found, remedy)
        raise InvalidArgument("kind", "must be a plot of one objective: it needs several objectives", self.name, remedy)

    def read(self, words: Mapping[str, str]) -> dict[str, Any]:
        """Options that were given as words."""
        made: dict[str, Any] = {}
        for name, word in words.items():
            given = self.options.get(name)
            if name == "others":
                raise InvalidArgument(name, "are studies, and are given as such", word, "`--with` or /api/compare")
            if given is None:
                made[name] = word  # ``figure`` says that there is no such option
            elif isinstance(given.default, int):
                if not word.isdecimal():
                    raise InvalidArgument(name, "must be a whole number", word)
                made[name] = int(word)
            else:
                made[name] = word.split(",") if "Sequence" in str(given.annotation) and "," in word else word
        return made


def has_networks(history: History) -> bool:
    """Whether a parameter of the study holds architectures."""
    return bool(networks.net_parameters(history))


def has_pairs(history: History) -> bool:
    """Whether two parameters, or a parameter and objectives, have an axis."""
    return len(dimensions(history)) + history.goals.several > 1


def has_epochs(history: History) -> bool:
    """Whether trials may report more than once."""
    return history.created.scheduler.get("max_budget", 0) not in (None, 1)


def has_rungs(history: History) -> bool:
    """Whether trials are compared at more than one budget."""
    return len(history.levels) > 1


def _kind(name: str, about: str, module: ModuleType, has: Has = lambda history: True, objectives: str = "one") -> Kind:
    return Kind(name, about, module.compute, module.draw, has, objectives)


_OWN = (
    _kind("front", "the best trade-offs of several objectives", front, objectives="several"),
    _kind("history", "the best so far, or the hypervolume, over trials, time or budget", best, objectives="any"),
    _kind("curves", "learning curves by outcome, with rungs", curves, has_epochs),
    _kind("rungs", "how many trials reached each rung, and what became of them", rungs, has_rungs, "any"),
    _kind("importance", "how much each parameter mattered, with its error", importance),
    _kind("slice", "values along each parameter", slices),
    _kind("contour", "a Gaussian process over two parameters: mean and uncertainty", contour, has_pairs),
    _kind("parallel", "configurations as lines across their parameters", parallel, has_pairs, "any"),
    _kind("timeline", "what the workers did: busy, idle, lost, by rung", timeline, objectives="any"),
    _kind("calibration", "predicted against observed values", calibration),
    _kind("failures", "where trials failed, and why", failures, objectives="any"),
    _kind("networks", "a map of architectures by OTMANN", networks, has_networks),
    _kind("theta", "the distribution of PBIL over time, and how decided it is", theta, theta.has_theta, "any"),
    _kind("comparison", "studies side by side, with confidence bands", comparison, lambda h: False),
)
KINDS: dict[str, Kind] = {each.name: each for each in _OWN}
"""In the order of a page, which shows those that suit its study; a comparison has a page of its own."""


def kind(name: str) -> Kind:
    """The kind of that name."""
    found = KINDS.get(name)
    if found is None:
        raise InvalidArgument("kind", f"must be one of {', '.join(KINDS)}", name, nearest(name, KINDS))
    return found


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
        return kind(name).data(self._source, **options)

    def figure(self, name: str, **options: Any) -> Figure:
        """The figure of a kind as a dictionary of ``data`` and ``layout``, as Plotly's JavaScript takes it; needs no Plotly."""
        return kind(name).figure(self._source, **options)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *KINDS]
