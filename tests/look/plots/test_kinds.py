"""Every kind of plot, of every kind of study: numbers first, then a figure that is JSON and nothing else."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.clocks import study_at
from tests.look.plots.studies import EDGES, edge, many, multi_fidelity, plain
from tests.trials import ask, run_trials
from xstar import nets
from xstar.errors import InvalidArgument
from xstar.look.plots import calibration
from xstar.look.plots.figure import grid
from xstar.look.plots.kinds import KINDS, kind
from xstar.look.plots.models import Learned
from xstar.look.plots.source import thinned
from xstar.models.gp import Posterior

MOST_BYTES = 1_500_000
"""Of a figure's JSON, however large the study: a browser has to read it."""

WEBGL = {"scattergl", "parcoords", "splom", "heatmapgl", "scatter3d", "surface"}


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in strings(each)]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    return [value] if isinstance(value, str) else []


def checked(figure: dict[str, Any]) -> dict[str, Any]:
    """A figure that is strict JSON, without WebGL, and small enough."""
    text = json.dumps(figure, allow_nan=False)
    assert len(text) < MOST_BYTES
    assert json.loads(text) == figure
    assert not {trace["type"] for trace in figure["data"]} & WEBGL
    assert figure["layout"]["title"]["text"]
    return figure


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("study", EDGES)
def test_a_plot_of_any_study_is_a_figure(name: str, study: str) -> None:
    if not KINDS[name].fits(edge(study).history):
        with pytest.raises(InvalidArgument, match="of this study there are"):
            KINDS[name].figure(edge(study))
        return
    figure = checked(KINDS[name].figure(edge(study)))
    notes = figure["layout"].get("annotations", [])
    assert figure["data"] or notes, "a figure without anything to see says why"


@pytest.mark.parametrize("name", KINDS)
def test_a_hostile_study_cannot_mark_up_a_plot(name: str) -> None:
    one = KINDS[name].objectives != "several"
    for text in strings(KINDS[name].figure(edge("hostile" if one else "four hostile objectives"))):
        assert "<img" not in text
        assert "<script" not in text
        assert "</script" not in text


@pytest.mark.parametrize("name", [name for name, each in KINDS.items() if each.objectives != "several"])
def test_a_plot_of_a_hundred_thousand_trials_says_what_it_leaves_out(name: str) -> None:
    figure = checked(KINDS[name].figure(many()))
    drawn = sum(len(trace.get("x", ())) for trace in figure["data"])
    assert drawn < 20_000
    if name in ("history", "curves", "parallel", "slice"):
        assert "of 100,000 trials shown" in figure["layout"]["title"]["subtitle"]["text"]
    if name == "timeline":
        assert "of 100,000 runs" in figure["layout"]["title"]["subtitle"]["text"]


@pytest.mark.parametrize(
    "domain",
    [nets.MLP(inputs=8), nets.CNN(8), nets.Cell(), nets.Chain(("nor_conv_1x1", "nor_conv_3x3"))],
    ids=lambda domain: type(domain).__name__,
)
def test_the_map_of_networks_suits_every_kind_of_them(domain: Any) -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1), net=domain), method="random", seed=1)
    for _ in range(2):  # also before the first trial
        assert KINDS["networks"].suits(study.history)
        study.ask()
    assert not KINDS["networks"].suits(plain(1).history)


def test_every_kind_is_a_method_of_the_study() -> None:
    study = edge("plain")
    assert set(KINDS) <= set(dir(study.plot))
    with pytest.raises(AttributeError, match="history"):
        study.plot.unheard_of  # noqa: B018
    with pytest.raises(InvalidArgument, match="did you mean 'history'"):
        kind("histroy")
    with pytest.raises(InvalidArgument, match="colour"):
        KINDS["history"].figure(study, colour="red")


def test_plotly_accepts_every_figure() -> None:
    go = pytest.importorskip("plotly.graph_objects")
    for name, each in KINDS.items():
        some = (
            ("plain", "multi-fidelity", "networks", "failed") if each.objectives != "several" else ("two objectives",)
        )
        for study in some:
            made = getattr(edge(study).plot, name)()
            assert isinstance(made, go.Figure)


# ---------------------------------------------------------------- the numbers


def test_the_best_so_far_ends_at_the_best() -> None:
    study = edge("plain")
    for over in ("trials", "time", "budget"):
        data = study.plot.data("history", over=over)
        assert data.best.y[-1] == study.best.value
        assert (np.diff(data.best.y) <= 0).all()
        assert (np.diff(data.best.x) >= 0).all()
    assert data.best.x[-1] == 30  # one epoch each
    assert data.answer == (study.best.number, study.best.value)


