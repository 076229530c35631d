"""The picture of rungs: every trial a line, a dot at every rung it reached, its pauses dotted."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from numpy.testing import assert_allclose

from xstar import problems
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.events import Reported, Started
from xstar.plots import rungs_chart
from xstar.plots.rungs import PAUSE, trace
from xstar.schedulers import ASHA, Hyperband, StoppingASHA
from xstar.simulation import simulate

SVG = "{http://www.w3.org/2000/svg}"
PROBLEM = problems.get("curves-mlp", max_budget=9)


def history_of(scheduler: ASHA | StoppingASHA, workers: int = 1) -> History:
    return simulate(PROBLEM, scheduler=scheduler, workers=workers, trials=12, seed=1).history


def test_a_dot_for_every_report_at_a_rung() -> None:
    history = history_of(ASHA(9), workers=3)
    until = max(report.at for trial in history.trials for report in trial.reports)
    svg = rungs_chart({"a": history}, title="T & U", until=until)
    root = ET.fromstring(svg)
    reports = [report for trial in history.trials for report in trial.reports if report.budget in (1, 3, 9)]
    assert len(root.findall(f"{SVG}circle")) == len(reports)
    assert len(root.findall(f"{SVG}polyline")) >= len(history.trials)
    words = [element.text for element in root.findall(f"{SVG}text")]
    assert {"a", "T & U", "1", "3", "9"} <= set(words)


def test_what_comes_later_is_not_shown() -> None:
    history = history_of(ASHA(9))
    first = history.trials[0].reports[0].at
    root = ET.fromstring(rungs_chart({"a": history}, title="t", until=first))
    assert len(root.findall(f"{SVG}circle")) == 1


def test_panels_share_their_axes() -> None:
    history = history_of(ASHA(9))
    root = ET.fromstring(rungs_chart({"left": history, "right": history}, title="t", until=50.0))
    circles = [(float(e.attrib["cx"]), e.attrib["cy"], e.attrib["r"]) for e in root.findall(f"{SVG}circle")]
    half = len(circles) // 2
    shift = circles[half][0] - circles[0][0]
    assert shift > 0
    assert [(round(x + shift, 1), y, r) for x, y, r in circles[:half]] == circles[half:]


def test_pauses_are_where_the_scheduler_paused() -> None:
    study = simulate(PROBLEM, scheduler=Hyperband(9, brackets=1), workers=2, trials=27, seed=1)
    reached: dict[int, tuple[int, float]] = {}
    waits = {}  # (trial, budget) → since when and until when
    for event in study.journal.read(0):
        if isinstance(event, Reported):
            reached[event.trial] = event.budget, event.at
        elif isinstance(event, Started):
            budget, at = reached[event.trial]
            waits[event.trial, budget] = at, event.at
    seen = {
        (trial.number, int(budget)): (since, until)
        for trial in study.history.trials
        for (since, budget), (until, _) in trace(trial, 1e9).paused
    }
    assert len(seen) > 5
    for key, (since, until) in waits.items():
        if key in seen:
            assert_allclose(seen[key], (since, until), rtol=1e-6)
        else:  # it was promoted at once, or nearly
            trial = study.history.trials[key[0]]
            assert until - since <= PAUSE * (trial.reports[0].at - trial.asked_at) + 1e-9


def test_without_pauses_a_trial_is_one_line() -> None:
    for trial in history_of(StoppingASHA(9)).trials:
        line = trace(trial, 1e9)
        assert line.paused == []
        assert len(line.trained) == 1
        assert len(line.trained[0]) == 1 + len(trial.reports)


def test_no_panels_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="panels"):
        rungs_chart({}, title="t", until=1.0)


def test_an_empty_history_is_an_empty_panel() -> None:
    assert ET.fromstring(rungs_chart({"a": History((1, 3))}, title="t", until=1.0)) is not None
