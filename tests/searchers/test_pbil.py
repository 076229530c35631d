"""PBIL: the shared suite, its twin (the core), generations with many workers, schedulers, resuming."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import ask, best_value
from xstar.core.randomness import Streams
from xstar.igo import IGO, Layout
from xstar.igo.generations import Generations, _written
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.look.audit import audit
from xstar.schedulers import ASHA, Hyperband, Median, Scheduler, StoppingASHA
from xstar.searchers.pbil import PBIL

BITS = xs.Space(x=xs.Bits(40))


def zeros(trial: xs.Trial) -> int:
    return len(trial["x"]) - sum(trial["x"])


class Forgetful:
    """PBIL that finds its cache empty at every call."""

    def __init__(self, adapt: str = "samples") -> None:
        self.inner = PBIL(adapt)

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        history.memo.clear()
        return self.inner.suggest(history, task, rng)


def test_umda_by_name_finds_a_string() -> None:
    space = xs.Space(mask=xs.Bits(20))
    result = xs.minimize(lambda trial: -sum(trial["mask"]), space, method="umda", trials=600, seed=0)
    assert result.best.value == -20


@pytest.mark.parametrize("adapt", ["samples", "step"])
def test_one_worker_is_algorithm_1(adapt: str) -> None:
    """The same θ, generation by generation, as the core alone with the trials' random numbers."""
    space = xs.Space(x=xs.Bits(300))  # so many that nothing is drawn twice
    study = xs.Study(space, searcher=PBIL(adapt), seed=7)
    streams, core, number = Streams(7), IGO(Layout(space).family, adapt=adapt), 0
    for generation in range(100):
        points = []
        for _ in range(core.samples):
            trial = ask(study)
            drawn = core.sample(1, streams.generator(number, "suggest"))[0]
            assert trial["x"] == tuple(drawn.astype(int))
            assert trial.origin.startswith(f"pbil: generation {generation}")
            study.tell(trial, zeros(trial))
            points.append(drawn)
            number += 1
        core.update(points, [point.size - point.sum() for point in points])
    assert core.samples > 2 or adapt == "step"


def run_workers(searcher: Any, workers: int, trials: int, seed: int = 3, fail: bool = False) -> xs.Study:
    """Trials that end in random order."""
    study, rng, running = xs.Study(BITS, searcher=searcher, seed=seed), np.random.default_rng(seed), []
    for _ in range(trials):
        trial = ask(study)
        running.append(trial)
        if len(running) == workers:
            done = running.pop(int(rng.integers(workers)))
            if fail and done.number % 5 == 0:
                study.fail(done, "no reason", kind="infeasible" if done.number % 2 else "exception")
            else:
                study.tell(done, zeros(done))
    return study


@pytest.mark.parametrize("workers", [1, 3, 20])
def test_the_cache_changes_nothing(workers: int) -> None:
    kept = run_workers(PBIL(), workers, 150, fail=True)
    forgotten = run_workers(Forgetful(), workers, 150, fail=True)
    assert [(t.config, t.origin) for t in kept.history.trials] == [
        (t.config, t.origin) for t in forgotten.history.trials
    ]
    assert audit(kept).findings == []


def test_nobody_waits_and_late_results_join_their_own_generation() -> None:
    study = xs.Study(BITS, searcher=PBIL(), seed=1)
    first = [ask(study) for _ in range(7)]  # generations 0, 1 and 2, and the first of 3: nothing is known yet
    origins = [trial.origin for trial in first]
    assert origins == [f"pbil: generation {generation}" for generation in (0, 0, 1, 1, 2, 2, 3)]
    for number in (2, 3, 4):  # all of 1, half of 2; 0 is late
        study.tell(number, zeros(study.history.trials[number]))
    assert ask(study).origin == "pbil: generation 3"
    opened = ask(study)
    assert opened.origin == "pbil: generation 4, learned 1"
    layout = Layout(BITS)
    core, start = IGO(layout.family), IGO(layout.family).theta
    points, _ = layout.points([study.history.trials[number].config for number in (2, 3)])
    core.update(points, [zeros(study.history.trials[number]) for number in (2, 3)], at=start)
    drawn = core.sample(1, Streams(1).generator(opened.number, "suggest"))[0]
    assert opened["x"] == tuple(drawn.astype(int))
    for number in (0, 1, 5):
        study.tell(number, zeros(study.history.trials[number]))
    while (late := ask(study)).origin.startswith("pbil: generation 4"):
        pass
    assert late.origin == "pbil: generation 5, learned 0 2"


