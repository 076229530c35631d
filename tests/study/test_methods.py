"""What is chosen for whoever names no method, and that the choice is said and kept."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from typing import Any

import pytest

import xstar as xs
from tests.space.cases import Words
from tests.trials import run_trials
from xstar.api import yields
from xstar.errors import StudyMismatch
from xstar.look.audit import audit
from xstar.schedulers import ASHA, FIFO
from xstar.searchers import Auto, Random
from xstar.study.loop import UNKNOWN_LENGTH
from xstar.testing.problems import get
from xstar.testing.simulate import simulate

FLOATS = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
NETWORKS = xs.Space(net=xs.nets.Cell(), lr=xs.Float(1e-3, 1, log=True))


OPAQUE = xs.Space(order=Words("abcde"), x=xs.Float(0, 1))


@pytest.mark.parametrize(
    ("space", "max_budget", "method", "why"),
    [
        (FLOATS, None, "auto", "every trial runs to its end"),
        (FLOATS, 27, "mobster", "max_budget=27"),
        (FLOATS, 3, "mobster", "max_budget=3"),
        (FLOATS, 2, "auto", "2 epochs are too few"),
        (NETWORKS, None, "auto", "Gaussian process"),
        (NETWORKS, 9, "mobster", "Gaussian process"),
        (OPAQUE, None, "auto", "no model knows the values of order, so good configurations are mutated"),
        (OPAQUE, 9, "asha", "no model knows the values of order, so configurations are random"),
        (xs.Space(mask=xs.Bits(49)), None, "auto", "Gaussian process"),
        (xs.Space(mask=xs.Bits(48), a=xs.Bool(), b=xs.Choice(["u", "v"]), c=3), None, "pbil", "50 switches"),
        (xs.Space(mask=xs.Bits(60), x=xs.Float(0, 1)), None, "auto", "Gaussian process"),
    ],
)
def test_what_is_chosen(space: xs.Space, max_budget: int | None, method: str, why: str) -> None:
    created = xs.Study(space, max_budget=max_budget, seed=1).history.created
    assert (created.method, created.scheduler.get("max_budget")) == (method, max_budget)
    assert why in created.why


def test_the_choice_is_that_method() -> None:
    chosen, named = (
        xs.Study(FLOATS, max_budget=9, seed=1, method=method).history.created for method in (None, "mobster")
    )
    assert (chosen.searcher, chosen.scheduler) == (named.searcher, named.scheduler)
    assert (named.method, named.why) == ("mobster", "")


@pytest.mark.parametrize(("space", "asked"), [(FLOATS, "auto: gp: "), (OPAQUE, "auto: no model knows order; ")])
def test_auto_says_what_it_asks(space: xs.Space, asked: str) -> None:
    trial = xs.Study(space, seed=1).ask()
    assert trial is not None
    assert str(trial.origin).startswith(asked)


def tried(study: xs.Study) -> list[Any]:
    return [(trial.config, trial.budget, [(r.budget, r.at) for r in trial.reports]) for trial in study.history.trials]


@pytest.mark.parametrize("workers", [1, 4])
def test_auto_tries_what_the_gaussian_process_tries(workers: int) -> None:
    """So it is as good, wherever there are fewer observations than ``switch``."""
    problem = get("branin")
    chosen, named = (simulate(problem, method, workers=workers, trials=25, seed=3) for method in (None, "gp"))
    assert chosen.history.trials[-1].origin.startswith("auto: gp: log EI")
    assert tried(chosen) == tried(named)


def test_the_choice_is_said_once(caplog: pytest.LogCaptureFixture, tmp_path: Any) -> None:
    with caplog.at_level(logging.INFO, "xstar"):
        for _ in range(2):
            xs.Study(FLOATS, study="s", storage=tmp_path / "s.db", max_budget=9).close()
        xs.Study(FLOATS, method="gp")
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("method mobster: with max_budget=9 bad trials can end early")


def test_a_part_of_ones_own_leaves_the_rest_plain() -> None:
    given = xs.Study(FLOATS, searcher=Random(), max_budget=9)
    assert (given.searcher, given.scheduler) == (Random(), FIFO(9))
    given = xs.Study(FLOATS, scheduler=ASHA(9))
    assert (given.searcher, given.scheduler) == (Auto(), ASHA(9))
    assert (given.history.created.method, given.history.created.why) == ("", "")


def test_auto_mutates_what_no_model_knows() -> None:
    study = xs.Study(OPAQUE, seed=1)
    run_trials(study, 14, lambda trial: trial["x"] + ord(trial["order"][0]))
    origins = [str(trial.origin) for trial in study.history.trials]
    assert all(origin.startswith("auto: no model knows order; evolution: ") for origin in origins)
    assert audit(study).findings == []


def test_what_is_left_out_stays_as_stored(tmp_path: Any) -> None:
    path = tmp_path / "s.db"
    xs.Study(FLOATS, study="s", storage=path, method="sobol", max_budget=9).close()
    xs.Study(FLOATS, study="s", storage=path, max_budget=9).close()
    with pytest.raises(StudyMismatch, match="max_budget: 27 here, 9 in the stored study"):
        xs.Study(FLOATS, study="s", storage=path, max_budget=27)


# ---------------------------------------------------------------- objectives that yield


def curve(trial: Any) -> Iterator[float]:
    for epoch in range(1, 4):
        yield trial["x"] / epoch


def scaled(factor: float, trial: Any) -> Iterator[float]:
    yield factor * trial["x"]


class Curve:
    def __call__(self, trial: Any) -> Iterator[float]:
        yield trial["x"]

    def method(self, trial: Any) -> Iterator[float]:
        yield trial["x"]


def test_who_yields() -> None:
    assert all(yields(each) for each in (curve, functools.partial(scaled, 2.0), Curve(), Curve().method))
    assert not any(yields(each) for each in (lambda trial: trial["x"], Curve, len))  # type: ignore[arg-type]


def reported(trial: Any) -> None:
    for value in curve(trial):
        trial.report(value)


@pytest.mark.parametrize("objective", [curve, lambda trial: curve(trial), reported])
def test_yielding_without_a_full_budget(objective: Any, caplog: pytest.LogCaptureFixture) -> None:
    study = xs.minimize(objective, FLOATS, trials=3, seed=1).study
    assert study.history.created.method == "auto"
    assert [len(trial.reports) for trial in study.history.trials] == [3, 3, 3]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said == UNKNOWN_LENGTH
    caplog.clear()
    xs.minimize(objective, FLOATS, trials=3, seed=1, max_budget=3)
    assert UNKNOWN_LENGTH not in caplog.text
