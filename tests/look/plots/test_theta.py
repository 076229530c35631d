"""θ over time: the distribution that the searcher had, recomputed from the journal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import xstar as xs
from tests.look.plots.studies import HOSTILE, distribution, edge, plain
from tests.look.plots.test_kinds import checked, strings
from tests.trials import ask, run_trials
from xstar.errors import NoValue
from xstar.igo import IGO, Layout
from xstar.igo.generations import Generations
from xstar.journal import History, MemoryJournal, events as ev
from xstar.journal.trial import Origin
from xstar.look.plots.kinds import KINDS
from xstar.look.plots.theta import MOMENTS, MOST_ROWS, entropy
from xstar.look.view import StudyView
from xstar.searchers import PBIL


def words(figure: dict[str, Any]) -> str:
    return " ".join(strings(figure))


@pytest.mark.parametrize("settings", [PBIL(), PBIL("step"), PBIL("none", "umda", 1.0, 6)])
def test_the_last_one_is_the_one_that_the_searcher_draws_from(settings: PBIL) -> None:
    study = xs.Study(xs.Space(mask=xs.Bits(12), kind=xs.Choice(["a", "b", "c"])), searcher=settings, seed=2)
    run_trials(study, 70, lambda trial: float(sum(trial["mask"])) + (trial["kind"] == "a"))
    kept = study.history.memo.get(Generations, settings)
    assert kept is not None
    data, own = study.plot.data("theta"), kept.caught_up(study.history)
    newest = own.open[own.newest]
    assert_array_equal(data.table[-1], newest.theta)
    assert data.samples[-1] == newest.samples
    assert data.generations == own.newest + 1


def test_every_moment_is_that_of_algorithm_1() -> None:
    """Its plain twin: the core, told the trials generation by generation."""
    study = xs.Study(xs.Space(mask=xs.Bits(30)), method="pbil", seed=3)
    layout = Layout(study.space)
    core, expected = IGO(layout.family), {0: layout.family.start()}
    while len(study.trials) < 60:
        told: list[tuple[Any, float]] = []
        for _ in range(core.samples):
            trial = ask(study)
            told.append((trial.config, float(sum(trial["mask"]))))
            study.tell(trial, told[-1][1])
        core.update(layout.points([config for config, _ in told])[0], [value for _, value in told])
        expected[len(study.trials)] = core.theta
    data = study.plot.data("theta")
    for at, row in zip(data.trials, data.table, strict=True):
        assert_allclose(row, expected[int(at)], rtol=1e-12)
    assert len(data.trials) == len(expected) - 1  # the last one has no trial yet


def test_a_growing_study_costs_only_what_is_new_and_shows_the_same() -> None:
    study, later = distribution(40), distribution(90)
    first = study.plot.data("theta")
    while len(study.trials) < 90:
        trial = ask(study)
        if trial.number % 9 == 8:
            study.fail(trial, "out of memory")
        else:
            study.tell(trial, -float(sum(trial["mask"])) + (trial["kind"] != "tanh") + trial["layers"])
        study.plot.data("theta")
    assert study.plot.figure("theta") == later.plot.figure("theta")
    assert len(first.trials) < len(study.plot.data("theta").trials)


def test_every_kind_of_parameter_is_shown() -> None:
    study = edge("distribution")
    data = study.plot.data("theta")
    bits = [f"mask[{place}]" for place in range(6)]
    assert list(data.names[:7]) == [*bits, "optimizer = adam"]
    assert {"kind = relu", "kind = tanh", "layers", "width"} <= set(data.names)
    kinds = [place for place, name in enumerate(data.names) if name.startswith("kind = ")]
    assert_allclose(data.table[:, kinds].sum(axis=1), 1.0)
    assert data.table.min() >= 0
    assert data.table.max() <= 1
    figure = checked(KINDS["theta"].figure(study))
    assert f"undecided: {data.undecided[-1]:.2f}" in words(figure)
    assert data.undecided[0] == pytest.approx(1.0)  # all are uniform at the start
    assert 0 < data.undecided[-1] < 1


@pytest.mark.parametrize(
    ("study", "reason"),
    [
        (lambda: plain(5), "random draws from no distribution"),
        (lambda: xs.Study(xs.Space(x=xs.Bits(3)), method="pbil"), "no trial has been drawn yet"),
        (lambda: xs.Study(xs.Space(x=3), method="pbil"), "nothing to learn about"),
    ],
)
def test_a_study_without_it_says_so(study: Any, reason: str) -> None:
    made = study()
    with pytest.raises(NoValue, match=reason):
        made.plot.data("theta")
    figure = made.plot.figure("theta")
    assert not figure["data"]
    assert reason in words(figure)


def test_of_many_bits_the_first_have_a_row() -> None:
    study = xs.Study(xs.Space(mask=xs.Bits(MOST_ROWS + 1)), method="pbil", seed=1)
    run_trials(study, 30, lambda trial: float(sum(trial["mask"])))
    figure = checked(KINDS["theta"].figure(study))
    (heat,) = (trace for trace in figure["data"] if trace["type"] == "heatmap")
    assert len(heat["z"]) == MOST_ROWS
    assert f"{MOST_ROWS} of {MOST_ROWS + 1} rows shown" in words(figure)


def test_a_hostile_option_is_text() -> None:
    text = words(KINDS["theta"].figure(edge("distribution")))
    assert HOSTILE[:5] not in text
    assert "&lt;img" in text


def test_many_generations_are_thinned_out() -> None:
    study, trials, size = _long(10_000, 10), 10_000, 10
    data = KINDS["theta"].compute(study)
    assert data.generations == trials // size
    assert len(data.trials) == MOMENTS
    assert (np.diff(data.trials) > 0).all()
    assert data.trials[-1] == trials - size
    figure = checked(KINDS["theta"].figure(study))
    assert f"{len(data.trials)} of 1,000 generations shown" in words(figure)


def _long(trials: int, size: int) -> StudyView:
    """So many trials in generations of ``size``, as events folded at once; each generation learns from the one before."""
    first = xs.Study(xs.Space(mask=xs.Bits(20)), searcher=PBIL("none", samples=size), seed=1)
    masks = (np.random.default_rng(0).random((trials, 20)) < 0.5).astype(int)
    made: list[ev.Event] = list(first.journal.read(0))
    for number, mask in enumerate(masks.tolist()):
        generation, place = divmod(number, size)
        learned = [generation - 1] if generation and not place else []
        origin = Origin("pbil", f"generation {generation}", steps=[(generation, learned, [])])
        made.append(ev.Asked(number, {"mask": "".join(map(str, mask))}, origin, 1, float(number)))
        made.append(ev.Reported(number, 1, {"value": float(sum(mask))}, number + 0.5, 1, final=True))
    history = History()
    history.extend(made)
    return StudyView("long", history, MemoryJournal(made))


def test_entropy_is_a_share_of_its_maximum() -> None:
    assert_allclose(entropy(np.array([[0.25] * 4, [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]])), [1.0, 0.0, 0.5])
