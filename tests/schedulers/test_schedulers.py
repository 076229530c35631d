"""Schedulers: the shared suite, hand-worked examples, degenerate twins, and settings that make no sense."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, strategies as st

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, InvalidReport
from xstar.journal.trial import State, Trial, Verdict
from xstar.schedulers import ASHA, FIFO, Hyperband, Median, Scheduler, StoppingASHA, geometric_rungs
from xstar.searchers.random import Random
from xstar.study.methods import METHODS
from xstar.testing import check_scheduler
from xstar.testing.schedulers import simulated

ALL: list[Scheduler] = [
    FIFO(9),
    ASHA(27),
    ASHA(27, brackets=None),
    ASHA(9, full_share=True),
    ASHA(9, brackets=None, full_share=True),
    ASHA(20, min_budget=2, eta=2, brackets=3),
    ASHA(10, rung_levels=(2, 5, 10)),
    StoppingASHA(27),
    StoppingASHA(27, brackets=None),
    StoppingASHA(10, eta=4),
    Hyperband(9, brackets=1),
    Hyperband(9),
    Hyperband(10, rung_levels=(2, 5, 10), eta=2),
    Median(9),
    Median(9, grace_period=3),
]


@pytest.mark.parametrize("scheduler", ALL, ids=repr)
def test_conforms(scheduler: Scheduler) -> None:
    check_scheduler(scheduler)


@pytest.mark.parametrize(
    ("arguments", "rungs"),
    [
        ((1, 243, 3), (1, 3, 9, 27, 81, 243)),
        ((27, 100, 3), (27, 81, 100)),
        ((1, 81, 3), (1, 3, 9, 27, 81)),
        ((1, 100, 3), (1, 3, 9, 27, 81, 100)),
        ((5, 5, 2), (5,)),
        ((1, 1024, 2), tuple(2**k for k in range(11))),
    ],
)
def test_ladders_multiply(arguments: tuple[int, int, int], rungs: tuple[int, ...]) -> None:
    assert geometric_rungs(*arguments) == rungs


@given(st.integers(1, 50), st.integers(0, 9), st.integers(2, 10))
def test_a_ladder_of_powers_has_every_rung(low: int, steps: int, eta: int) -> None:
    assert geometric_rungs(low, low * eta**steps, eta) == tuple(low * eta**k for k in range(steps + 1))


# ---------------------------------------------------------------- by hand


class Player:
    """Drives a study with losses written down beforehand; one worker, trial n reports ``losses[n]`` at every budget."""

    def __init__(self, scheduler: Scheduler, losses: list[float]) -> None:
        self.study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=Random(), scheduler=scheduler, seed=0)
        self.losses = losses
        self.story: list[tuple[int, int, str]] = []

    def step(self) -> tuple[int, int, str]:
        """Run one job to its end: (trial, budget reached, state)."""
        trial = ask(self.study)
        while trial.state is State.RUNNING:
            assert trial.target is not None
            self.study.report(trial, self.losses[trial.number], budget=trial.target)
        self.story.append((trial.number, trial.budget, trial.state.value))
        return self.story[-1]


@pytest.mark.parametrize("workers", [1, 4])
def test_the_share_of_full_budget_trials_rises(workers: int) -> None:
    history = simulated(ASHA(9, full_share=True), 160, workers).history
    full = [trial for trial in history.trials if trial.bracket == 2]
    halved = [trial for trial in history.trials if trial.bracket == 0]
    assert len(full) + len(halved) == 160
    assert all(len(trial.reports) == 9 and trial.attempt == 0 for trial in full)
    spent = [sum(trial.budget for trial in halved if trial.number < each.number) for each in full]
    assert all(epochs**2 >= 24 * n * 9**2 for n, epochs in enumerate(spent, start=1))
    begun, later = (sum(trial.number in numbers for trial in full) for numbers in (range(80), range(80, 160)))
    assert 3 <= begun < later


def test_where_there_is_one_rung_a_full_share_changes_nothing() -> None:
    assert story(ASHA(9, min_budget=9, full_share=True), 3) == story(FIFO(9), 3)


def test_equal_losses_are_treated_alike() -> None:
    """Whether a trial goes on is a question of its loss alone: of equal ones all do, or none."""
    player = Player(ASHA(3), [0.5] * 6)
    assert [player.step()[:2] for _ in range(6)] == [(0, 1), (1, 1), (2, 1), (0, 3), (1, 3), (2, 3)]
    player = Player(ASHA(3), [0.4, 0.5, 0.5, 0.5, 0.5])
    assert [player.step()[:2] for _ in range(6)] == [(0, 1), (1, 1), (2, 1), (0, 3), (3, 1), (4, 1)]
    player = Player(StoppingASHA(3), [0.5] * 7)
    assert [player.step()[2] for _ in range(7)] == ["complete"] * 7
    player = Player(StoppingASHA(3), [0.4, 0.5, 0.5, 0.5])
    assert [player.step()[2] for _ in range(4)] == ["complete", "complete", "stopped", "stopped"]


def test_synchronous_halving_by_hand() -> None:
    """η = 2, rungs 1, 2, 4: four trials at rung 1, then two at rung 2, then one at rung 4; a new round follows."""
    player = Player(Hyperband(4, eta=2, brackets=1), [0.4, 0.3, 0.2, 0.1, 0.9, 0.9, 0.9, 0.9])
    assert player.study.scheduler.sizes == (4,)  # type: ignore[attr-defined]
    first = [player.step() for _ in range(7)]
    assert first == [
        *((number, 1, "paused") for number in range(4)),
        (3, 2, "paused"),
        (2, 2, "paused"),
        (3, 4, "complete"),
    ]
    assert player.step() == (4, 1, "paused")
    assert player.study.history.trials[4].bracket == 1


def test_once_a_rung_is_full_those_that_will_not_go_on_are_retired() -> None:
    """Their checkpoints are removed."""
    player = Player(Hyperband(4, eta=2, brackets=1), [0.4, 0.3, 0.2, 0.1])

    def retired() -> list[int]:
        number, *_ = player.step()
        history = player.study.history
        return sorted(player.study.scheduler.retired(history, history.trials[number]))

    assert [retired() for _ in range(4)] == [[], [], [], [0, 1]]
    ask(player.study)  # the best of it goes on, and makes no room for another one
    history = player.study.history
    assert sorted(player.study.scheduler.retired(history, history.trials[0])) == [0, 1]


def test_idle_workers_start_the_next_bracket() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=Random(), scheduler=Hyperband(4, eta=2, brackets=1), seed=0)
    trials = [study.ask() for _ in range(6)]  # four places in the first bracket, six workers
    assert [trial.bracket for trial in trials if trial] == [0, 0, 0, 0, 1, 1]
    for trial in trials[:3]:
        assert trial is not None
        assert study.report(trial, float(trial.number)) is Verdict.PAUSE
    waiting = ask(study)
    assert waiting.bracket == 1, "the rung is not full: nobody is promoted yet"
    assert trials[3] is not None
    study.fail(trials[3], "boom")  # gives up its place: the rung is as full as it will be
    promoted = [study.ask(), study.ask()]
    assert [trial.number for trial in promoted if trial] == [0, 1]
    third = ask(study)
    assert third.bracket == 1


def test_a_trial_that_ends_early_by_itself_does_not_hold_up_its_rung() -> None:
    study = xs.Study(
        xs.Space(x=xs.Float(0, 1)), searcher=Random(), scheduler=Hyperband(4, eta=2, brackets=1, min_budget=2), seed=0
    )
    first, second = study.ask(), study.ask()
    assert first is not None
    assert second is not None
    study.report(first, 0.5, budget=1)
    study.complete(first)  # it converged after one epoch
    study.report(second, 0.7, budget=2)
    promoted = study.ask()
    assert promoted is second
    assert first.state is State.COMPLETE


def test_hyperbands_brackets_have_its_sizes() -> None:
    assert Hyperband(81).sizes == (81, 34, 15, 8, 5)  # ⌈5/(5 − s) · 3^(4 − s)⌉, line 2 of Hyperband's algorithm
    assert Hyperband(81).rungs == (1, 3, 9, 27, 81)


def test_brackets_are_drawn_in_proportion_to_hyperbands() -> None:
    scheduler = ASHA(81, brackets=None)
    drawn = [scheduler.bracket_of(seed=1, number=number) for number in range(20_000)]
    for bracket, size in enumerate(scheduler.sizes):
        share = size / sum(scheduler.sizes)
        assert abs(drawn.count(bracket) / 20_000 - share) < 5 * math.sqrt(share / 20_000)


def test_the_median_rule_by_hand() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=Random(), scheduler=Median(3, grace_period=0), seed=0)

    def train(*losses: float) -> Trial:
        trial = ask(study)
        for loss in losses:
            if study.report(trial, loss) is not Verdict.CONTINUE:
                break
        return trial

    for curve in ((1.0, 0.8, 0.6), (2.0, 1.0, 0.6), (3.0, 2.0, 1.0)):
        assert train(*curve).state is State.COMPLETE, "fewer than three complete trials stop nobody"
    # Running averages at 1: 1, 2, 3 (median 2); at 2: 0.9, 1.5, 2.5 (median 1.5).
    assert train(2.0, 1.6, 0.1).budget == 2, "best so far 1.6 > 1.5 at budget 2"
    assert train(2.0, 1.5, 0.1).state is State.COMPLETE, "equal to the median is not worse"
    assert train(2.1).state is State.STOPPED
    # With that fifth trial the averages at 2 are 0.9, 1.5, 1.75, 2.5 (median 1.625).
    assert train(1.7, 9.0, 0.0).budget == 2, "its best so far counts, not its last: 1.7 > 1.625"
    assert train(1.6, 9.0, 9.0).state is State.COMPLETE


# ---------------------------------------------------------------- twins


def story(scheduler: Scheduler, workers: int) -> list[Any]:
    history = simulated(scheduler, 40, workers).history
    return [
        (trial.config, trial.state, [(reading.budget, reading.at, reading.metrics) for reading in trial.reports])
        for trial in history.trials
    ]


@pytest.mark.parametrize("workers", [1, 5])
@pytest.mark.parametrize("kind", [ASHA, StoppingASHA, Hyperband])
def test_one_rung_is_plain_search(kind: Any, workers: int) -> None:
    assert story(kind(9, min_budget=9), workers) == story(FIFO(9), workers)


@pytest.mark.parametrize("workers", [1, 5])
def test_one_bracket_of_hyperband_is_successive_halving(workers: int) -> None:
    full = Hyperband(9, rung_levels=(1, 9), eta=9, brackets=1)
    assert story(Hyperband(9, brackets=1), workers) != story(full, workers)
    assert story(Hyperband(9, min_budget=1, eta=9, brackets=1), workers) == story(full, workers)
    assert [Hyperband(27, brackets=1).sizes[0] // 3**k for k in range(4)] == [27 // r for r in (1, 3, 9, 27)]


def test_a_median_that_never_comes_is_plain_search() -> None:
    assert story(Median(9, grace_period=9), 5) == story(FIFO(9), 5)


# ---------------------------------------------------------------- nonsense


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: ASHA(9, eta=1), "eta: must be a whole number of at least 2"),
        (lambda: ASHA(9, eta=2.5), "eta"),  # type: ignore[arg-type]
        (lambda: ASHA(9, min_budget=10), "must not be above max_budget"),
        (lambda: ASHA(0), "max_budget"),
        (lambda: ASHA(9, min_budget=0), "min_budget"),
        (lambda: ASHA(9, brackets=0), "brackets"),
        (lambda: ASHA(9, brackets=4), "at most the number of rungs, 3"),
        (lambda: ASHA(9, rung_levels=(3, 1, 9)), "ascending"),
        (lambda: ASHA(9, rung_levels=()), "ascending"),
        (lambda: ASHA(9, rung_levels=(1, 3)), "must end with max_budget"),
        (lambda: ASHA(9, min_budget=1, rung_levels=(1, 9)), "min_budget: is the first of rung_levels"),
        (lambda: Median(9, grace_period=-1), "grace_period"),
        (lambda: FIFO(True), "max_budget"),
    ],
)
def test_settings_that_make_no_sense_are_named(make: Any, word: str) -> None:
    with pytest.raises(InvalidArgument, match=word):
        make()


TO_THE_END = {
    "random", "sobol", "grid", "pbil", "gp", "dngo", "auto", "nasbot", "nasbot-random", "evolution",
    "tpe", "forest", "cma", "umda", "regularised-evolution", "nsga2",
    "dngo-paper", "ts", "treebo", "nasbot-paper",
}  # fmt: skip


@pytest.mark.parametrize("method", sorted(set(METHODS) - TO_THE_END))
def test_methods_that_end_trials_early_need_a_budget(method: str) -> None:
    with pytest.raises(InvalidArgument, match="max_budget"):
        xs.Study(xs.Space(x=xs.Float(0, 1)), method=method)
    assert xs.Study(xs.Space(x=xs.Float(0, 1)), method=method, max_budget=27).ask() is not None


@pytest.mark.parametrize("scheduler", [ASHA(9), StoppingASHA(9), Hyperband(9)], ids=lambda s: type(s).__name__)
def test_reports_off_the_path_are_refused_and_the_journal_unharmed(scheduler: Scheduler) -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=Random(), scheduler=scheduler)
    trial = ask(study)
    before = len(list(study.journal.read(0)))
    for budget, word in ((3, "must not pass its target, 1"), (0, "at least 1"), (-1, "at least 1")):
        with pytest.raises(InvalidReport, match=word):
            study.report(trial, 0.5, budget=budget)
    assert len(list(study.journal.read(0))) == before
    study.report(trial, 0.5)
    if trial.state is State.PAUSED:
        with pytest.raises(InvalidReport, match="state=paused"):
            study.report(trial, 0.5)
