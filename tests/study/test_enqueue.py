"""Configurations that a user wants tried, whole or in part."""

from __future__ import annotations

import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidConfig
from xstar.inspect.audit import audit

SPACE = xs.Space(
    lr=xs.Float(1e-4, 1.0, log=True),
    solver=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0, 1, when={"solver": "sgd"}),
    net=xs.nets.Cell(when={"solver": "adam"}),
)


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("method", ["random", "sobol", "gp", "evolution", "pbil", "dngo"])
def test_the_searcher_completes_what_is_left_open(method: str) -> None:
    study = xs.Study(SPACE, method=method, seed=1)
    for number in range(14):
        if number % 2:
            study.enqueue({"lr": 0.1} if number % 4 == 1 else {"solver": "sgd", "momentum": 0.5})
        trial = ask(study)
        assert set(trial.config) == {"lr", "solver", "momentum" if trial["solver"] == "sgd" else "net"}
        if number % 4 == 1:
            assert trial["lr"] == 0.1
        elif number % 2:
            assert (trial["solver"], trial["momentum"]) == ("sgd", 0.5)
        if number % 2:
            assert trial.origin.startswith(f"enqueued: number {number // 2 + 1}, completed by ")
        study.tell(trial, trial["lr"])
    assert audit(study).findings == []


def test_the_rest_is_what_would_have_been_suggested() -> None:
    plain, queued = xs.Study(SPACE, method="sobol", seed=1), xs.Study(SPACE, method="sobol", seed=1)
    queued.enqueue({"lr": 0.1})
    one, two = plain.ask(), queued.ask()
    assert one is not None
    assert two is not None
    assert two.config == {**one.config, "lr": 0.1}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"rl": 0.1}, "rl: must be the name of a parameter"),
        ({"lr": 7}, "lr: must lie in"),
        ({"momentum": 0.5}, "momentum: takes part under a condition, .*give solver, too"),
        ({"momentum": 0.5, "solver": "adam"}, "momentum: must be left out, as solver is 'adam'"),
        ("lr", "must be a mapping"),
    ],
)
def test_refused(config: dict[str, object], message: str) -> None:
    study = xs.Study(SPACE)
    with pytest.raises(InvalidConfig, match=message):
        study.enqueue(config)
    assert study.refresh().seen == 1


def test_nothing_at_all_is_left_to_the_searcher() -> None:
    study = xs.Study(xs.Space(x=xs.Int(1, 2)), method="grid", seed=1)
    for config in ({"x": 1}, {"x": 2}, {}):
        study.enqueue(config)
        study.tell(ask(study), 1.0)
    assert "completed by random: all 2 points of the grid" in study.history.trials[-1].origin
    assert audit(study).findings == []
