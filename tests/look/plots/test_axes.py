"""What axes, bars and colours say: no more than there is, in numbers that people write."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import xstar as xs
from tests.look.plots.studies import edge
from xstar.errors import InvalidArgument
from xstar.look.plots import best, importance, timeline
from xstar.look.plots.figure import ticks
from xstar.look.plots.kinds import KINDS
from xstar.look.plots.timeline import Run, Timeline


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (1e-4, 1, "0.0001 0.001 0.01 0.1 1"),
        (8, 256, "10 20 50 100 200"),
        (0.01, 0.05, "0.01 0.02 0.05"),
        (1e-8, 1, "1e-08 1e-06 0.0001 0.01 1"),
    ],
)
def test_an_axis_of_logarithms_has_a_few_numbers_that_stand_for_themselves(low: float, high: float, words: str) -> None:
    made = ticks(low, high)
    assert made["ticktext"] == words.split()
    assert [float(word) for word in made["ticktext"]] == pytest.approx(made["tickvals"])


def test_panels_stand_in_as_many_columns_as_there_is_room_for() -> None:
    study = edge("plain")
    wide = study.plot.figure("slice")["layout"]
    narrow = study.plot.figure("slice", columns=1)["layout"]
    assert wide["xaxis2"]["domain"][0] > 0
    assert narrow["xaxis2"]["domain"] == [0, 1]
    assert narrow["height"] > wide["height"]
    with pytest.raises(InvalidArgument, match="columns"):
        study.plot.slice(columns=0)


def test_bars_of_shares_stay_between_nothing_and_all() -> None:
    data = KINDS["importance"].data(edge("plain"))
    wide = replace(data, total_error=data.total_error + 2.0, main_error=data.main_error + 2.0)
    figure = importance.draw(wide)
    for trace in figure["data"]:
        ends = trace["error_x"]
        assert np.all(np.array(trace["x"]) - ends["arrayminus"] >= 0)
        assert np.all(np.array(trace["x"]) + ends["array"] <= 1 + 1e-9)
    assert figure["layout"]["xaxis"]["range"] == [0, 1]


def test_colours_of_lines_have_a_scale() -> None:
    study = edge("maximize")
    figure = study.plot.figure("parallel")
    (scale,) = [trace for trace in figure["data"] if trace["name"] == "scale"]
    ends = scale["marker"]["colorbar"]["ticktext"]
    values = sorted((trial.value for trial in study.trials), reverse=True)
    assert [ends[0], ends[-1]] == [f"{values[0]:.4g}", f"{values[-1]:.4g}"], "the best first"
    assert scale["marker"]["colorbar"]["title"]["text"] == "value"


def test_what_was_trained_for_an_epoch_does_not_decide_what_is_in_sight() -> None:
    study = edge("multi-fidelity")
    data = KINDS["history"].data(study)
    figure = best.draw(data)
    many = np.linspace(1.0, 1.5, 9)
    paused = np.array([100.0, 200.0])
    values = {xs.State.PAUSED: (paused, paused, [1, 2]), xs.State.COMPLETE: (many, many, list(range(9)))}
    far = best.draw(replace(data, values=values, early=best.Stairs(many[:0], many[:0]), best=best.Stairs(many, many)))
    low, high = far["layout"]["yaxis"]["range"]
    assert low < 1.0
    assert 1.5 < high < 2.0
    markers = {trace["name"]: trace["marker"] for trace in figure["data"] if "marker" in trace}
    assert markers["paused"]["opacity"] < markers["complete"]["opacity"]
    json.dumps(far, allow_nan=False)


def test_a_night_in_which_nothing_ran_does_not_squeeze_the_rest() -> None:
    hour = 3600.0
    runs = [
        Run(n, 0, 0, n * 60.0 + (n > 4) * 9 * hour, (n + 1) * 60.0 + (n > 4) * 9 * hour, None, "done") for n in range(9)
    ]
    data = Timeline(runs, 9, 1, 0.0, runs[-1].end, 0.1, 0.0)
    figure = timeline.draw(data)
    (bars,) = figure["data"]
    assert figure["layout"]["xaxis"]["title"]["text"].startswith("minutes, but")
    assert bars["x"] == pytest.approx([1.0] * 9)
    assert max(bars["base"]) == pytest.approx(8 + 0.03 * 9)
    assert len(figure["layout"]["shapes"]) == 1
    assert figure["layout"]["annotations"][0]["text"].startswith(("8", "9"))
    close = replace(data, runs=runs[:5], until=runs[4].end)
    assert timeline.draw(close)["layout"]["shapes"] == []