def test_the_budget_spent_counts_each_epoch_once() -> None:
    study = edge("multi-fidelity")
    data = study.plot.data("history", over="budget")
    assert data.best.x[-1] == sum(trial.budget for trial in study.trials)


def test_incomplete_trials_have_a_line_of_their_own() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="asha", max_budget=9, seed=1)
    study.report(ask(study), 0.5)
    data = study.plot.data("history")
    assert len(data.best.x) == 0
    assert data.early.y[-1] == 0.5


def test_the_funnel_counts_every_trial_once_per_rung() -> None:
    study = multi_fidelity()
    data = study.plot.data("rungs")
    assert data.rungs == (1, 3, 9)
    for place, rung in enumerate(data.rungs):
        assert sum(counts[place] for counts in data.outcomes.values()) == sum(t.budget >= rung for t in study.trials)


def test_runs_at_the_same_time_lie_on_different_lines() -> None:
    now = 0.0

    def clock() -> float:
        return now

    study = study_at(clock, xs.Space(x=xs.Float(0, 1)), method="asha", max_budget=3, seed=1)
    first, second = study.ask(), study.ask()
    assert first is not None
    assert second is not None
    now = 2.0
    study.report(first, 0.5)  # pauses at its rung
    third = study.ask()
    now = 3.0
    study.fail(second, "no")
    data = study.plot.data("timeline")
    assert third is not None
    assert data.lines == 2
    assert [(run.trial, run.line, run.start, run.end, run.ending) for run in data.runs] == [
        (0, 0, 0.0, 2.0, "done"),
        (1, 1, 0.0, 3.0, "failed"),
        (2, 0, 2.0, 3.0, "running"),
    ]
    assert_allclose(data.busy, 1.0)
    assert_allclose(data.lost, 0.5)


def test_a_wider_space_and_what_was_added_are_no_runs() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", seed=1)
    study.add({"x": 0.5}, 1.0)
    for high in (2, 3):
        study.widen(xs.Space(x=xs.Float(0, high)))
    study.tell(ask(study), 0.1)
    data = study.plot.data("timeline")
    assert (len(data.runs), data.total) == (1, 1)


def test_what_matters_is_found() -> None:
    space = xs.Space(a=xs.Float(0, 1), b=xs.Float(0, 1), c=xs.Choice(["u", "v", "w"]), idle=xs.Float(0, 1))
    study = xs.Study(space, method="random", seed=1)
    run_trials(study, 80, lambda trial: 3 * trial["a"] + (trial["c"] == "u"))
    data = study.plot.data("importance")
    shares = dict(zip(data.names, data.total, strict=True))
    assert data.names[0] == "a"
    assert shares["idle"] < 0.1
    assert shares["b"] < 0.1
    assert shares["c"] > shares["idle"]
    assert (data.total_error >= 0).all()


def test_the_shares_of_an_additive_function_are_those_of_its_variances() -> None:
    """Var(3a) : Var(b) = 9 : 1 on the unit square."""
    study = xs.Study(xs.Space(a=xs.Float(0, 1), b=xs.Float(0, 1)), method="sobol", seed=1)
    run_trials(study, 256, lambda trial: 3 * trial["a"] + trial["b"])
    data = study.plot.data("importance")
    main = dict(zip(data.names, data.main, strict=True))
    assert_allclose([main["a"], main["b"]], [0.9, 0.1], atol=0.08)


def test_left_out_predictions_are_those_of_a_model_without_the_observation() -> None:
    """The closed form against its plain form: condition on all others."""
    history = plain(20).history
    learned = Learned.of(history)
    made, _ = calibration._at_full_budget(history, learned)
    (mean,), (deviation,) = made.means, made.deviations
    gp, y = learned.gp, learned.y
    for one in (0, 7, 19):
        rest = np.arange(20) != one
        without = Posterior.of(gp.surrogate, gp.theta, gp.X[rest], y[rest])
        at = without.predict(gp.X[one : one + 1])
        assert_allclose(at.mean[0, 0], mean[one], rtol=1e-6, atol=1e-8)
        assert_allclose(at.variance[0] + without.noise, deviation[one] ** 2, rtol=1e-4)


