"""Studies and trials as plain JSON: what ``--json`` prints and agents are told (``xstar mcp``)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xstar.core.environment import host_of
from xstar.errors import NoValue, XstarError
from xstar.journal import History
from xstar.journal.events import kind_of
from xstar.journal.trial import State, Trial
from xstar.look.audit import Audit
from xstar.look.look import StudyView
from xstar.look.plots.figure import plain
from xstar.look.plots.source import Source
from xstar.study.naming import method_of
from xstar.study.tradeoffs import covered

if TYPE_CHECKING:
    from xstar.storage import SqlStorage

LATEST = 10
"""Trials of a study that are told one by one; the others are counted."""


def of_storage(place: SqlStorage) -> list[dict[str, Any]]:
    """Each study in a few words; of one that cannot be read, why."""
    return [_line(place, info.name, info.trials) for info in place.list()]


def _line(place: SqlStorage, name: str, trials: int) -> dict[str, Any]:
    try:
        view = StudyView(place.open(name))
    except XstarError as error:  # say, a kind of parameter that only its own package can read
        return {"study": name, "trials": trials, "error": str(error)}
    return {"study": name, "trials": trials, **_head(view.history)}


def _head(history: History) -> dict[str, Any]:
    created, best = history.created, history.best
    if history.goals.several:
        goal: dict[str, Any] = {"objectives": [each.to_json() for each in history.goals]}
        found: dict[str, Any] = {"front": [trial.number for trial in history.front]}
    else:
        goal = {"direction": created.direction, "metric": created.metric}
        found = {"best": None if best is None else best.value}
    made: dict[str, Any] = plain({**goal, "method": method_of(created), "created": created.at, **found})
    return made


def of_best(history: History) -> dict[str, Any]:
    """The best trial; of several objectives the front, the best in the first one first, and what it covers."""
    if not history.goals.several:
        return {"best": None if history.best is None else of_trial(history, history.best)}
    if not history.front:
        return {"front": []}
    volume, upto = covered(history)
    front = [of_trial(history, trial) for trial in history.front]
    return {"front": front, "hypervolume": {"value": volume, "up_to": upto}}


def of_study(view: StudyView, latest: int = LATEST) -> dict[str, Any]:
    """What a study is, how far it got, its best and its latest trials, and what users did to it."""
    history, created = view.history, view.created
    acts = [
        {"act": kind_of(act), **{k: v for k, v in asdict(act).items() if v not in ("", {})}} for act in history.acts
    ]
    made: dict[str, Any] = plain(
        {
            "study": view.name,
            **_head(history),
            "why": created.why,
            "seed": created.seed,
            "constraints": created.constraints,
            "hold": history.hold,
            "space": history.space.to_json()["parameters"],
            "trials": {state.value: history.count(state) for state in State if history.count(state)},
            **of_best(history),
            "latest": [of_trial(history, trial) for trial in history.trials[-latest:]] if latest else [],
            "acts": acts,
        }
    )
    return made


def of_trial(history: History, trial: Trial, *, reports: bool = False) -> dict[str, Any]:
    """One trial; with all that it reported, if that is wanted."""
    found: dict[str, Any] = {
        "trial": trial.number,
        "state": trial.state.value,
        **({"values": trial.values} if history.goals.several else {"value": trial.value}),
        "metrics": dict(trial.metrics),
        "budget": trial.budget,
        "seconds": trial.seconds,
        "config": history.space.dump(trial.config),
        "origin": str(trial.origin),
        "host": host_of(history.environments, trial.by) or None,
        "reason": trial.reason,
        "attrs": dict(trial.attrs),
    }
    if not trial.inside:
        found["outside"] = True  # of the space, which was made narrower
    if reports:
        found["reports"] = [{"budget": each.budget, "metrics": dict(each.metrics)} for each in trial.reports]
    made: dict[str, Any] = plain(found)
    return made


def of_importance(source: Source) -> dict[str, Any]:
    """The share of the differences in value that each parameter takes part in, and its error."""
    from xstar.look.plots import importance  # at use: models and their SciPy

    try:
        data = importance.compute(source)
    except NoValue as error:
        return {"reason": str(error)}
    rows = zip(data.names, data.total.tolist(), data.total_error.tolist(), strict=True)
    found = [{"parameter": name, "share": share, "error": error} for name, share, error in rows]
    made: dict[str, Any] = plain({"trials": data.trials, "of": data.which, "parameters": found})
    return made


def of_audit(result: Audit) -> dict[str, Any]:
    """What an audit found, and where it spent its time."""
    others = [str(each) for each in result.other_environments]
    return {
        "decisions": result.decisions,
        "findings": result.findings,
        "other_environments": others,
        "seconds": result.spent,
    }
