"""Our searchers behind the interface of Ray Tune."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import InvalidArgument, InvalidSpace

try:  # not importorskip: an installed Ray without Tune's dependencies raises when it is imported
    from ray import tune
except ImportError:
    pytest.skip("ray[tune] is not installed", allow_module_level=True)

from xstar.integrations.raytune import Searcher, from_tune

CONFIG: dict[str, Any] = {
    "x": tune.uniform(-5, 5),
    "n": tune.randint(1, 5),
    "kind": tune.choice(["a", "b"]),
    "fixed": 3,
}


def loss(config: dict[str, Any]) -> float:
    return float((config["x"] - 1) ** 2 + config["n"] + (config["kind"] == "a"))


def drive(searcher: Any, start: int, stop: int) -> list[float]:
    found = []
    for number in range(start, stop):
        config = searcher.suggest(f"t{number}")
        found.append(loss(config))
        searcher.on_trial_complete(f"t{number}", {"loss": found[-1]})
    return found


def made(seed: int = 0) -> Any:
    searcher = Searcher(method="gp", seed=seed)
    assert searcher.set_search_properties("loss", "min", dict(CONFIG))
    return searcher


def test_a_model_behind_the_interface_of_tune() -> None:
    found = drive(made(), 0, 25)
    assert min(found) < 1.1
    assert found == drive(made(), 0, 25)


def test_it_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    whole = drive(made(), 0, 16)
    first = made()
    begun = drive(first, 0, 12)
    first.save(str(tmp_path / "state"))
    again = Searcher(metric="loss", mode="min")
    again.restore(str(tmp_path / "state"))
    assert begun + drive(again, 12, 16) == whole


def test_several_metrics_are_objectives(tmp_path: Path) -> None:
    searcher = Searcher(method="gp", seed=0, metric=["loss", "size"], mode=["min", "max"])
    assert searcher.set_search_properties(None, None, dict(CONFIG))  # a TuneConfig without a metric
    for number in range(12):
        config: Any = searcher.suggest(f"t{number}")
        searcher.on_trial_complete(f"t{number}", {"loss": loss(config), "size": config["x"]} if number else {"loss": 1})
    assert "no finite size" in str(searcher.study.trials[0].reason)
    searcher.save(str(tmp_path / "state"))
    again = Searcher(metric=["loss", "size"], mode=["min", "max"])
    again.restore(str(tmp_path / "state"))
    assert len(again.study.front) > 1
    assert again.suggest("next") == searcher.suggest("next")
    for wrong in (["min"], ["min", "obs"], "least"):
        with pytest.raises(InvalidArgument, match=r"mode: .*'min' or 'max'"):
            Searcher(metric=["loss", "size"], mode=wrong)


def test_trials_that_fail_and_a_space_that_ends() -> None:
    searcher = Searcher(xs.Space(c=xs.Choice(["a", "b"])), metric="loss", mode="max", method="random", seed=0)
    searcher.suggest("first")
    searcher.suggest("second")
    assert searcher.suggest("third") is None  # two are running, and there is no other
    searcher.on_trial_complete("first", error=True)
    searcher.on_trial_complete("second", {"loss": 1.0})
    assert searcher.suggest("fourth") == Searcher.FINISHED


def test_what_is_converted_and_what_is_not() -> None:
    space, _ = from_tune(
        {**CONFIG, "lr": tune.loguniform(1e-4, 1), "q": tune.quniform(0, 1, 0.25), "k": tune.lograndint(1, 9)}
    )
    assert space == xs.Space(
        x=xs.Float(-5, 5),
        n=xs.Int(1, 4),
        kind=xs.Choice(["a", "b"]),
        lr=xs.Float(1e-4, 1, log=True),
        q=xs.Float(0, 1, step=0.25),
        k=xs.Int(1, 8, log=True),
    )
    with pytest.raises(InvalidSpace, match="z: must be a distribution"):
        from_tune({"z": tune.randn(0, 1)})
    with pytest.raises(InvalidSpace, match="z: must be a distribution"):
        from_tune({"z": tune.grid_search([1, 2])})
    with pytest.raises(InvalidSpace, match="a/z: must not be searched within a list"):
        from_tune({"a": {"z": [1, tune.uniform(0, 1)]}})
    with pytest.raises(InvalidSpace, match=r"a/b: must differ .* 'a__b'"):
        from_tune({"a__b": tune.uniform(0, 1), "a": {"b": tune.uniform(0, 1)}})


NESTED: dict[Any, Any] = {
    "opt": {"lr": tune.loguniform(1e-4, 1), "betas": {"one": tune.uniform(0, 1)}},
    "model/width": tune.randint(1, 9),
    "lambda": tune.uniform(0, 1),
    "constants": {"path": "data", "layers": [1, 2]},
    7: tune.choice(["a", "b"]),
}


@pytest.mark.parametrize("again", [copy.deepcopy, lambda searcher: pickle.loads(pickle.dumps(searcher)), "save"])
def test_nested_dictionaries_and_any_names(again: Any, tmp_path: Path) -> None:
    """What is suggested has the form of the ``param_space``, of which Tune keeps the constants; also after it was saved."""
    searcher = Searcher(method="random", seed=0)
    searcher.save(str(tmp_path / "early"))
    searcher.restore(str(tmp_path / "early"))  # nothing is known yet
    assert searcher.set_search_properties("loss", "min", NESTED)
    for number in range(3):
        config = searcher.suggest(f"t{number}")
        assert config.keys() == {"opt", "model/width", "lambda", 7}
        assert set(config["opt"]) == {"lr", "betas"}
        assert 0 <= config["opt"]["betas"]["one"] <= 1
        searcher.on_trial_complete(f"t{number}", {"loss": 1.0})
    if again == "save":
        searcher.save(str(tmp_path / "state"))
        other = Searcher()
        other.restore(str(tmp_path / "state"))
    else:
        other = again(searcher)
    assert len(other.study.trials) == 3
    assert other.suggest("t3") == searcher.suggest("t3")
    assert len(other.study.trials) == len(searcher.study.trials) == 4


def test_points_that_were_evaluated_before() -> None:
    searcher = Searcher(method="random", seed=0)
    searcher.set_search_properties("loss", "min", NESTED)
    point: dict[Any, Any] = {
        "opt": {"lr": 0.1, "betas": {"one": 0.5}},
        "model/width": 3,
        "lambda": 0.25,
        7: "a",
        "constants": {},
    }
    searcher.add_evaluated_point(point, 2.0)
    searcher.add_evaluated_point(point | {"lambda": 0.5}, 1.0, pruned=True)
    searcher.add_evaluated_point(point | {"lambda": 0.75}, 0.0, error=True)
    searcher.add_evaluated_point(point | {"lambda": 1.0}, float("nan"))
    trials = searcher.study.trials
    assert [trial["p_lambda"] for trial in trials] == [0.25, 0.5, 0.75, 1.0]
    assert [trial.state for trial in trials] == [xs.State.COMPLETE] * 2 + [xs.State.FAILED] * 2
    assert searcher.study.best.number == 1
    with pytest.raises(xs.XstarError, match="model__width"):
        searcher.add_evaluated_point(point | {"model/width": 99}, 2.0)


def test_a_space_without_a_metric_says_what_to_do() -> None:
    with pytest.raises(InvalidArgument, match=r"metric: .*param_space only.*Searcher\(space, metric="):
        Searcher(xs.Space(x=xs.Float(0, 1))).suggest("t0")
    with pytest.raises(InvalidArgument, match="space: is not known yet"):
        Searcher(metric="loss").suggest("t0")


@pytest.mark.slow
@pytest.mark.parametrize("given", ["space", "param_space"])
def test_a_tuner(given: str, tmp_path: Path) -> None:
    """The whole of Tune, as the documentation has it."""
    import ray

    def objective(config: dict[str, Any]) -> None:
        tune.report({"loss": (config["x"] - 1) ** 2 + len(config.get("data", ""))})

    options: dict[str, Any] = {"param_space": {"x": tune.uniform(-5, 5), "data": "ab"}}
    searcher = Searcher(method="gp", seed=0)
    if given == "space":
        options, searcher = {}, Searcher(xs.Space(x=xs.Float(-5, 5)), metric="loss", mode="min", seed=0)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        tuner = tune.Tuner(
            objective,
            tune_config=tune.TuneConfig(search_alg=searcher, metric="loss", mode="min", num_samples=4),
            run_config=tune.RunConfig(name="search", storage_path=str(tmp_path), verbose=0),
            **options,
        )
        found: Any = tuner.fit()
    finally:
        ray.shutdown()
    losses = [result.metrics["loss"] for result in found]
    assert len(set(losses)) == 4
    assert found.get_best_result().metrics["loss"] == min(losses)
    assert min(losses) >= (2 if given == "param_space" else 0)  # the constant is there
