"""What a search found, as ``xs.minimize`` returns it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstar.core.markup import escaped
from xstar.core.words import plural
from xstar.errors import UnknownAttribute
from xstar.journal.trial import Config, Trial
from xstar.run.states import States
from xstar.study.shown import front_as_html
from xstar.study.study import Study
from xstar.study.tradeoffs import covered, picked

OF_RESULTS = {
    "trials": "study.trials",
    "best_trial": "best",
    "best_value": "value",
    "best_params": "config",
    "best_config": "config",
    "best_trials": "front",
}
"""What Optuna and others call what a result has by another name."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a search found."""

    study: Study
    reason: str
    """Why it ended."""

    @property
    def best(self) -> Trial:
        """The best trial."""
        return self.study.best

    @property
    def front(self) -> list[Trial]:
        """The best trade-offs of several objectives, the best in the first one first."""
        return self.study.front

    def hypervolume(self, reference: Mapping[str, float] | None = None) -> float:
        """What the front dominates, up to a reference point: a little beyond the worst of the front, or the threshold of an
        objective, unless it is given here."""
        return covered(self.study.refresh(), reference)[0]

    def pick(self, weights: Mapping[str, float] | None = None, /, **bounds: Any) -> Trial:
        """One trial of the front: ``pick()`` is the knee, ``pick(latency=40)`` the knee of what takes at most 40, and
        ``pick(weights={"error": 2, "latency": 1})`` the least weighted sum, of objectives scaled to the range of the front."""
        if isinstance(bounds.get("weights"), Mapping) or "weights" not in self.study.goals.metrics:
            weights = bounds.pop("weights", weights)  # else the bound of an objective that is called so
        return picked(self.front, self.study.goals, weights, bounds)

    @property
    def config(self) -> Config:
        """The configuration of the best trial."""
        return self.best.config

    @property
    def value(self) -> float:
        """The value of the best trial, in the direction of the search."""
        value = self.best.value
        assert value is not None  # or it would not be the best
        return value

    @property
    def checkpoint(self) -> Path | None:
        """The folder with the checkpoint of the best trial; ``None`` if it left none, or it was not kept."""
        return self.study.files.checkpoint(self.best)

    def load(self) -> Any:
        """What the best trial saved last with ``trial.save``; ``None`` if it saved nothing, or it was not kept."""
        folder = self.checkpoint
        states = [] if folder is None else States(folder).all()
        return states[-1].load() if states else None

    if not TYPE_CHECKING:  # to a type checker it would mean that every name exists

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            there = (
                f"here it is result.{OF_RESULTS[name]}"
                if name in OF_RESULTS
                else "it has best, value, config, front, study"
            )
            raise UnknownAttribute(f"a result has no attribute {name!r}; {there}")

    def __repr__(self) -> str:
        history = self.study.history
        if history.goals.several:
            return f"Result(front={history.front!r}, trials={len(history.trials)}, reason={self.reason!r})"
        return f"Result(best={history.best!r}, trials={len(history.trials)}, reason={self.reason!r})"

    def _repr_html_(self) -> str:
        history = self.study.history
        count = f"<b>Result</b> of {plural(len(history.trials), 'trial')}: {escaped(self.reason)}"
        found = "<p>No trial has a value.</p>"
        if history.best is not None:
            found = f"<p>The best:</p>{history.best._repr_html_()}"
        elif history.front:
            found = front_as_html(history)
        return f"<div>{count}{found}</div>"
