"""A study may begin with what others observed: copied into its journal, no trials of its own, learned from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.trials import ask
from xstar.errors import CorruptJournal, InvalidArgument, StudyMismatch, UnknownStudy
from xstar.journal import event_json, events as ev
from xstar.look.audit import audit
from xstar.look.exchange import export_events, import_events
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.transfer import SourceMeans

SPACE = xs.Space(x=xs.Float(-1.0, 1.0), y=xs.Float(1e-4, 1.0, log=True))


def bowl(trial: xs.Trial) -> float:
    return float((trial["x"] - 0.3) ** 2 + (np.log10(trial["y"]) + 2.0) ** 2 / 4.0)


def source(trials: int = 12, method: str = "random", **options: object) -> xs.Study:
    return xs.minimize(bowl, SPACE, trials=trials, method=method, seed=3, **options).study  # type: ignore[arg-type]


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("method", ["gp", "dngo", "tpe", "forest", "auto", "evolution", "regularised-evolution"])
def test_decisions_of_a_warm_start_can_be_made_again(method: str) -> None:
    study = xs.minimize(bowl, SPACE, trials=8, method=method, seed=1, warm_start=source()).study
    assert len(study.trials) == 8
    assert "one of the best of study in memory" in str(study.trials[0].origin)
    assert audit(study).findings == []
    if method in ("gp", "auto", "dngo"):
        assert "sources weigh" in str(study.trials[-1].origin)


@pytest.mark.parametrize("method", ["gp", "tpe", "nasbot"])
def test_what_is_cached_does_not_matter(method: str) -> None:
    net = {"net": xs.nets.Cell()} if method == "nasbot" else {}
    space = xs.Space(x=xs.Float(0.0, 1.0), y=xs.Float(0.0, 1.0), **net)

    def loss(config: dict[str, Any]) -> float:
        return float(config["x"] ** 2 + config["y"] + len(set(getattr(config.get("net"), "operations", ()))))

    found = []
    known = xs.minimize(lambda t: loss(t.config), space, trials=12, method="random", seed=3).study
    for forgetful in (False, True):
        study = xs.Study(space, method=method, seed=1, warm_start=known)
        for _ in range(9):
            if forgetful:
                study.history.memo.clear()
            trial = ask(study)
            study.tell(trial, loss(trial.config))
        found.append([trial.config for trial in study.trials])
    assert found[0] == found[1]


def test_what_other_studies_observed_is_no_trial_and_never_the_best() -> None:
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=source())
    assert study.trials == []
    assert study.history.best is None
    assert study.history.sources == [""]
    [event] = [event for event in study.journal.read(0) if isinstance(event, ev.PriorStudy)]
    assert len(event.configs) == len(event.observed) == 12
    study.tell(ask(study), 1e6)
    assert study.best.value == 1e6


def test_a_notebook_shows_what_a_study_began_with() -> None:
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=source(5))
    assert "5 configurations of a study in memory" in study._repr_html_()


def test_a_stored_study_keeps_its_sources(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    first = source(study="old", storage=storage)
    first.close()
    options = {"method": "gp", "seed": 1, "study": "new", "storage": storage}
    xs.minimize(bowl, SPACE, trials=5, warm_start="old", **options).study.close()  # type: ignore[arg-type]
    again = xs.minimize(bowl, SPACE, trials=7, warm_start="old", **options).study  # type: ignore[arg-type]
    assert again.history.sources == ["old"]
    assert audit(again).findings == []
    import_events(list(export_events(again)), "copy", storage)
    again.close()
    with xs.Study.open("copy", storage) as copy:
        assert audit(copy).findings == []
    with pytest.raises(StudyMismatch, match=r"warm_start: \['copy'\] here, \['old'\] in the stored study"):
        xs.minimize(bowl, SPACE, trials=7, warm_start="copy", **options)  # type: ignore[arg-type]


def test_another_space() -> None:
    other = xs.Space(x=xs.Float(0.0, 2.0), depth=xs.Int(1, 5), kind=xs.Choice(["a", "b"]))
    known = source()
    study = xs.minimize(
        lambda t: t["x"] ** 2 + t["depth"], other, trials=6, method="gp", seed=1, warm_start=known
    ).study
    inside = [trial.config["x"] for trial in known.trials if trial.config["x"] >= 0.0]
    prior = study.history.prior_studies[0].configs
    assert [config["x"] for config in prior] == inside
    assert {(config["depth"], config["kind"]) for config in prior} == {(3, "b")}
    [event] = [event for event in study.journal.read(0) if isinstance(event, ev.PriorStudy)]
    assert event.left_out == 12 - len(inside) > 0
    assert audit(study).findings == []


def test_architectures_are_learned_from() -> None:
    net = xs.nets.MLP(inputs=8, outputs=2)
    small = xs.Space(net=net)

    def layers(trial: xs.Trial) -> float:
        return float(len(trial["net"].layers))

    known = xs.minimize(layers, small, trials=12, method="nasbot-random", seed=1).study
    large = xs.Space(net=net, lr=xs.Float(1e-3, 1.0, log=True))
    study = xs.minimize(layers, large, trials=7, method="nasbot", seed=1, warm_start=known).study
    assert study.trials[0].config["net"] == known.best.config["net"]
    assert audit(study).findings == []


def test_observations_at_all_rungs_are_copied() -> None:
    def curve(trial: xs.Trial):  # type: ignore[no-untyped-def]
        for epoch in trial.epochs():
            yield bowl(trial) + 1.0 / epoch

    known = xs.minimize(curve, SPACE, trials=12, method="asha", max_budget=9, seed=1).study
    study = xs.minimize(curve, SPACE, trials=8, method="mobster", max_budget=9, seed=1, warm_start=known).study
    assert {budget for _, budget, _ in study.history.prior_studies[0].observed} == {1, 3, 9}
    assert audit(study).findings == []


def test_the_direction_is_turned() -> None:
    known = xs.maximize(lambda t: -bowl(t), SPACE, trials=6, method="random", seed=3).study
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=known)
    losses = [loss for _, _, loss in study.history.prior_studies[0].observed]
    assert_allclose(losses, [bowl(trial) for trial in known.trials])


def test_infeasible_and_failed_trials_stay_behind() -> None:
    def objective(trial: xs.Trial) -> dict[str, float]:
        if trial["x"] < -0.5:
            raise xs.Infeasible("too small")
        return {"loss": bowl(trial), "cost": trial["x"]}

    known = xs.minimize(
        objective, SPACE, trials=20, method="random", metric="loss", constraints={"cost": 0.5}, seed=3
    ).study
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=known)
    assert all(-0.5 <= config["x"] <= 0.5 for config in study.history.prior_studies[0].configs)


def test_a_source_that_contradicts_the_trials_loses_its_weight() -> None:
    def means(study: xs.Study) -> SourceMeans:
        found = SourceMeans.of(study.history, Observations.of(study.history))
        assert found is not None
        return found

    right = means(xs.Study(SPACE, method="gp", seed=1, warm_start=source(30)))
    X = np.random.default_rng(0).random((8, 2))
    y = right.means[0].values(X)
    assert_allclose(right.shift(X, 3.0 + y).weights, [1.0])
    assert_allclose(right.shift(X, -y).weights, [0.0])
    many = np.random.default_rng(0).random((40, 2))
    assert right.shift(many, right.means[0].values(many)).weights[0] == pytest.approx(0.25)  # it fades as 10/n


def test_the_gradient_of_a_shift() -> None:
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=source(30))
    found = SourceMeans.of(study.history, Observations.of(study.history))
    assert found is not None
    X = np.random.default_rng(0).random((5, 2))
    shift = found.shift(X, found.means[0].values(X))
    gradient, step = shift.to_left(X, np.ones(5)), 1e-6
    for column in range(2):
        away = np.zeros(2)
        away[column] = step
        assert_allclose(gradient[:, column], (shift(X + away) - shift(X - away)) / (2 * step), rtol=1e-4, atol=1e-6)


def test_what_cannot_be_learned_from(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no use to Random"):
        xs.Study(SPACE, method="random", warm_start=source())
    with pytest.raises(InvalidArgument, match="must be the name of a study"):
        xs.Study(SPACE, method="gp", warm_start=3)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="0 of 12 trials with a value"):
        xs.Study(xs.Space(x=xs.Float(5.0, 6.0)), method="gp", warm_start=source())
    with pytest.raises(UnknownStudy):
        xs.Study(SPACE, study="n", storage=tmp_path / "s.db", method="gp", warm_start="nothing")


def test_an_event_that_contradicts_itself() -> None:
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=source(3))
    created, event = study.journal.read(0)
    assert isinstance(event, ev.PriorStudy)
    loaded = event_json.load("prior_study", event_json.dump(event))
    assert loaded == event
    for wrong in ([9, 1, 0.5], [0, 0, 0.5], [0, 1, "low"], [0, 1]):
        history = xs.journal.History()
        history.fold(created)
        with pytest.raises(CorruptJournal, match=r"an observation is \[index, budget, loss\]"):
            history.fold(ev.PriorStudy("a", event.configs, [wrong], 0.0))
    ask(study)
    with pytest.raises(CorruptJournal, match="before the first trial"):
        study.history.fold(event)


def test_only_so_many_trials_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xstar.study.warm_start.MOST", 6)
    known = source(20)
    study = xs.Study(SPACE, method="gp", seed=1, warm_start=known)
    [event] = [event for event in study.journal.read(0) if isinstance(event, ev.PriorStudy)]
    assert (len(event.configs), event.left_out) == (6, 14)
    best = sorted(known.trials, key=lambda trial: trial.scores)[:3]
    assert all(SPACE.dump(trial.config) in event.configs for trial in best)