def test_intervals_over_budgets_cover_what_they_say() -> None:
    """About half of what was observed lies in the narrow intervals, nearly all in the wide ones."""
    space = xs.Space(lr=xs.Float(1e-4, 1.0, log=True), width=xs.Int(8, 256, log=True))
    study, noise = xs.Study(space, method="asha", max_budget=9, seed=3), np.random.default_rng(0)
    for _ in range(60):
        trial = ask(study)
        start = 0 if not trial.reports else trial.budget
        for epoch in range(start + 1, 10):
            error = 0.02 * abs(np.log10(trial["lr"]) + 2.0) + 0.1 * noise.random() / epoch
            if study.report(trial, error, budget=epoch) is not xs.Verdict.CONTINUE:
                break
    data = study.plot.data("calibration")
    assert data.how.startswith("tenfold")
    assert 0.3 < data.within[0.5] < 0.8
    assert 0.75 < data.within[0.9] <= 1.0
    assert np.mean((data.low <= data.observed) & (data.observed <= data.high)) == pytest.approx(data.within[0.9])
    assert data.explained > 0.2
    assert (data.low <= data.predicted).all()
    assert (data.predicted <= data.high).all()


def test_a_contour_is_low_where_trials_were_good() -> None:
    data = plain(60).plot.data("contour", x="x", y="lr")
    low = np.unravel_index(data.mean.argmin(), data.mean.shape)
    assert abs(data.across[low[1]] - 0.3) < 0.15
    with pytest.raises(InvalidArgument, match="x"):
        plain(60).plot.data("contour", x="nothing")


@pytest.mark.parametrize(
    ("space", "budget", "absent"),
    [
        (xs.Space(a=xs.Float(0, 1)), 9, {"contour", "parallel"}),
        (xs.Space(a=xs.Float(0, 1), b=xs.Float(0, 1)), None, {"curves", "rungs"}),
    ],
)
def test_a_page_leaves_out_what_a_study_can_never_show(space: xs.Space, budget: int | None, absent: set[str]) -> None:
    study = xs.Study(space, method="gp" if budget is None else "asha", max_budget=budget)
    many = {"front", "networks", "theta", "comparison"}
    assert set(KINDS) - many - {name for name in KINDS if KINDS[name].suits(study.history)} == absent


def test_studies_that_differ_only_in_the_seed_share_a_band() -> None:
    studies = [plain(20, seed=seed) for seed in (1, 2, 3)]
    other = edge("maximize")
    data = studies[0].plot.data("comparison", others=studies[1:])
    (group,) = data.groups
    assert len(group.studies) == 3
    best = np.mean([study.best.value for study in studies])
    assert_allclose(group.mean[-1], best)
    assert (group.low <= group.mean).all()
    assert (group.mean <= group.high).all()
    with pytest.raises(InvalidArgument, match="same metric and direction"):
        studies[0].plot.data("comparison", others=[other])


def test_reasons_that_differ_in_numbers_only_are_one() -> None:
    data = edge("failed").plot.data("failures")
    assert [reason for reason, _, _ in data.reasons] == ["RuntimeError: out of memory at …", "too slow"]
    assert data.panels[0][0].name == "x"
    assert data.panels[0][3] == 1.0  # apart


def test_the_best_network_comes_with_its_ancestors() -> None:
    study = edge("networks")
    data = study.plot.data("networks")
    best = study.history.trials[data.trials[data.best]]
    parent = best.origin.numbers.get("parent")
    assert data.ancestors == () if parent is None else data.trials[data.ancestors[0]] == parent


@pytest.mark.parametrize(("count", "most"), [(0, 5), (3, 5), (1000, 10)])
def test_thinning_keeps_what_it_is_told(count: int, most: int) -> None:
    keep = [count - 2] if count > 2 else []
    places = thinned(count, most, keep)
    assert len(places) <= max(most, 0) + len(keep) or count <= most
    assert set(keep) <= set(places.tolist())


@pytest.mark.parametrize(("panels", "columns"), [(1, 1), (12, 1), (12, 3), (7, 3)])
def test_panels_are_alike_and_do_not_overlap(panels: int, columns: int) -> None:
    places = grid(panels, columns)
    wide, high = ({round(domain[1] - domain[0], 9) for domain in domains} for domains in zip(*places, strict=True))
    assert len(wide) == len(high) == 1
    assert high.pop() > 0.5 / -(-panels // columns)
    for (x, y), (other_x, other_y) in combinations(places, 2):
        assert x[1] <= other_x[0] or other_x[1] <= x[0] or other_y[1] < y[0]


def test_words_become_options() -> None:
    assert KINDS["history"].read({"over": "time", "most": "10"}) == {"over": "time", "most": 10}
    assert KINDS["slice"].read({"parameters": "x,lr"}) == {"parameters": ["x", "lr"]}
    with pytest.raises(InvalidArgument, match="whole number"):
        KINDS["history"].read({"most": "many"})
