"""A study may go on in a part of its space: an event, before which all is as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.study.test_widening import go_on
from xstar.errors import CorruptJournal, InvalidArgument
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.look.exchange import export_events, import_events
from xstar.look.plots.kinds import KINDS
from xstar.look.plots.models import Learned
from xstar.searchers.bo.observations import Observations
from xstar.space.transfer import narrowed, nearest

SPACE = xs.Space(
    x=xs.Float(-1.0, 2.0),
    kind=xs.Choice(["c", "a", "b"]),
    decay=xs.Float(0.0, 1.0),
    layers=xs.Int(1, 4),
    extra=xs.Float(0.0, 1.0, when={"kind": "c"}),
)
CHANGES: dict[str, Any] = {"x": [-1.0, 0.0], "kind": ["a", "b"], "layers": xs.at_most(2), "decay": 0.5}


@pytest.mark.parametrize(
    ("method", "max_budget"),
    [(name, None) for name in ("random", "sobol", "grid", "pbil", "cma", "gp", "tpe", "forest", "evolution", "dngo")]
    + [("mobster-stop", 9), ("mobster", 9), ("hyperband", 9), ("median", 9)],
)
def test_decisions_before_and_after_can_be_made_again(
    method: str, max_budget: int | None, short_training: None
) -> None:
    study = xs.Study(SPACE, method=method, max_budget=max_budget, seed=1)
    go_on(study, 8)
    running = [study.ask() for _ in range(3)]
    study.narrow(CHANGES, author="ada", reason="the rest is hopeless")
    later = []
    for _ in range(8):
        asked = len(study.trials)
        go_on(study, 1)
        later += study.trials[asked:]
    assert audit(study).findings == []
    assert later
    for trial in later:
        assert trial["x"] <= 0.0
        assert trial["kind"] != "c"
        assert trial["layers"] <= 2
        assert trial["decay"] == 0.5
        assert "extra" not in trial.config
    assert all(trial is not None and trial.state is xs.State.RUNNING for trial in running), "what runs may end"
    (act,) = (event for event in study.history.acts if isinstance(event, ev.Reshaped))
    assert (act.author, act.reason) == ("ada", "the rest is hopeless")


def test_trials_outside_stay_on_record_and_teach_nothing_until_the_space_is_wide_again() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["a", "b"])), method="gp", seed=1)
    for x, kind in ((0.1, "a"), (0.9, "b"), (0.2, "b"), (0.4, "a")):
        study.add({"x": x, "kind": kind}, x)
    wide = study.space
    study.narrow({"x": xs.at_least(0.15), "kind": "b"})
    assert study.best.config == {"x": 0.1, "kind": "a"}
    assert [trial.inside for trial in study.trials] == [False, True, True, False]
    assert [trial.searched["x"] for trial in study.trials] == [0.15, 0.9, 0.2, 0.4]
    assert Observations.of(study.history).trial.tolist() == [1, 2]
    study.add({"x": 0.5, "kind": "b"}, 0.5)
    assert Observations.of(study.history).trial.tolist() == [1, 2, 4]
    study.widen(wide)
    assert all(trial.inside for trial in study.trials)
    assert Observations.of(study.history).trial.tolist() == [0, 1, 2, 3, 4]
    assert study.history.tried({"x": 0.1, "kind": "a"}) == 0


def test_a_program_that_knows_the_wider_space_goes_on_in_the_narrower_one(tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        return float((trial["x"] - 0.9) ** 2)

    options: dict[str, Any] = {"study": "s", "storage": tmp_path / "s.db", "method": "gp", "seed": 1}
    xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=6, **options).study.close()
    with xs.Study.open("s", tmp_path / "s.db") as study:
        study.enqueue({"x": 0.8})
        study.enqueue({"x": 0.2})
        study.narrow({"x": [0.0, 0.5]})
        study.narrow({"x": [0.0, 0.5]})  # it is so already: nothing happens
        assert len([event for event in study.journal.read(0) if isinstance(event, ev.Reshaped)]) == 1
    study = xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), trials=10, **options).study
    assert study.trials[6].config == {"x": 0.2}, "the other one lies outside"
    assert all(trial["x"] <= 0.5 for trial in study.trials[6:])
    assert audit(study).findings == []
    import_events(list(export_events(study)), "copy", tmp_path / "s.db")
    study.close()
    with xs.Study.open("copy", tmp_path / "s.db") as copy:
        assert copy.space == xs.Space(x=xs.Float(0, 0.5))
        assert audit(copy).findings == []


def test_what_is_left_of_a_space() -> None:
    space = xs.Space(
        size=xs.Ordinal(["s", "m", "l", "xl"], prior=[1, 2, 3, 4]),
        deep=xs.Bool(),
        steps=xs.Int(1, 64, log=True),
        heads=xs.Int(1, 8, when={"size": xs.at_least("l")}),
        width=xs.Int(1, 9, when={"steps": xs.at_most(4)}),
        rate=xs.Float(0, 1, prior=xs.Normal(0.5, 0.1), when={"deep": True}),
    )
    small = narrowed(space, {"size": xs.at_most("m"), "steps": xs.between(8, 32), "rate": [0.25, 0.75]})
    assert small == xs.Space(
        size=xs.Ordinal(["s", "m"], prior=[1, 2]),
        deep=xs.Bool(),
        steps=xs.Int(8, 32, log=True),
        rate=xs.Float(0.25, 0.75, when={"deep": True}),
    )
    large = narrowed(space, {"size": ["m", "xl"], "deep": False, "steps": [4, 4]})
    assert large == xs.Space(
        size=xs.Ordinal(["m", "xl"], prior=[2, 4]),
        deep=xs.Constant(False),
        steps=xs.Constant(4),
        heads=xs.Int(1, 8, when={"size": "xl"}),
        width=xs.Int(1, 9, when={"steps": xs.at_most(4)}),
    )
    config = space.parse({"size": "l", "deep": True, "steps": 64, "heads": 2, "rate": 0.9})
    assert nearest(config, small) == {"size": small["size"].quantile([0.5]), "deep": True, "steps": 32, "rate": 0.75}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y": 1}, "y: must be a parameter of the space"),
        ({"x": [0.0, 3.0]}, "x: must be narrowed within Float"),
        ({"x": [0.0]}, "x: the range of a number has two ends"),
        ({"kind": ["a", "z"]}, "kind: must be narrowed within Choice"),
        ({"layers": 9}, "layers: must be narrowed within Int"),
        ({"x": [1.0, 0.0]}, "x: "),
        (3, "changes: must map names of parameters"),
    ],
)
def test_what_is_refused(changes: Any, words: str) -> None:
    study = xs.Study(SPACE, method="random", seed=1)
    with pytest.raises(InvalidArgument, match=words):
        study.narrow(changes)
    assert study.space == SPACE


def test_an_import_of_another_space_is_corrupt(tmp_path: Path) -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1)
    study.narrow({"x": [0.0, 0.5]})
    lines = [line.replace('"high":0.5', '"low":0.5,"high":9.0') for line in export_events(study)]
    assert lines != list(export_events(study))
    with pytest.raises(CorruptJournal):
        import_events(lines, "other", tmp_path / "s.db")


def test_every_plot_shows_trials_outside_as_far_as_there_is_a_place() -> None:
    study = xs.Study(SPACE, method="tpe", seed=1)
    go_on(study, 16)
    study.narrow(CHANGES)
    go_on(study, 4)
    drawn = [kind.name for kind in KINDS.values() if kind.suits(study.history) and kind.figure(study)]
    assert {"history", "importance", "slice", "contour", "parallel"} <= set(drawn)
    assert len(Learned.of(study.history).trials) == sum(trial.inside for trial in study.trials)
