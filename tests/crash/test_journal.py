"""The checks of the soak find what they look for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import xstar as xs
from tests.crash.journal import Watch
from xstar.journal import events as ev

SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.fixture
def study(tmp_path: Path) -> Iterator[xs.Study]:
    with xs.Study(SPACE, study="s", storage=tmp_path / "x.db", method="asha", max_budget=3, seed=1) as made:
        yield made


@pytest.fixture
def watch(tmp_path: Path, study: xs.Study) -> Iterator[Watch]:
    (tmp_path / "acknowledged.txt").touch()
    made = Watch(str(tmp_path / "x.db"), "s", tmp_path / "acknowledged.txt")
    yield made
    made.close()


def acknowledge(watch: Watch, *report: float) -> None:
    with watch.acknowledged.open("a") as file:
        file.write(json.dumps(report) + "\n")


def test_a_sound_study_passes(study: xs.Study, watch: Watch) -> None:
    trial = study.ask()
    assert trial is not None
    assert list(watch.holders()) == [(0, 0)]
    study.report(trial, 0.5)
    acknowledge(watch, 0, 0, 1, 0.5)
    acknowledge(watch, 0, 1, 1, 0.5)  # said again by a later attempt
    watch.check()
    assert (watch.lines, watch.audits, watch.decisions) == (2, 1, 2)
    assert watch.holders() == {}


@pytest.mark.parametrize("report", [(0, 0, 2, 0.5), (0, 0, 1, 0.6), (1, 0, 1, 0.5)])
def test_a_missing_report_is_found(study: xs.Study, watch: Watch, report: tuple[float, ...]) -> None:
    trial = study.ask()
    assert trial is not None
    study.report(trial, 0.5)
    acknowledge(watch, *report)
    with pytest.raises(AssertionError, match="not in the journal"):
        watch.check()


def test_a_trial_that_runs_twice_is_found(study: xs.Study, watch: Watch) -> None:
    study.ask()
    study.journal.append([ev.Started(0, 1, 2, 1.0, 1)], 2)
    with pytest.raises(AssertionError, match="run twice at once"):
        watch.check()


def test_a_decision_that_does_not_follow_is_found(study: xs.Study, watch: Watch) -> None:
    made = study._policy.start(study.history, 1.0)
    assert isinstance(made, ev.Asked)
    study.journal.append([replace(made, config={"x": 0.123})], 1)
    with pytest.raises(AssertionError, match="recomputed"):
        watch.check()


def test_a_stuck_trial_is_found(study: xs.Study, watch: Watch) -> None:
    study.ask()
    watch.check()
    with pytest.raises(AssertionError):
        watch.check_end(1)