def test_failures_are_the_worst_and_share_their_place() -> None:
    study = xs.Study(BITS, searcher=PBIL(), seed=2)
    for _ in range(400):
        trial = ask(study)
        if trial["x"][0] == 1:
            study.fail(trial, "it does not fit", kind="infeasible")
        else:
            study.tell(trial, -sum(trial["x"]))
    recent = study.history.trials[-60:]
    assert np.mean([trial["x"][0] for trial in recent]) < 0.2
    assert study.best.value == -39


def schedulers() -> list[Scheduler]:
    return [ASHA(9), ASHA(9, brackets=None), StoppingASHA(9), Hyperband(9), Median(9)]


@pytest.mark.parametrize("scheduler", schedulers(), ids=lambda s: f"{type(s).__name__}-{len(getattr(s, 'sizes', ()))}")
def test_works_with_schedulers(scheduler: Scheduler) -> None:
    def train(trial: xs.Trial) -> Any:
        for epoch in trial.epochs():
            yield zeros(trial) + 20 * 0.7**epoch

    def run(searcher: Any, trials: int) -> xs.Study:
        return xs.minimize(train, BITS, searcher=searcher, scheduler=scheduler, trials=trials, seed=4).study

    study = run(PBIL(), 250)
    trials = study.history.trials
    assert audit(study).findings == []
    assert any("learned" in trial.origin for trial in trials)
    assert np.mean([zeros(t) for t in trials[-30:]]) < np.mean([zeros(t) for t in trials[:30]]) - 3
    forgotten = run(Forgetful(), 60).history.trials
    assert [(t.config, t.origin) for t in forgotten] == [(t.config, t.origin) for t in trials[:60]]


def test_a_pause_counts_as_the_result_whatever_comes_later() -> None:
    """Promotion must not change what was learned from a trial at its first rung."""
    study = xs.Study(BITS, searcher=PBIL(), scheduler=ASHA(9), seed=5)
    one, two = ask(study), ask(study)
    study.report(one, zeros(one), 1)
    study.report(two, zeros(two), 1)
    third = ask(study)
    assert third.origin == "pbil: generation 1, learned 0"
    study.history.memo.clear()
    study.fail(third, "gone")
    study.history.memo.clear()
    assert ask(study).origin == "pbil: generation 1"
    assert audit(study).findings == []


def test_two_programs_share_the_generations(tmp_path: Path) -> None:
    name, storage = "shared", str(tmp_path / "x.db")
    with (
        xs.Study(BITS, searcher=PBIL(), seed=12, study=name, storage=storage) as one,
        xs.Study.open(name, storage) as two,
    ):
        running = []
        for number in range(60):
            study = (one, two, two)[number % 3]
            trial = ask(study)
            running.append((study, trial))
            if len(running) == 4:
                owner, done = running.pop(number % 4)
                owner.tell(done, zeros(done))
        assert audit(two).findings == []
        origins = [trial.origin for trial in two.history.trials]
    assert sum("learned" in origin for origin in origins) > 5
    assert [origin.split(",")[0] for origin in origins[:4]] == ["pbil: generation 0"] * 2 + ["pbil: generation 1"] * 2


