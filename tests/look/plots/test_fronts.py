"""Plots of several objectives: the numbers are those of the study, at every moment of it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.look.plots.studies import edge
from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument, SeveralObjectives
from xstar.journal import History
from xstar.journal.trial import losses_of
from xstar.look.plots.kinds import KINDS
from xstar.look.view import StudyView
from xstar.study.tradeoffs import covered


def test_the_front_of_a_plot_is_that_of_the_study() -> None:
    study = edge("two objectives")
    data = study.plot.data("front")
    leading = [number for number, own in zip(data.numbers, data.leading, strict=True) if own]
    assert sorted(leading) == sorted(trial.number for trial in study.front)
    assert_allclose(data.values[0], list(study.trials[data.numbers[0]].values.values()))
    figure = study.plot.figure("front")
    dominated, edge_, front = figure["data"]
    assert len(dominated["x"]) + len(front["x"]) == study.history.count(xs.State.COMPLETE)
    assert edge_["line"]["shape"] == "hv"
    assert edge_["x"] == sorted(edge_["x"]), "the first objective is minimised"
    assert edge_["y"] == sorted(edge_["y"]), "the second one is maximised: more of it costs more of the first"
    assert f"{front['y'][0]:.6g}" in front["hovertext"][0]
    assert "kind=" in front["hovertext"][0]


def test_a_third_objective_is_a_colour() -> None:
    figure = edge("three objectives").plot.figure("front")
    front = figure["data"][-1]
    study = edge("three objectives")
    assert front["marker"]["color"] == [study.trials[number].values["time"] for number in front["customdata"]]
    assert not any(trace["mode"] == "lines" for trace in figure["data"]), "three objectives have no edge in a plane"


def test_thresholds_are_lines() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1, metric={"a": "min", "b": ("min", 40)})
    trial = study.ask()
    assert trial is not None
    study.tell(trial, {"a": 1.0, "b": 2.0})
    (limit,) = study.plot.figure("front")["layout"]["shapes"]
    assert (limit["y0"], limit["y1"], limit["xref"]) == (40, 40, "paper")


@pytest.mark.parametrize("name", ["two objectives", "three objectives", "two over budgets"])
def test_the_last_volume_is_that_of_the_result(name: str) -> None:
    study = edge(name)
    data = study.plot.data("history")
    volume, reference = covered(study.history)
    assert_allclose(data.best.y[-1], volume)
    assert data.reference == reference
    assert (np.diff(data.best.y) >= 0).all()
    title = study.plot.figure("history")["layout"]["yaxis"]["title"]["text"]
    assert all(metric in title for metric in reference)


def test_every_volume_is_that_of_the_front_then() -> None:
    study = edge("two objectives")
    data = study.plot.data("history")
    r = np.array(
        [sign * data.reference[name] for name, sign in zip(study.goals.metrics, study.goals.signs, strict=True)]
    )
    for step, volume in zip(study.history.fronts.steps, data.best.y, strict=False):
        then = History()
        for event in study.journal.read(0):
            then.fold(event)
            if step.trial.number in then.fronts.in_order:
                break
        front = np.array([losses_of(trial) for trial in then.front])
        assert_allclose(volume, hypervolume(front, r))


def test_the_front_is_drawn_at_every_moment() -> None:
    study = edge("two objectives")
    events = list(study.journal.read(0))
    sizes = []
    for seen in range(1, len(events) + 1, 9):
        history = History()
        history.extend(islice(events, seen))
        moment = StudyView("s", history, study.journal)
        for name in ("front", "history", "parallel"):
            assert KINDS[name].suits(history)
            KINDS[name].figure(moment)
        sizes.append(len(KINDS["front"].data(moment).numbers))
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert sizes[-1] > 20


def test_a_plot_of_another_number_of_objectives_is_not_offered_and_says_which_are() -> None:
    several, one = edge("two objectives"), edge("plain")
    assert not KINDS["slice"].suits(several.history)
    assert not KINDS["front"].suits(one.history)
    with pytest.raises(SeveralObjectives, match=r"'slice' is a plot of one objective.*front, history, parallel"):
        several.plot.slice()
    with pytest.raises(InvalidArgument, match=r"several objectives.*'front'.*history"):
        one.plot.front()


def test_all_objectives_are_axes_of_parallel_coordinates() -> None:
    study = edge("three objectives")
    figure = study.plot.figure("parallel")
    assert figure["layout"]["xaxis"]["ticktext"][-3:] == ["error", "score", "time"]
    assert [trace["name"] for trace in figure["data"]] == ["dominated", "in the front"]
    front = {number for number in figure["data"][1]["customdata"] if number is not None}
    assert front == {trial.number for trial in study.front}
