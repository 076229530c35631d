"""Our searchers behind the interface of Ray Tune."""

from __future__ import annotations

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
        with pytest.raises(InvalidArgument, match="mode: must be 'min' or 'max', one of them for each metric"):
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
    space = from_tune(
        {**CONFIG, "lr": tune.loguniform(1e-4, 1), "q": tune.quniform(0, 1, 0.25), "k": tune.lograndint(1, 9)}
    )
    assert space == xs.Space(
        x=xs.Float(-5, 5),
        n=xs.Int(1, 4),
        kind=xs.Choice(["a", "b"]),
        fixed=3,
        lr=xs.Float(1e-4, 1, log=True),
        q=xs.Float(0, 1, step=0.25),
        k=xs.Int(1, 8, log=True),
    )
    with pytest.raises(InvalidSpace, match="z: must be a distribution that xstar has, too"):
        from_tune({"z": tune.randn(0, 1)})
    with pytest.raises(InvalidSpace, match="nested: must be"):
        from_tune({"nested": {"x": tune.uniform(0, 1)}})