def test_a_finite_space_is_never_repeated_and_old_results_are_used() -> None:
    space = xs.Space(a=xs.Choice(list("abcd")), b=xs.Choice(list("abcd")), c=xs.Bits(3))
    study = xs.Study(space, searcher=PBIL(), seed=7)

    def loss(config: dict[str, Any]) -> float:
        return (config["a"] != "c") + (config["b"] != "d") + 3 - sum(config["c"])

    seen = []
    while (trial := study.ask()) is not None:
        seen.append(space.key(trial.config))
        study.tell(trial, loss(trial.config))
    assert len(seen) == len(set(seen)) == 128
    origins = [trial.origin for trial in study.history.trials]
    assert any(", again " in origin for origin in origins)
    assert any("; generation" in origin for origin in origins)
    assert any(origin.startswith("random: pbil: generation") and "tried" in origin for origin in origins)
    assert audit(study).findings == []
    best = next(trial.number for trial in study.history.trials if trial.loss == 0)
    assert best < 64


def test_a_memory_of_results_changes_no_step() -> None:
    """In a space small enough for many repetitions the θ are still those of the core, which evaluates them all."""
    space = xs.Space(x=xs.Bits(9))
    study = xs.Study(space, searcher=PBIL(), seed=11)
    while len(study.history.trials) < 150:
        trial = ask(study)
        study.tell(trial, zeros(trial))
    history, layout, asked = study.history, Layout(space), set()
    core, streams = IGO(layout.family), Streams(11)
    members: list[np.ndarray] = []
    for trial in history.trials:
        assert trial.origin.startswith("pbil")
        rng = streams.generator(trial.number, "suggest")
        while True:  # until the stream of this trial gives its configuration
            if len(members) == core.samples:
                core.update(members, [9 - member.sum() for member in members])
                members = []
            members.append(core.sample(1, rng)[0])
            drawn = tuple(members[-1].astype(int).tolist())
            if drawn not in asked:
                break
        assert drawn == trial["x"]
        asked.add(drawn)
    assert core.generation > 60


def test_trials_from_elsewhere_teach_nothing() -> None:
    plain, added = (xs.Study(BITS, searcher=PBIL(), seed=8) for _ in range(2))
    for number in range(40):
        one = ask(plain)
        plain.tell(one, zeros(one))
        if number == 13:
            added.add({"x": [1] * 40}, -100.0)
    other = xs.Study(BITS, searcher=PBIL(), seed=8)
    for number in range(40):
        if number == 12:
            other.enqueue({"x": [1] * 40})
        trial = ask(other)
        other.tell(trial, zeros(trial))
    places = [trial.origin for trial in other.history.trials]
    assert places[12] == "enqueued: number 1"
    assert [trial.origin for trial in plain.history.trials][:12] == places[:12]
    assert audit(other).findings == []
    assert ask(added).origin == "pbil: generation 0"


def test_a_space_without_discrete_parameters_is_searched_all_the_same() -> None:
    space = xs.Space(x=xs.Float(-5, 5), y=xs.Float(1e-4, 1, log=True))
    result = xs.minimize(
        lambda trial: (trial["x"] - 2) ** 2 + (math.log10(trial["y"]) + 2) ** 2,
        space,
        searcher=PBIL(),
        trials=200,
        seed=9,
    )
    assert best_value(result) < 0.01


def test_nothing_to_learn_about_is_said() -> None:
    study = xs.Study(xs.Space(a=3), searcher=PBIL())
    trial = ask(study)
    assert trial.config == {"a": 3}
    assert trial.origin.startswith("random: pbil has nothing to learn about")
    study.tell(trial, 1.0)
    assert study.ask() is None


def test_lists_of_generations_are_written_as_ranges() -> None:
    assert _written((0, 1, 2, 5, 7, 8)) == "0-2 5 7-8"


def test_a_suggestion_costs_the_same_after_many_trials() -> None:
    """The fold reads each trial once, and keeps nothing of generations it has learned from."""
    study = xs.Study(BITS, searcher=PBIL(), seed=10)
    for _ in range(500):
        trial = ask(study)
        study.tell(trial, zeros(trial))
    fold = study.history.memo.get(Generations, PBIL())
    assert fold is not None
    assert fold.trials >= 499
    assert len(fold.open) <= 2
    assert fold.draft is not None
    assert fold.draft.draft is None  # no chain of copies
