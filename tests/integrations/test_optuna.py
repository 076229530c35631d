"""Our searchers in an Optuna study, Optuna's studies in ours, and Optuna's objectives as they are."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import xstar as xs
from xstar.cli.main import app
from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument, InvalidSpace, ObjectiveError, UnknownStudy
from xstar.look.audit import audit
from xstar.searchers import GP

optuna = pytest.importorskip("optuna", reason="Optuna is not installed")

from xstar.integrations.distributions import python_names  # noqa: E402
from xstar.integrations.optuna import ATTRIBUTE, PRIOR_POINTS, Curves, Sampler  # noqa: E402
from xstar.integrations.optuna_import import import_optuna  # noqa: E402

optuna.logging.set_verbosity(optuna.logging.WARNING)


def quadratic(trial: Any) -> float:
    x = trial.suggest_float("x", -5, 5)
    width = trial.suggest_int("net/width", 1, 64, log=True)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    trial.suggest_float("fixed", 1.0, 1.0)
    return float((x - 1) ** 2 + abs(width - 8) / 8 + (kind != "b"))


def optimise(sampler: Any, objective: Any = quadratic, trials: int = 25, **options: Any) -> Any:
    study = optuna.create_study(sampler=sampler, **options)
    study.optimize(objective, n_trials=trials)
    return study


def params(study: Any) -> list[Any]:
    return [trial.params for trial in study.trials]


# ---------------------------------------------------------------- Sampler


def test_a_model_finds_more_than_chance() -> None:
    ours = optimise(Sampler("gp", seed=0))
    chance = optimise(optuna.samplers.RandomSampler(seed=0))
    assert ours.best_value < 0.5
    assert ours.best_value < chance.best_value


def test_the_same_seed_gives_the_same_trials() -> None:
    assert params(optimise(Sampler(GP(), seed=3), trials=12)) == params(optimise(Sampler("gp", seed=3), trials=12))
    assert params(optimise(Sampler("tpe", seed=3), trials=4)) != params(optimise(Sampler("tpe", seed=4), trials=4))


def branching(trial: Any) -> float:
    if trial.suggest_categorical("kind", ["a", "b"]) == "a":
        return trial.suggest_float("depth", 0, 1, step=0.25) + 1
    return trial.suggest_float("rate", 1e-4, 1, log=True)


def layered(trial: Any) -> float:
    layers = trial.suggest_int("n_layers", 1, 4)
    units = [trial.suggest_int(f"units_{i}", 4, 128, log=True) for i in range(layers)]
    loss = abs(sum(units) - 100.0) / 100
    if trial.suggest_categorical("optimizer", ["sgd", "adam", "lion"]) == "sgd":
        loss += 1.0 - trial.suggest_float("momentum", 0.0, 0.9)
        if trial.suggest_categorical("nesterov", [False, True]) and layers > 2:
            loss += trial.suggest_float("damping", 0.0, 1.0)
    return loss


def origins(study: Any) -> list[str]:
    """By which method each trial was suggested, from the third on: the first two may begin at once."""
    return [trial.system_attrs[ATTRIBUTE][1][1].partition(":")[0] for trial in study.trials[2:]]


def test_branches_and_loops_are_modelled_and_steps_are_kept() -> None:
    study = optimise(Sampler(seed=0), branching, 20)
    assert {trial.params["depth"] for trial in study.trials if "depth" in trial.params} <= {0.0, 0.25, 0.5, 0.75, 1.0}
    assert study.best_value < 0.001
    study = optimise(Sampler(seed=0), layered, 40)
    assert set(origins(study)[20:]) == {"gp"}
    mirror = study.sampler._mirror
    assert {name: repr(mirror.history.space[mine].when) for name, mine in mirror._names.items()} == {
        "n_layers": "None",
        "units_0": "None",
        "optimizer": "None",
        "units_1": "{'p0': at_least(2)}",
        "units_2": "{'p0': at_least(3)}",
        "units_3": "{'p0': at_least(4)}",
        "momentum": f"{{'{mirror._names['optimizer']}': 0}}",
        "nesterov": f"{{'{mirror._names['optimizer']}': 0}}",
        "damping": repr(mirror.history.space[mirror._names["damping"]].when),
    }
    assert len(mirror.history.trials) == 39  # all but the running one
    assert study.best_value < 0.02


def test_what_no_condition_explains_is_modelled_all_the_same() -> None:
    def halves(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        return (trial.suggest_float("y", 0, 1) - 0.3) ** 2 if x > 0.5 else 1.0 + x

    def shifting(trial: Any) -> float:
        low = trial.suggest_int("low", 0, 4)
        return abs(trial.suggest_int("n", low, low + trial.suggest_int("more", 0, 9)) - 7.0)

    study = optimise(Sampler(seed=0), halves, 30)
    assert set(origins(study)[10:]) == {"gp"}
    assert study.best_value < 1e-4
    assert optimise(Sampler(seed=0), shifting, 20).best_value == 0


def test_failed_and_pruned_trials_and_an_exhausted_space() -> None:
    def fragile(trial: Any) -> float:
        x = trial.suggest_int("x", 0, 3)
        if x == 0:
            raise optuna.TrialPruned
        return float("nan") if x == 1 else x

    study = optimise(Sampler("random", seed=0), fragile, 12)
    assert {trial.params["x"] for trial in study.trials} == {0, 1, 2, 3}
    assert study.best_value == 2


def test_pending_trials_are_seen() -> None:
    study = optuna.create_study(sampler=Sampler("random", seed=0))
    study.add_trial(
        optuna.create_trial(value=1.0, params={"x": 0}, distributions={"x": optuna.distributions.IntDistribution(0, 4)})
    )
    asked = [study.ask({"x": optuna.distributions.IntDistribution(0, 4)}) for _ in range(4)]
    assert sorted(trial.params["x"] for trial in asked) == [1, 2, 3, 4]  # untried, although none of them has ended


def test_a_trial_that_was_seen_running_and_then_pruned_is_pending_no_more() -> None:
    sampler: Any = Sampler("gp", seed=0)
    x = {"x": optuna.distributions.FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=sampler)
    for value in (0.1, 0.5, 0.9):
        study.add_trial(optuna.create_trial(value=value, params={"x": value}, distributions=x))
    first, second = study.ask(x), study.ask(x)
    mirror = sampler._mirror
    assert len(mirror.history.running) == 1  # the first, as the second saw it
    study.tell(first, state=optuna.trial.TrialState.PRUNED)
    study.tell(second, 0.3)
    study.ask(x)
    assert not mirror.history.running


def side_by_side(trial: Any, meeting: Barrier) -> float:
    meeting.wait(60)  # the other thread is between two trials, too
    value = quadratic(trial)
    meeting.wait(60)
    return value


@pytest.mark.parametrize("method", ["gp", "cma", "tpe"])
def test_threads_share_a_sampler_and_no_configuration_is_tried_twice(method: str) -> None:
    study, meeting = optuna.create_study(sampler=Sampler(method, seed=0)), Barrier(2)
    study.optimize(lambda trial: side_by_side(trial, meeting), n_trials=24, n_jobs=2)
    tried = [tuple(each.params.values()) for each in study.trials]
    assert len(set(tried)) == 24


def test_a_sampler_and_a_study_are_copied_and_pickled() -> None:
    study = optimise(Sampler("gp", seed=0), trials=12)
    expected = params(optimise(Sampler("gp", seed=0), trials=14))
    for copied in (deepcopy(study), pickle.loads(pickle.dumps(study))):
        copied.optimize(quadratic, n_trials=2)
        assert params(copied) == expected


@pytest.mark.parametrize("method", ["gp", "cma"])
def test_another_program_goes_on_as_if_there_had_been_no_other(
    method: str, tmp_path: Path, optunas: Callable[[Path], Any]
) -> None:
    storage = optunas(tmp_path / "o.db")
    optuna.create_study(study_name="s", storage=storage)
    for _ in range(3):
        optuna.load_study(study_name="s", storage=storage, sampler=Sampler(method, seed=0)).optimize(
            quadratic, n_trials=8
        )
    found = params(optuna.load_study(study_name="s", storage=storage))
    assert found == params(optimise(Sampler(method, seed=0), trials=24))


@pytest.mark.parametrize("method", ["random", "sobol", "cma", "nsga2", "gp"])
def test_every_method_draws_by_the_seed(method: str) -> None:
    one, same, other = (params(optimise(Sampler(method, seed=seed), trials=11)) for seed in (1, 1, 2))
    assert one == same
    assert not any(first == second for first, second in zip(one, other, strict=True))


def test_a_sampler_begins_anew_with_another_study() -> None:
    sampler = Sampler("gp", seed=0)
    expected = params(optimise(sampler, trials=12, study_name="s"))
    assert params(optimise(sampler, trials=12, study_name="s")) == expected


def test_a_study_that_was_deleted_is_forgotten(tmp_path: Path, optunas: Callable[[Path], Any]) -> None:
    storage, sampler = optunas(tmp_path / "o.db"), Sampler("gp", seed=0)
    made = []
    for _ in range(2):
        study = optimise(sampler, trials=8, study_name="s", storage=storage)
        made.append(params(study))
        optuna.delete_study(study_name="s", storage=storage)
    assert made[0] == made[1]


def test_a_running_trial_is_pending_before_it_has_asked_for_anything() -> None:
    study = optimise(Sampler("gp", seed=0), trials=3)
    study.enqueue_trial({"kind": "a"})
    asked = [study.ask() for _ in range(2)]
    assert all(trial.relative_params for trial in asked)  # which Optuna asks for at the first parameter only
    study.ask().suggest_float("x", -5, 5)
    assert [trial.number for trial in study.sampler._mirror.history.running.values()] == [3, 4]
    first, second = (study.sampler._mirror.history.trials[number].config for number in (3, 4))
    assert first != second


# ---------------------------------------------------------------- pruned trials


def bowl(trial: Any) -> float:
    x, y = (trial.suggest_float(name, -5, 5) for name in "xy")
    end, loss = (x - 1) ** 2 + (y + 2) ** 2, 0.0
    for epoch in range(27):
        loss = end + 10 * 0.8**epoch
        trial.report(loss, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned
    return 100 * loss  # what is returned is on another scale than what is reported


PRUNERS = ["MedianPruner", "SuccessiveHalvingPruner", "HyperbandPruner"]


@pytest.mark.parametrize("pruner", PRUNERS)
def test_pruned_trials_are_learned_from_and_not_repeated(pruner: str) -> None:
    def run(sampler: Any) -> tuple[Any, int]:
        study = optimise(sampler, bowl, 50, pruner=getattr(optuna.pruners, pruner)())
        places = np.array([list(trial.params.values()) for trial in study.trials])
        distances = np.linalg.norm(places[:, None] - places, axis=2) + 9 * np.eye(len(places))
        pruned = [trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials]
        return study, int((distances.min(axis=1)[pruned] < 0.01).sum())

    study, repeated = run(Sampler(seed=0))
    theirs, _ = run(optuna.samplers.TPESampler(seed=0))
    assert study.best_value < theirs.best_value
    assert repeated < 10
    assert len(study.sampler._mirror.history.trials) == 49  # of all brackets of Hyperband


def test_a_pruned_trial_counts_with_what_it_would_have_come_to() -> None:
    curves = Curves()

    def trial(state: str, reports: dict[int, float], value: float | None = None) -> Any:
        return optuna.create_trial(state=optuna.trial.TrialState[state], value=value, intermediate_values=reports)

    nan = float("nan")
    assert curves.values(trial("PRUNED", {})) is None
    assert curves.values(trial("FAIL", {0: 1.0})) is None
    assert curves.values(trial("PRUNED", {0: nan})) is None
    assert curves.values(trial("PRUNED", {0: 5.0, 3: 4.0, 4: nan})) == [4.0]  # no other trial tells more
    x, y = np.array([1.0, 2.0, 4.0, 5.0]), np.array([12.0, 19.0, 42.0, 50.0])

    def at_seven(step: int, values: Any, ends: Any) -> float:
        for value, end in zip(values, ends, strict=True):
            assert curves.values(trial("COMPLETE", {0: 1.0, step: value}, end)) == [end]
        (found,) = curves.values(trial("PRUNED", {0: 9.0, step: 7.0})) or [nan]
        return found

    ratio, share = np.std(y) / np.std(x), 4 / (4 + PRIOR_POINTS)
    correlation = share * np.corrcoef(x, y)[0, 1] + 1 - share
    assert at_seven(1, x, y) == pytest.approx(np.mean(y) + ratio * correlation * 4)
    assert at_seven(2, x, -y) == pytest.approx(np.mean(-y) + ratio * (1 - share) * 4)  # it never falls
    assert at_seven(4, [3.0] * 4, y) == pytest.approx(np.mean(y) + 4)  # nothing tells the ratio
    (found,) = curves.values(trial("PRUNED", {0: 2.0})) or [nan]
    assert found == pytest.approx(np.mean([*y, *-y, *y]) + 1)


def test_what_a_sampler_refuses() -> None:
    with pytest.raises(InvalidArgument, match=r"method: must be one of .*or a searcher, but got 'magic'"):
        Sampler("magic")
    with pytest.raises(InvalidArgument, match="metric: must name one to 5 metrics"):
        optimise(Sampler("gp"), lambda trial: (trial.suggest_float("x", 0, 1),) * 6, 2, directions=["minimize"] * 6)


def tradeoff(trial: Any) -> tuple[float, float]:
    """Error and speed: nearly all of the square is far from the front, on which x is 0.5 and y from 0.2 to 0.6."""
    x, y = trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)
    return (y - 0.2) ** 2 + abs(x - 0.5), 1 - (y - 0.6) ** 2 - abs(x - 0.5)


BOTH = {"directions": ["minimize", "maximize"]}


def covered(study: Any) -> float:
    losses = np.array([(trial.values[0], -trial.values[1]) for trial in study.best_trials])
    return hypervolume(losses, np.array([0.2, -0.8]))


def test_several_directions_are_a_front() -> None:
    ours = optimise(Sampler("gp", seed=0), tradeoff, 30, **BOTH)
    chance = optimise(optuna.samplers.RandomSampler(seed=0), tradeoff, 30, **BOTH)
    assert covered(ours) > 1.2 * covered(chance)


def test_a_searcher_that_knows_one_number_gets_one_of_several() -> None:
    first, again = (params(optimise(Sampler("forest", seed=seed), tradeoff, 14, **BOTH)) for seed in (0, 0))
    assert first == again


def test_names_become_identifiers() -> None:
    assert python_names(["lr/max", "lr_max", "2d", "class", "x"]) == {
        "lr/max": "lr_max",
        "lr_max": "lr_max_",
        "2d": "p_2d",
        "class": "class_",
        "x": "x",
    }


# ---------------------------------------------------------------- import


def curve(trial: Any) -> float:
    kind = trial.suggest_categorical("kind", ["sgd", "adam"])
    lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
    momentum = trial.suggest_float("momentum", 0, 0.99) if kind == "sgd" else 0.9
    if trial.number == 3:
        raise RuntimeError("out of memory")
    loss = 1.0
    for step in range(4):
        loss = lr + (momentum - 0.9) ** 2 + 1 / (step + 1)
        trial.report(loss, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    trial.set_user_attr("note", "seen")
    return loss


@pytest.fixture
def optunas() -> Iterator[Callable[[Path], Any]]:
    """Opens a storage of Optuna, which leaves the connections to it open, and closes them."""
    with ExitStack() as end:

        def open_(path: Path) -> Any:
            storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
            end.callback(storage.engine.dispose)
            end.callback(storage.remove_session)
            return storage

        yield open_


@pytest.fixture
def stored(tmp_path: Path, optunas: Callable[[Path], Any]) -> str:
    path = tmp_path / "optuna.db"
    pruner = optuna.pruners.MedianPruner(n_startup_trials=3)
    study = optuna.create_study(
        study_name="old", storage=optunas(path), sampler=optuna.samplers.RandomSampler(seed=0), pruner=pruner
    )
    study.optimize(curve, n_trials=14, catch=RuntimeError)
    study.enqueue_trial({"kind": "adam", "lr": 0.001})
    return f"sqlite:///{path}"


def test_a_study_of_optuna_comes_whole(stored: str, tmp_path: Path, optunas: Callable[[Path], Any]) -> None:
    done = CliRunner().invoke(
        app, ["import", "--optuna", stored, "--study", "new", "--storage", str(tmp_path / "x.db")]
    )
    assert done.exit_code == 0, done.output
    assert "imported study 'new': 14 trials" in done.output
    old = optuna.load_study(study_name="old", storage=optunas(tmp_path / "optuna.db"))
    with xs.Study.open("new", tmp_path / "x.db") as study:
        momentum = xs.Float(0, 0.99, when={"kind": ["sgd"]})
        assert (
            study.space["momentum"].to_json()
            == xs.Space(kind=study.space["kind"], momentum=momentum)["momentum"].to_json()
        )
        for theirs, ours in zip(old.trials, study.trials, strict=False):
            assert ours.config == theirs.params
            assert [each.metrics["value"] for each in ours.reports] == list(theirs.intermediate_values.values())
            if theirs.state == optuna.trial.TrialState.COMPLETE:
                assert (ours.state, ours.value, ours.attrs["note"]) == (xs.State.COMPLETE, theirs.value, "seen")
                assert ours.runs.ended_at == theirs.datetime_complete.timestamp()
            else:
                pruned = theirs.state == optuna.trial.TrialState.PRUNED
                assert ours.state is (xs.State.STOPPED if pruned else xs.State.FAILED)
        assert study.history.created.at == min(
            trial.datetime_start.timestamp() for trial in old.trials if trial.datetime_start
        )
        states = {trial.state for trial in old.trials}
        assert {optuna.trial.TrialState.PRUNED, optuna.trial.TrialState.FAIL} <= states
        assert study.best.value == old.best_value
        assert audit(study).findings == []
        following = study.ask()
        assert following is not None
        assert following.config == {"kind": "adam", "lr": 0.001}  # what waited there waits here


def test_what_an_import_refuses(tmp_path: Path, stored: str, optunas: Callable[[Path], Any]) -> None:
    with pytest.raises(UnknownStudy, match="has no study 'other'; it has old"):
        import_optuna(stored, "other", "new", tmp_path / "x.db")
    url = f"sqlite:///{tmp_path / 'more.db'}"
    more = optunas(tmp_path / "more.db")
    study = optuna.create_study(study_name="odd", storage=more)
    study.optimize(
        lambda t: t.suggest_float("x", 0, 1) + (t.suggest_float("z", 0, 1) if t.number % 2 else 0), n_trials=4
    )
    with pytest.raises(InvalidSpace, match="z: must be in all trials, or where others have certain values"):
        import_optuna(url, "odd", "new", tmp_path / "x.db")
    done = CliRunner().invoke(app, ["import", "--study", "new", "--storage", str(tmp_path / "x.db")])
    assert done.exit_code == 2
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("names", [None, ["error", "speed"], ["same", "same"]])
def test_a_study_with_several_objectives_is_imported_with_its_front(
    tmp_path: Path, optunas: Callable[[Path], Any], names: list[str] | None
) -> None:
    storage = optunas(tmp_path / "both.db")
    theirs = optuna.create_study(study_name="both", storage=storage, sampler=optuna.samplers.RandomSampler(1), **BOTH)
    if names is not None:
        with pytest.warns(optuna.exceptions.ExperimentalWarning):
            theirs.set_metric_names(names)
    theirs.optimize(tradeoff, n_trials=12)
    import_optuna(f"sqlite:///{tmp_path / 'both.db'}", "both", "new", tmp_path / "x.db")
    with xs.Study.open("new", tmp_path / "x.db") as study:
        first, second = names if names == ["error", "speed"] else ["value_0", "value_1"]
        assert study.history.goals.goal == f"minimize {first}, maximize {second}"
        assert [list(trial.values.values()) for trial in study.trials] == [trial.values for trial in theirs.trials]
        assert {trial.number for trial in study.front} == {trial.number for trial in theirs.best_trials}
        assert audit(study).findings == []


def test_an_objective_with_several_values_runs_as_it_is() -> None:
    ported = xs.from_optuna(tradeoff)
    result = xs.minimize(ported, ported.space, metric={"value_0": "min", "value_1": "max"}, trials=8, seed=0)
    for trial in result.front:
        assert tuple(trial.values.values()) == tradeoff(optuna.trial.FixedTrial(trial.config))


def test_a_range_that_changed_is_that_of_all_trials(tmp_path: Path, optunas: Callable[[Path], Any]) -> None:
    url, storage = f"sqlite:///{tmp_path / 'ranges.db'}", optunas(tmp_path / "ranges.db")
    for name, step in (("plain", None), ("grid", 0.1)):
        study = optuna.create_study(study_name=name, storage=storage)
        study.optimize(lambda t, step=step: t.suggest_float("x", 0.1 * t.number, 0.9, step=step), n_trials=2)
    import_optuna(url, "plain", "new", tmp_path / "x.db")
    with xs.Study.open("new", tmp_path / "x.db") as study:
        assert study.space == xs.Space(x=xs.Float(0.0, 0.9))
    import_optuna(url, "grid", "other", tmp_path / "x.db")
    with xs.Study.open("other", tmp_path / "x.db") as study:
        assert study.space == xs.Space(x=xs.Float(0.0, 0.9))  # the steps of the two begin at different places


# ---------------------------------------------------------------- from_optuna


def static(trial: Any) -> float:
    lr = trial.suggest_float("lr", 1e-4, 1e-1, log=True)
    layers = trial.suggest_int("layers", 1, 3)
    kind = trial.suggest_categorical("kind", ["a", "b"])
    trial.set_user_attr("kind", kind)
    loss = 9.0
    for step in range(9):
        loss = abs(lr - 0.01) + layers + (kind == "a") + 1 / (step + 1)
        trial.report(loss, step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return loss


def test_an_objective_runs_unchanged() -> None:
    ported = xs.from_optuna(static)
    assert ported.space == xs.Space(lr=xs.Float(1e-4, 1e-1, log=True), layers=xs.Int(1, 3), kind=xs.Choice(["a", "b"]))
    result = xs.minimize(ported, ported.space, trials=20, max_budget=9, method="mobster-stop", seed=0)
    assert result.value < 2
    states = {trial.state for trial in result.study.trials}
    assert states == {xs.State.COMPLETE, xs.State.STOPPED}
    assert result.best.attrs["kind"] == "b"
    theirs = optimise(optuna.samplers.TPESampler(seed=0), static, 3).trials[0]
    mine = optuna.trial.FixedTrial(result.config)
    assert static(mine) == result.value  # the very same function of the parameters
    assert set(theirs.params) == set(result.config)


@pytest.mark.parametrize("workers", [1, 2])
def test_what_an_objective_returns_is_its_value(workers: int) -> None:
    def best_of(last: int, then: Any = None) -> Any:
        def objective(trial: Any) -> Any:
            losses = []
            for step in range(last):
                losses.append(trial.suggest_float("x", 0, 1) + abs(step - 2))
                trial.report(losses[-1], step)
                if trial.should_prune():
                    raise optuna.TrialPruned
            return min(losses) if then is None else then(losses)

        return xs.from_optuna(objective)

    def reports(ported: Any, **options: Any) -> list[list[float]]:
        options |= {"workers": workers, "method": "random", "trials": 2, "seed": 0}
        study = xs.minimize(ported, ported.space, **options).study
        assert [trial.state for trial in study.trials] == [xs.State.COMPLETE] * 2
        assert all(trial.value == trial.reports[-1].metrics["value"] for trial in study.trials)
        return [[report.metrics["value"] - trial["x"] for report in trial.reports] for trial in study.trials]

    def almost(*expected: float) -> Any:
        return [pytest.approx(expected)] * 2

    assert reports(best_of(5)) == almost(2, 1, 0, 1, 2, 0)  # one more
    assert reports(best_of(3)) == almost(2, 1, 0)  # it was reported last
    assert reports(best_of(5), max_budget=5) == almost(2, 1, 0, 1, 0)  # in the place of the last
    assert reports(best_of(5), max_budget=9) == almost(2, 1, 0, 1, 2, 0)
    assert reports(best_of(5), max_budget=4) == almost(2, 1, 0, 1)  # beyond max_budget nothing counts
    assert reports(best_of(5, lambda losses: None), max_budget=5) == almost(2, 1, 0, 1, 2)


def test_no_trial_is_paused_by_default(tmp_path: Path) -> None:
    ported = xs.from_optuna(static)
    options: dict[str, Any] = {"max_budget": 9, "study": "s", "storage": tmp_path / "s.db"}
    with xs.minimize(ported, ported.space, trials=4, **options).study as study:
        assert study.history.created.method == "mobster-stop"
        assert "none is paused, since the objective keeps no checkpoint" in study.history.created.why
    xs.minimize(ported, ported.space, trials=6, **options).study.close()
    given = xs.minimize(ported, ported.space, trials=1, max_budget=9, method="mobster")
    assert given.study.history.created.method == "mobster"


def test_an_objective_that_prunes_itself_at_its_last_epoch_has_reported_it() -> None:
    def objective(trial: Any) -> float:
        for step in range(3):
            trial.report(trial.suggest_float("x", 0, 1) + step, step)
        raise optuna.TrialPruned

    ported = xs.from_optuna(objective)
    study = xs.minimize(ported, ported.space, trials=1, max_budget=3, method="random", seed=0).study
    assert [report.budget for report in study.trials[0].reports] == [1, 2, 3]


LAYERED = xs.Space(
    n_layers=xs.Int(1, 4),
    units_0=xs.Int(4, 128, log=True),
    optimizer=xs.Choice(["sgd", "adam", "lion"]),
    momentum=xs.Float(0.0, 0.9, when={"optimizer": "sgd"}),
    nesterov=xs.Choice([False, True], when={"optimizer": "sgd"}),
    units_1=xs.Int(4, 128, log=True, when={"n_layers": xs.at_least(2)}),
    units_2=xs.Int(4, 128, log=True, when={"n_layers": xs.at_least(3)}),
    units_3=xs.Int(4, 128, log=True, when={"n_layers": xs.at_least(4)}),
)


def test_a_loop_over_layers_is_learned_by_running_it(caplog: pytest.LogCaptureFixture) -> None:
    def without(trial: Any) -> float:
        layers = trial.suggest_int("n_layers", 1, 4)
        for i in range(layers):
            trial.suggest_int(f"units_{i}", 4, 128, log=True)
        if trial.suggest_categorical("optimizer", ["sgd", "adam", "lion"]) == "sgd":
            trial.suggest_categorical("nesterov", [False, True])
            return float(trial.suggest_float("momentum", 0.0, 0.9)) + layers
        return float(layers)

    ported = xs.from_optuna(without)
    assert set(ported.space) == set(LAYERED)
    assert xs.Space({name: ported.space[name] for name in LAYERED}) == LAYERED
    assert "units_2 where n_layers is at_least(3)" in caplog.text
    assert "momentum where optimizer is 'sgd'" in caplog.text
    result = xs.minimize(ported, ported.space, trials=20, seed=0, method="random")
    assert result.study.history.count(xs.State.COMPLETE) == 20
    assert {trial["n_layers"] for trial in result.study.trials} == {1, 2, 3, 4}


def test_of_two_parameters_that_differ_together_the_one_that_matters_is_learned() -> None:
    def both_differ(trial: Any) -> float:
        layers = trial.suggest_int("n_layers", 1, 4)
        kind = trial.suggest_categorical("kind", ["a", "b"])
        return layers + (trial.suggest_float("momentum", 0, 1) if kind == "a" else 0.5)

    ported = xs.from_optuna(both_differ)
    assert ported.space == xs.Space(
        n_layers=xs.Int(1, 4), kind=xs.Choice(["a", "b"]), momentum=xs.Float(0, 1, when={"kind": "a"})
    )
    result = xs.minimize(ported, ported.space, trials=20, seed=0, method="random")
    assert result.study.history.count(xs.State.COMPLETE) == 20


def test_an_objective_may_use_any_names() -> None:
    def named(trial: Any) -> float:
        kind = trial.suggest_categorical("class", ["l1", "l2"])
        loss = trial.suggest_float("lambda", 0.0, 1.0) + trial.suggest_float("lr/max", 0.0, 1.0)
        if kind == "l2":
            loss += trial.suggest_float("lr_max", 0.0, 1.0)
        assert trial.params["lambda"] <= loss
        return loss

    ported = xs.from_optuna(named)
    assert list(ported.space) == ["class_", "lambda_", "lr_max", "lr_max_"]
    assert ported.space["lr_max_"] == xs.Float(0.0, 1.0, when={"class_": "l2"})
    result = xs.minimize(ported, ported.space, trials=12, seed=0)
    assert result.study.history.count(xs.State.COMPLETE) == 12
    given = xs.from_optuna(lambda trial: trial.suggest_float("lambda", 0, 1), space=xs.Space(lambda_=xs.Float(0, 1)))
    assert xs.minimize(given, given.space, trials=2, seed=0).study.history.count(xs.State.COMPLETE) == 2


def test_a_space_may_be_given() -> None:
    called = []

    def counted(trial: Any) -> float:
        called.append(trial.number)
        return layered(trial)

    whole = {**LAYERED.parameters, "damping": xs.Float(0, 1, when={"nesterov": True, "n_layers": xs.at_least(3)})}
    ported = xs.from_optuna(counted, space=xs.Space(whole))
    assert called == []
    result = xs.minimize(ported, ported.space, trials=30, seed=0, method="random")
    assert result.study.history.count(xs.State.COMPLETE) == 30
    assert any("damping" in trial.config for trial in result.study.trials)
    with pytest.raises(InvalidArgument, match=r"space: must be an xs\.Space, but got 'dict'"):
        xs.from_optuna(counted, space={})  # type: ignore[arg-type]


def test_a_trial_that_asks_for_what_no_dry_run_showed_fails_by_its_name() -> None:
    def rare(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        return trial.suggest_float("y", 0, 1) if 0.2 < x < 0.8 else x

    ported = xs.from_optuna(rare)  # neither end shows it
    trials = xs.minimize(ported, ported.space, trials=10, seed=0, max_failures=None, method="sobol").study.trials
    failed = [trial for trial in trials if trial.state is xs.State.FAILED]
    assert {0.2 < trial["x"] < 0.8 for trial in failed} == {True}
    assert "y: must be asked for by every trial, but got trial " in (failed[0].reason or "")


def test_what_no_condition_explains_is_refused_by_name() -> None:
    def shifting(trial: Any) -> float:
        return trial.suggest_int("b", 1, 1 + trial.suggest_int("a", 1, 9))

    def one_end(trial: Any) -> float:
        x = trial.suggest_float("x", 0, 1)
        return trial.suggest_float("y", 0, 1) if x > 0.6 else x

    def endless(trial: Any) -> float:
        count = sum(trial.suggest_int(f"x{i}", 0, 19) for i in range(9))
        return trial.suggest_float("y", 0, 1) if count > 9 else 0.0

    with pytest.raises(InvalidSpace, match=r"y: must be .* every trial, or .*, but got 1 of 2 dry runs did; .*space="):
        xs.from_optuna(one_end)
    with pytest.raises(InvalidSpace, match=r"b: must be the same in every trial, but got Int\(1, 2\) and Int\(1, 10\)"):
        xs.from_optuna(shifting)
    with pytest.raises(InvalidSpace, match=r"within 100 dry runs"):
        xs.from_optuna(endless)
    with pytest.raises(InvalidSpace, match="must ask for a parameter before it first reports"):
        xs.from_optuna(lambda trial: 0.0)
    with pytest.raises(ObjectiveError, match="the dry run that finds the space failed: ZeroDivisionError"):
        xs.from_optuna(lambda trial: 1 / 0)
    with pytest.raises(ObjectiveError, match=r"trial.study of Optuna has no counterpart"):
        xs.from_optuna(lambda trial: trial.study)


def test_a_study_with_a_loop_over_layers_is_imported_with_its_conditions(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'layers.db'}"
    theirs = optuna.create_study(study_name="l", storage=url, sampler=optuna.samplers.RandomSampler(seed=1))
    theirs.optimize(layered, n_trials=80)
    import_optuna(url, "l", "mine", tmp_path / "x.db")
    with xs.Study.open("mine", tmp_path / "x.db") as study:
        when = study.space.structure.when
        assert {name: repr(when[name]) for name in ("units_2", "momentum", "damping")} == {
            "units_2": "{'n_layers': at_least(3)}",
            "momentum": "{'optimizer': 'sgd'}",
            "damping": "{'n_layers': at_least(3), 'nesterov': True}",
        }
        assert study.best.value == theirs.best_value
        assert audit(study).findings == []


def test_an_imported_study_goes_on_with_the_objective_it_was_made_with(tmp_path: Path) -> None:
    """Optuna's trials asked in another order than the dry runs; the stored one stays."""

    def objective(trial: Any) -> float:
        loss = 0.0
        if trial.suggest_categorical("optimizer", ["sgd", "adam"]) == "sgd":
            loss += trial.suggest_float("momentum", 0.0, 0.9)
        return loss + float(trial.suggest_int("layers", 1, 4))

    url = f"sqlite:///{tmp_path / 'o.db'}"
    theirs = optuna.create_study(study_name="l", storage=url, sampler=optuna.samplers.RandomSampler(seed=1))
    theirs.enqueue_trial({"optimizer": "adam"})
    theirs.optimize(objective, n_trials=12)
    import_optuna(url, "l", "mine", tmp_path / "x.db")
    ported = xs.from_optuna(objective)
    with xs.Study.open("mine", tmp_path / "x.db") as study:
        stored = list(study.space)
    assert stored != list(ported.space)
    result = xs.minimize(ported, ported.space, trials=14, study="mine", storage=tmp_path / "x.db")
    assert [trial.state for trial in result.study.trials[12:]] == [xs.State.COMPLETE] * 2
    assert list(result.study.space) == stored
    assert audit(result.study).findings == []
    result.study.narrow({"layers": [1, 3]})
    xs.minimize(ported, ported.space, trials=15, study="mine", storage=tmp_path / "x.db")
    warm: dict[str, Any] = {"max_budget": 9, "study": "new", "storage": tmp_path / "x.db", "warm_start": "mine"}
    assert xs.minimize(ported, ported.space, trials=2, **warm).study.history.sources == ["mine"]


@pytest.mark.parametrize("url", ["optuna.db", "sqlite:///nowhere.db", "nosuch://somebody:s3cret@host/x"])
def test_a_storage_of_optuna_that_is_none_is_refused_and_not_made(tmp_path: Path, url: str) -> None:
    given = url.replace("nowhere.db", str(tmp_path / "nowhere.db"))
    with pytest.raises(InvalidArgument, match="must be the URL of a storage") as raised:
        import_optuna(given, None, "copy", tmp_path / "xstar.db")
    assert "s3cret" not in str(raised.value)
    assert list(tmp_path.iterdir()) == []
