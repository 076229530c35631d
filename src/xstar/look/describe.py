"""A study and its trials as plain JSON: what tables, notebooks, pages, the command line, agents and reports are drawn from.

Nothing here takes longer in a larger study: a page asks once a second.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypedDict

from xstar.core.environment import host_of
from xstar.core.words import last_line, number, outline, plural, short
from xstar.errors import XstarError
from xstar.journal import History
from xstar.journal.events import kind_of
from xstar.journal.trial import State, Trial
from xstar.look.plots.figure import plain
from xstar.look.plots.networks import graph_of
from xstar.look.plots.source import thinned
from xstar.look.view import StudyView
from xstar.nets import Graph
from xstar.storage import SqlStorage
from xstar.study.naming import counts_of, described, method_of
from xstar.study.tradeoffs import covered

LONGEST = 120
"""Characters of a value in a table: an architecture written out would hide all else."""
LATEST = 10
"""Trials of a study that are told one by one; the others are counted."""
MOST_FRONT = 50
"""Trials of the front that come with a description; the plot has them all."""
MOST_REPORTS = 1000


class TrialRow(TypedDict):
    """A trial in a line."""

    number: int
    state: str
    value: float | None
    """None with several objectives, too."""
    values: dict[str, float]
    metrics: dict[str, float]
    budget: int
    target: int | None
    bracket: int
    seconds: float | None
    began: float
    config: dict[str, Any]
    """Cut short, unless exact values were asked for."""
    origin: str
    host: str
    reason: str
    """Its last line."""
    inside: bool
    """Whether the configuration is in the space, which may have become narrower."""


class WholeTrial(TrialRow):
    """All there is to know about one trial, but its files; ``reason`` has all its lines."""

    seen: int
    crashes: int
    lost: int
    attrs: dict[str, Any]
    objectives: list[str]
    reports: list[dict[str, Any]]
    reported: int
    networks: list[str]
    rungs: list[int]


class Front(TypedDict):
    """The best trade-offs, the best in the first objective first."""

    count: int
    trials: list[TrialRow]


class Description(TypedDict):
    """A study at a glance."""

    name: str | None
    goal: str
    objectives: list[str]
    metric: str
    direction: str
    method: str
    settings: str
    """The method with its budget."""
    why: str
    best_by: str
    seed: int
    retries: int
    version: str
    created: float
    news: float
    """When something last happened, as far as the last trials tell."""
    constraints: list[str]
    parameters: dict[str, str]
    prior: list[str]
    hold: str
    queued: int
    trials: int
    counts: dict[str, int]
    epochs: int
    rungs: list[int]
    best: TrialRow | None
    front: Front
    latest: list[TrialRow]
    acts: list[dict[str, Any]]
    seen: int


def describe(view: StudyView, latest: int = 0, *, exact: bool = False) -> Description:
    """What a study is, how far it got, its best and its ``latest`` trials, and what users did to it."""
    history, created = view.history, view.created
    front = history.front if history.goals.several else []
    acts = [
        {"act": kind_of(act), **{k: v for k, v in asdict(act).items() if v not in ("", {})}} for act in history.acts
    ]

    def row(trial: Trial) -> TrialRow:
        return trial_row(history, trial, exact=exact)

    made: Description = {
        "name": view.name,
        "goal": history.goals.goal,
        "objectives": list(history.goals.metrics),
        "metric": created.metric,
        "direction": created.direction,
        "method": method_of(created),
        "settings": described(created),
        "why": created.why,
        "best_by": created.trial_value,
        "seed": created.seed,
        "retries": created.retries,
        "version": created.version,
        "created": created.at,
        "news": _news(history),
        "constraints": [str(bound) for bound in history.bounds],
        "parameters": {name: _cut(repr(given)) for name, given in history.space.parameters.items()},
        "prior": [source.in_words for source in history.prior_studies],
        "hold": history.hold,
        "queued": len(history.queue),
        "trials": len(history.trials),
        "counts": counts_of(history),
        "epochs": _epochs(history),
        "rungs": list(history.levels),
        "best": None if history.best is None else row(history.best),
        "front": {"count": len(front), "trials": [row(trial) for trial in front[:MOST_FRONT]]},
        "latest": [row(trial) for trial in history.trials[-latest:]] if latest else [],
        "acts": plain(acts),
        "seen": history.seen,
    }
    return made


def trial_row(history: History, trial: Trial, *, exact: bool = False) -> TrialRow:
    """A trial in a line; ``exact``: with values that can be tried again."""
    config = (
        history.space.dump(trial.config) if exact else {name: _shown(value) for name, value in trial.config.items()}
    )
    made: TrialRow = plain(
        {
            "number": trial.number,
            "state": trial.state.value,
            "value": None if trial.losses is None or len(trial.losses) > 1 else trial.value,
            "values": trial.values,
            "metrics": trial.metrics,
            "budget": trial.budget,
            "target": trial.target,
            "bracket": trial.bracket,
            "seconds": trial.seconds,
            "began": trial.runs.asked_at,
            "config": config,
            "origin": _cut(str(trial.origin)),
            "host": host_of(history.environments, trial.runs.by),
            "reason": _cut(last_line(trial.reason)) if trial.reason else "",
            "inside": trial.inside,
        }
    )
    return made


def whole_trial(history: History, trial: Trial) -> WholeTrial:
    """All there is to know about one trial."""
    reports = [trial.reports[place] for place in thinned(len(trial.reports), MOST_REPORTS)]
    more = {
        "config": outline(history.space.dump(trial.config)),
        "origin": str(trial.origin),
        "reason": trial.reason or "",
        "seen": trial.runs.seen,
        "crashes": trial.runs.crashes,
        "lost": trial.runs.lost,
        "attrs": outline(dict(trial.attrs)),
        "objectives": list(history.goals.metrics),
        "reports": [{"budget": each.budget, "metrics": each.metrics, "at": each.at} for each in reports],
        "reported": len(trial.reports),
        "networks": [name for name, value in trial.config.items() if graph_of(value) is not None],
        "rungs": list(history.levels),
    }
    made: WholeTrial = plain({**trial_row(history, trial), **more})
    return made


def hypervolume(history: History) -> dict[str, Any]:
    """What the front covers, and up to where."""
    volume, upto = covered(history)
    made: dict[str, Any] = plain({"hypervolume": volume, "up_to": upto})
    return made


def size_of(graph: Graph) -> str:
    """An architecture in a few words."""
    return f"{plural(len(graph.layers), 'layer')}, mass {graph.mass:,.4g}"


def reasons(history: History) -> Iterator[tuple[str, list[Trial]]]:
    """Why trials have no value, the most frequent reason first: a thousand failures often have one cause."""
    found: dict[str, list[Trial]] = {}
    for trial in history.trials:
        if trial.state in (State.FAILED, State.INFEASIBLE, State.WAITING):
            found.setdefault(last_line(trial.reason or "no reason was given"), []).append(trial)
    yield from sorted(found.items(), key=lambda item: (-len(item[1]), item[1][0].number))


def _news(history: History) -> float:
    recent = history.trials[-50:] + [history.trials[number] for number in history.ended[-50:]]
    recent += list(history.running.values())[:200]
    times = [trial.reports[-1].at if trial.reports else trial.runs.asked_at for trial in recent]
    return max([history.created.at, *times])


class _Epochs:
    """A sum that grows with the trials that end."""

    def __init__(self) -> None:
        self.ended = self.sum = 0


def _epochs(history: History) -> int:
    """The epochs that all trials together trained."""
    known = history.memo.get(_Epochs) or history.memo.put(_Epochs())
    known.sum += sum(history.trials[number].budget for number in history.ended[known.ended :])
    known.ended = len(history.ended)
    live = (*history.running.values(), *history.waiting.values(), *history.paused.values())
    return known.sum + sum(trial.budget for trial in live)


def _shown(value: Any) -> Any:
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    graph = graph_of(value)
    return size_of(graph) if graph is not None else _cut(short(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def describe_exactly(view: StudyView, latest: int = LATEST) -> dict[str, Any]:
    """For programs: values that can be tried again, and what the front covers."""
    several = view.history.goals.several and view.history.front
    return {**describe(view, latest, exact=True), **(hypervolume(view.history) if several else {})}


# ---------------------------------------------------------------- in words, for tables of all kinds


def say_counts(counts: dict[str, int]) -> str:
    """``2 complete, 1 failed``."""
    return ", ".join(f"{count} {state}" for state, count in counts.items()) or "no trials yet"


def say_value(trial: TrialRow, digits: int = 5) -> str:
    """Its value for a table, its values where there are several; a dash where there is none."""
    known = [trial["value"]] if trial["value"] is not None else list(trial["values"].values())
    return ", ".join(number(value, digits) for value in known) or number(None)


def list_facts(made: Description) -> list[tuple[str, str]]:
    """What a study is, line by line."""
    found = [
        ("goal", made["goal"]),
        ("method", f"{made['settings']}, seed {made['seed']}"),
        ("why", made["why"]),
        ("best by", "" if made["best_by"] == "last" else f"{made['best_by']} report of a trial"),
        ("constraints", ", ".join(made["constraints"])),
        ("began with", "; ".join(made["prior"])),
    ]
    return [(name, words) for name, words in found if words]


HEAD = ("name", "goal", "objectives", "direction", "method", "created", "trials", "counts")


def describe_all(storage: SqlStorage) -> list[dict[str, Any]]:
    """Each study of a storage in a few words; of one that cannot be read, why."""
    return [_head(storage, info.name, info.trials) for info in storage.list()]


def _head(storage: SqlStorage, name: str, trials: int) -> dict[str, Any]:
    try:
        made = describe(StudyView.of(name, storage.open(name)))
    except XstarError as error:  # say, a kind of parameter that only its own package can read
        return {"name": name, "trials": trials, "error": str(error)}
    best = made["best"]
    found = {"best": None if best is None else best["value"], "front": made["front"]["count"]}
    return {**{key: value for key, value in made.items() if key in HEAD}, **found}
