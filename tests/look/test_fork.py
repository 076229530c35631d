"""A fork: the same past, another future."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, StudyExists
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.look.fork import fork_events
from xstar.storage import open_storage

SPACE = xs.Space(x=xs.Float(0, 1))


def fork(events: Sequence[ev.Event], at: int, name: str, storage: Path, **changed: Any) -> int:
    made = fork_events(events, at, name, **changed)
    place = open_storage(storage)
    place.create(name, made)
    place.close()
    return sum(isinstance(event, ev.Asked | ev.Added) for event in made)


def an_old_one(storage: Path, method: str = "random", **settings: Any) -> list[ev.Event]:
    with xs.Study(SPACE, study="old", storage=storage, method=method, seed=1, **settings) as study:
        for _ in range(8):
            trial = ask(study)
            if settings:
                study.report(trial, trial["x"])
            else:
                study.tell(trial, trial["x"])
        study.ask()  # is running when the study is forked
        return list(study.journal.read(0))


def test_another_method_goes_on_from_the_same_past(tmp_path: Path) -> None:
    storage = tmp_path / "x.db"
    events = an_old_one(storage)
    at = 11  # the first five trials
    assert fork(events, at, "new", storage, method="gp", seed=7) == 5
    with xs.Study.open("old", storage) as old, xs.Study.open("new", storage) as new:
        assert [trial.config for trial in new.trials] == [trial.config for trial in old.trials[:5]]
        assert new.history.created.method == "gp"
        assert new.seed == 7
        for _ in range(6):
            trial = ask(new)
            new.tell(trial, trial["x"])
        assert "gp" in new.trials[-1].origin
        asked = [finding for finding in audit(new).findings if "trial 5" in finding or "trial 9" in finding]
        assert asked == []  # what the new method decided can be made again


def test_what_was_running_runs_again(tmp_path: Path) -> None:
    storage = tmp_path / "x.db"
    events = [event for event in an_old_one(storage) if not isinstance(event, ev.Lost)]
    fork(events, len(events), "new", storage)
    with xs.Study.open("new", storage) as new:
        trial = ask(new)
        assert (trial.number, trial.attempt, trial.runs.lost) == (8, 1, 0)


def test_a_ladder_without_the_rungs_that_trials_stand_on_is_refused(tmp_path: Path) -> None:
    storage = tmp_path / "x.db"
    events = an_old_one(storage, "asha", max_budget=9)
    with pytest.raises(InvalidArgument, match="rungs at the epochs where trials pause"):
        fork(events, len(events), "new", storage, method="gp")
    fork(events, len(events), "new", storage, method="mobster")
    with pytest.raises(StudyExists):
        fork(events, len(events), "new", storage)
    for at in (0, len(events) + 1):
        with pytest.raises(InvalidArgument, match="at"):
            fork(events, at, "newer", storage)


def test_a_study_forks_itself(tmp_path: Path) -> None:
    an_old_one(tmp_path / "x.db")
    with xs.Study.open("old", tmp_path / "x.db") as old, old.fork(5, method="sobol") as new:
        assert new.name == "old-fork-5"
        assert [trial.config for trial in new.trials] == [trial.config for trial in old.trials[:2]]
    memory = xs.Study(SPACE, method="random", seed=1)
    memory.add({"x": 0.5}, 1.0)
    assert len(memory.fork(seed=3).trials) == 1
    with pytest.raises(InvalidArgument, match="into memory"):
        memory.fork(study="new")
