"""A study may go on in a wider space: an event, before which all is as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import CorruptJournal, InvalidArgument, StudyMismatch
from xstar.journal import events as ev
from xstar.look.audit import audit
from xstar.look.exchange import export_events, import_events

OLD = xs.Space(x=xs.Float(0.0, 1.0), kind=xs.Choice(["a", "b"]), decay=xs.Constant(0.5))
NEW = xs.Space(
    x=xs.Float(-1.0, 2.0),
    kind=xs.Choice(["c", "a", "b"]),
    decay=xs.Float(0.0, 1.0),
    layers=xs.Int(1, 4),
    extra=xs.Float(0.0, 1.0, when={"kind": "c"}),
)


def loss(config: dict[str, Any]) -> float:
    return float(
        (config["x"] + 0.5) ** 2 + (config["kind"] != "c") + abs(config["decay"] - 0.8) + config.get("layers", 2)
    )


def go_on(study: xs.Study, trials: int) -> None:
    for _ in range(trials):
        trial = ask(study)
        while trial.state is xs.State.RUNNING:
            if study.scheduler.max_budget is None:
                study.tell(trial, loss(trial.config))
            else:
                study.report(trial, loss(trial.config) + 1.0 / (trial.budget + 1))


@pytest.mark.parametrize(
    ("method", "max_budget"),
    [(name, None) for name in ("random", "sobol", "grid", "pbil", "cma", "gp", "tpe", "forest", "evolution")]
    + [("mobster-stop", 9), ("hyperband", 9), ("median", 9)],
)
def test_decisions_before_and_after_can_be_made_again(method: str, max_budget: int | None) -> None:
    study = xs.Study(OLD, method=method, max_budget=max_budget, seed=1)
    go_on(study, 8)
    running = study.ask()
    study.widen(NEW, fill={"layers": 2})
    go_on(study, 8)
    assert audit(study).findings == []
    assert running is not None
    assert running.config["layers"] == 2
    later = [trial.config for trial in study.trials if trial.runs.seen > running.runs.seen]
    assert any(not 0.0 <= config["x"] <= 1.0 or config["kind"] == "c" for config in later)
    assert all(NEW.parse(trial.config) == trial.config for trial in study.trials)


def test_what_was_tried_stays_tried() -> None:
    study = xs.Study(xs.Space(a=xs.Int(0, 2)), method="random", seed=1)
    for _ in range(3):
        study.tell(study.ask(), 1.0)  # type: ignore[arg-type]
    assert study.ask() is None
    study.widen(xs.Space(a=xs.Int(0, 4)))
    found = [study.ask(), study.ask()]
    assert {trial["a"] for trial in found if trial is not None} == {3, 4}
    assert study.ask() is None


def test_a_stored_study_goes_on(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"

    def objective(trial: xs.Trial) -> float:
        return loss(trial.config)

    options: dict[str, Any] = {"study": "digits", "storage": storage, "method": "gp", "seed": 1}
    xs.minimize(objective, OLD, trials=6, **options).study.close()
    with pytest.raises(
        StudyMismatch, match=r"xs\.Study\.open\('digits'\)\.widen\(space\), or `xstar widen digits FILE`"
    ):
        xs.minimize(objective, NEW, trials=9, **options)
    with xs.Study.open("digits", storage) as other, xs.Study.open("digits", storage) as study:
        study.widen(NEW, fill={"layers": 2})
        study.widen(NEW)  # it has this space already: nothing happens
        assert other.refresh().space == other.space == NEW
    study = xs.minimize(objective, NEW, trials=9, **options).study
    assert [ev.kind_of(event) for event in study.journal.read(0)].count("reshaped") == 1
    assert audit(study).findings == []
    import_events(list(export_events(study)), "copy", storage)
    study.close()
    with xs.Study.open("copy", storage) as copy:
        assert copy.space == NEW
        assert audit(copy).findings == []
    with pytest.raises(StudyMismatch) as refused:
        xs.minimize(objective, OLD, trials=12, **options)
    assert "widen" not in str(refused.value)


def test_a_program_that_asks_at_the_same_time_decides_in_the_new_space(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    with (
        xs.Study(OLD, study="a", storage=storage, method="random", seed=1) as one,
        xs.Study.open("a", storage) as other,
    ):
        first = one.ask()
        other.widen(NEW, fill={"layers": 2})
        second = one.ask()
        assert first is not None
        assert second is not None
        assert "layers" in second.config
        assert first.config["layers"] == 2
        assert audit(one).findings == []


def test_observations_of_other_studies_and_the_queue_go_along() -> None:
    known = xs.minimize(lambda t: loss(t.config), OLD, trials=8, method="random", seed=1).study
    study = xs.Study(OLD, method="gp", seed=1, warm_start=known)
    study.enqueue({"x": 0.25, "kind": "a", "decay": 0.5})
    study.widen(NEW, fill={"layers": 3})
    assert {config["layers"] for config in study.history.prior_studies[0].configs} == {3}
    go_on(study, 5)
    assert study.trials[0].config["x"] == 0.25
    assert audit(study).findings == []


@pytest.mark.parametrize(
    ("space", "fill", "words"),
    [
        (xs.Space(x=xs.Float(0.0, 2.0), kind=xs.Choice(["a", "b"])), {}, "decay is missing"),
        (xs.Space(x=xs.Float(0.5, 2.0), kind=xs.Choice(["a", "b"]), decay=0.5), {}, "was between 0.0 and 1.0"),
        (xs.Space(x=xs.Int(0, 2), kind=xs.Choice(["a", "b"]), decay=0.5), {}, "was a float, and is a int"),
        (xs.Space(x=xs.Float(0.0, 1.0), kind=xs.Choice(["a", "c"]), decay=0.5), {}, "can no longer be 'b'"),
        (xs.Space(x=xs.Float(0.0, 1.0), kind=xs.Choice(["a", "b"]), decay=xs.Float(0.6, 1.0)), {}, "cannot be 0.5"),
        (NEW, {}, "layers: is new and active in trials"),
        (NEW, {"layers": 9}, "layers"),
        (NEW, {"x": 0.5}, "must be a new parameter"),
        (
            xs.Space(x=xs.Float(0.0, 1.0, when={"kind": "b"}), kind=xs.Choice(["a", "b"]), decay=0.5),
            {},
            "is active in trials, and would be inactive",
        ),
    ],
)
def test_what_is_refused(space: xs.Space, fill: dict[str, Any], words: str) -> None:
    study = xs.Study(OLD, method="random", seed=1)
    go_on(study, 6)
    before = len(list(study.journal.read(0)))
    with pytest.raises(InvalidArgument, match=words):
        study.widen(space, fill=fill)
    assert len(list(study.journal.read(0))) == before


def test_an_ordinal_keeps_its_order() -> None:
    study = xs.Study(xs.Space(o=xs.Ordinal([1, 4])), method="random", seed=1)
    study.widen(xs.Space(o=xs.Ordinal([1, 2, 4])))
    with pytest.raises(InvalidArgument, match="another order"):
        study.widen(xs.Space(o=xs.Ordinal([4, 2, 1])))


def test_a_new_parameter_that_takes_part_in_no_trial_needs_no_value() -> None:
    study = xs.Study(xs.Space(kind=xs.Choice(["a", "b"])), method="random", seed=1)
    study.ask()
    study.widen(xs.Space(kind=xs.Choice(["a", "b", "c"]), rate=xs.Float(0.0, 1.0, when={"kind": "c"})))
    assert list(study.trials[0].config) == ["kind"]


def test_a_journal_whose_trials_do_not_fit_is_corrupt() -> None:
    study = xs.Study(OLD, method="random", seed=1)
    go_on(study, 2)
    with pytest.raises(CorruptJournal, match="reshaped"):
        study.history.fold(ev.Reshaped(xs.Space(x=xs.Float(5.0, 6.0)).to_json(), {}, 0.0))
