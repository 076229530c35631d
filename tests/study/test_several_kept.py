"""Several objectives in studies that are kept: shared, forked, reshaped, added to, begun with another study's trials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument
from xstar.look.audit import audit

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
GOALS = {"gain": "max", "cost": "min"}


def measured(config: Any, epoch: int = 9) -> dict[str, float]:
    x, y = config["x"], config["y"]
    return {"gain": 1 - (x - 0.2) ** 2 - y / 2 - 1 / epoch, "cost": (x - 0.8) ** 2 + y, "heat": 2 * x + y}


def go_on(study: xs.Study, trials: int) -> None:
    """Until there are so many trials."""
    while (trial := study.ask(xs.Limits(trials=trials))) is not None:
        if trial.target is None:
            study.tell(trial, measured(trial.config))
            continue
        for epoch in trial.epochs():
            if study.report(trial, measured(trial.config, epoch), epoch) is not xs.Verdict.CONTINUE:
                break


@pytest.mark.parametrize("method", ["gp", "asha", "mobster"])
def test_two_programs_share_a_study(storage: str, name: str, method: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"study": name, "storage": storage, "method": method, "seed": 1, "directory": tmp_path}
    options |= {"max_budget": 9 if method != "gp" else None, "metric": GOALS}
    with xs.Study(SPACE, **options) as one, xs.Study(SPACE, **options) as other:
        running = [ask(one), ask(other), ask(one)]
        assert [trial.number for trial in running] == [0, 1, 2]
        for owner, trial in zip((one, other, one), running, strict=True):
            if trial.target is None:
                owner.tell(trial, measured(trial.config))
            else:
                owner.report(trial, measured(trial.config, 1), 1)
        for total in range(4, 15):
            go_on((one, other)[total % 2], total)
        assert [trial.values for trial in one.front] == [trial.values for trial in other.front]
        assert one.front
        assert audit(one).findings == []


@pytest.mark.parametrize("method", ["gp", "tpe", "evolution"])
def test_a_fork_a_wider_and_a_narrower_space_and_what_is_added(method: str, tmp_path: Path) -> None:
    place: dict[str, Any] = {"storage": tmp_path / "x.db"}
    with xs.Study(SPACE, study="old", method=method, metric=GOALS, seed=1, **place) as study:
        go_on(study, 9)
        study.add({"x": 0.25, "y": 0.0}, {"gain": 0.9, "cost": 0.1})
        study.enqueue({"x": 0.3})
        go_on(study, 10)
        assert study.trials[-1]["x"] == 0.3
        assert 9 in [trial.number for trial in study.front]
        study.widen(xs.Space(x=xs.Float(0, 1), y=xs.Float(-1, 1), z=xs.Float(0, 1)), {"z": 0.5})
        go_on(study, 13)
        study.narrow({"x": [0.2, 0.8], "z": 0.5})
        go_on(study, 16)
        assert all(0.2 <= trial["x"] <= 0.8 for trial in study.trials[-3:])
        assert audit(study).findings == []
        with study.fork(at=20, method="gp") as new:
            assert new.front == [trial for trial in new.front if trial.number < len(new.trials)]
            assert new.goals.goal == study.goals.goal
            begun = len(new.trials)
            go_on(new, begun + 3)
            assert [each for each in audit(new).findings if f"trial {begun}" in each] == []
    with xs.Study.open("old", **place) as again:
        assert [trial.values for trial in again.front] == [trial.values for trial in study.front]


@pytest.mark.parametrize("method", ["gp", "tpe", "forest", "evolution"])
def test_a_study_begins_with_what_another_one_found(method: str) -> None:
    source = xs.Study(SPACE, method="random", metric=GOALS, seed=3)
    go_on(source, 20)
    study = xs.Study(SPACE, method=method, metric=GOALS, seed=1, warm_start=source)
    go_on(study, 8)
    assert "of the best of study in memory" in str(study.trials[0].origin)
    first = study.trials[0].config
    assert first in [trial.config for trial in source.front]
    assert audit(study).findings == []


def test_objectives_of_a_source_are_told_apart_by_name() -> None:
    """Another order, and another direction, mean the same numbers."""
    begun = []
    for metric in ({"gain": "max", "cost": "min"}, {"cost": "max", "gain": "min"}):
        source = xs.Study(SPACE, method="random", metric=metric, seed=3)
        go_on(source, 12)
        study = xs.Study(SPACE, metric=GOALS, seed=1, method="gp", warm_start=source)
        (prior,) = study.history.prior_studies
        begun.append([row[2:] for row in prior.observed])
        assert begun[-1] == [(-found["gain"], found["cost"]) for found in map(measured, prior.configs)]
    assert begun[0] == begun[1]
    for other in ("gain", ["gain", "heat"], ["gain", "cost", "heat"]):
        source = xs.Study(SPACE, method="random", metric=other, seed=3)
        go_on(source, 4)
        with pytest.raises(
            InvalidArgument, match="warm_start: must be of a study with the same objectives, gain, cost"
        ):
            xs.Study(SPACE, metric=GOALS, warm_start=source)


@pytest.mark.parametrize("method", ["gp", "tpe", "mobster", "evolution", "pbil"])
def test_constraints_beside_several_objectives(method: str) -> None:
    budget = 9 if method == "mobster" else None
    space = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1)) if method != "pbil" else xs.Space(x=xs.Bool(), y=xs.Bool())
    study = xs.Study(space, method=method, metric=GOALS, constraints={"heat": 1.2}, seed=1, max_budget=budget)
    go_on(study, 24 if method != "pbil" else 4)
    assert {trial.state for trial in study.front} == {xs.State.COMPLETE}
    assert all(trial.metrics["heat"] <= 1.2 for trial in study.front)
    beyond = [trial for trial in study.history.trials if any(each.metrics["heat"] > 1.2 for each in trial.reports)]
    assert beyond
    assert {trial.state for trial in beyond} <= {xs.State.INFEASIBLE, xs.State.PAUSED}
    assert audit(study).findings == []
