"""Several objectives: reports, fronts, rungs, and every method, decided again from the journal."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask, run_trials
from xstar.core.goals import Goals, read_goals
from xstar.core.pareto import non_dominated
from xstar.errors import InvalidArgument, InvalidReport, MissingMetric, SeveralObjectives, StudyMismatch
from xstar.journal.rung import Rung, RungOfFronts
from xstar.journal.trial import Suggestion, Trial
from xstar.look.audit import audit
from xstar.look.exchange import export_events, import_events
from xstar.schedulers import FIFO
from xstar.searchers.bo.trace import DecisionTrace
from xstar.study.methods import METHODS

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1), kind=xs.Choice(["a", "b"]))
BITS = xs.Space(bits=xs.Bits(6))
BOTH = ["error", "size"]


def measured(config: dict[str, Any]) -> dict[str, float]:
    if "bits" in config:
        ones = sum(config["bits"])
        return {"error": float((6 - ones) ** 2), "size": float(ones)}
    x, y, kind = config["x"], config["y"], config.get("kind")
    return {"error": (x - 0.2) ** 2 + (y - 0.5) ** 2 + 0.1 * (kind == "b"), "size": (x - 0.8) ** 2 + y}


def run(study: xs.Study, trials: int, epochs: int = 1) -> None:
    while (trial := study.ask(xs.Limits(trials=trials))) is not None:
        found = measured(trial.config)
        if trial.target is None:
            study.tell(trial, found)
            continue
        for epoch in trial.epochs():
            worse = {name: value * (1.0 + 1.0 / epoch) for name, value in found.items()}
            if study.report(trial, worse, epoch) is not xs.Verdict.CONTINUE:
                break


def front_of(study: xs.Study) -> list[int]:
    trials = [trial for trial in study.trials if trial.state is xs.State.COMPLETE]
    Y = np.array([trial.losses for trial in trials])
    return sorted(trials[i].number for i in np.flatnonzero(non_dominated(Y)))


# ---------------------------------------------------------------- what a user writes


@pytest.mark.parametrize(
    ("metric", "goal"),
    [
        ("error", "minimize error"),
        (BOTH, "minimize error, minimize size"),
        ({"accuracy": "max", "latency": "min"}, "maximize accuracy, minimize latency"),
        (
            {"accuracy": ("max", 0.9), "latency": ("min", 40)},
            "maximize accuracy (0.9 at least), minimize latency (40 at most)",
        ),
    ],
)
def test_metrics_and_their_directions(metric: Any, goal: str) -> None:
    assert read_goals(metric, None).goal == goal
    study = xs.Study(SPACE, metric=metric)
    assert study.goals.goal == goal


@pytest.mark.parametrize(
    "metric", [[], ["a", "a"], ["a", 3], {"a": "low"}, {"a": ("min", "x")}, list("abcdef"), 3, {"a": ("min", 1, 2)}]
)
def test_metrics_that_are_none_are_refused(metric: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^metric: .*e\.g\. metric="):
        xs.Study(SPACE, metric=metric)


def test_reports_have_every_objective() -> None:
    study = xs.Study(SPACE, metric=BOTH)
    trial = ask(study)
    with pytest.raises(MissingMetric, match="must contain the objective 'size'"):
        study.tell(trial, {"error": 1.0})
    with pytest.raises(InvalidReport, match="must be a dictionary with 'error' and 'size'"):
        study.tell(trial, 1.0)
    study.tell(trial, {"error": 1.0, "size": 2.0, "seconds": 9.0})
    assert trial.values == {"error": 1.0, "size": 2.0}


def test_one_number_is_refused_with_what_to_read_instead() -> None:
    study = xs.Study(SPACE, metric=BOTH, seed=0)
    run(study, 2)
    for read in (lambda: study.best, lambda: study.trials[0].value, lambda: study.trials[0].loss):
        with pytest.raises(SeveralObjectives, match="2 objectives: error, size'; "):
            read()
    with pytest.raises(InvalidArgument, match="trial_value: must be last with several objectives"):
        xs.Study(SPACE, metric=BOTH, trial_value="best")
    with pytest.raises(InvalidArgument, match="must name metrics other than 'error' and 'size'"):
        xs.Study(SPACE, metric=BOTH, constraints={"size": 3.0})


def test_a_stored_study_says_what_differs(tmp_path: Any) -> None:
    path = tmp_path / "s.db"
    xs.Study(SPACE, study="s", storage=path, metric=BOTH).close()
    xs.Study(study="s", storage=path, metric=BOTH).close()
    with pytest.raises(StudyMismatch, match="'maximize error' here, 'minimize error, minimize size' in the stored"):
        xs.Study(study="s", storage=path, metric="error", direction="maximize")


# ---------------------------------------------------------------- the front


def test_the_front_has_complete_feasible_trials_that_nothing_dominates() -> None:
    study = xs.Study(SPACE, metric={"gain": "max", "cost": "min"}, constraints={"heat": 1.0}, seed=0)
    told = [(1, 1, 0), (2, 2, 0), (3, 1, 5), (1, 2, 0), (2, 2, 0), (0, math.nan, 0)]
    for gain, cost, heat in told:
        trial = ask(study)
        study.tell(trial, {"gain": gain, "cost": cost, "heat": heat})
    assert [trial.number for trial in study.front] == [1, 0]  # the best gain first; of equal trials the earlier one
    assert study.trials[2].state is xs.State.INFEASIBLE
    assert study.trials[5].state is xs.State.FAILED
    assert [step.trial.number for step in study.history.fronts.steps] == [0, 1]


def test_what_is_beyond_a_threshold_is_of_no_interest() -> None:
    study = xs.Study(SPACE, metric={"error": "min", "latency": ("min", 40)}, seed=0)
    for error, latency in ((0.1, 50.0), (0.5, 39.0), (0.4, 40.0)):
        trial = ask(study)
        study.tell(trial, {"error": error, "latency": latency})
    assert [trial.number for trial in study.front] == [2, 1]
    assert study.goals.ordered([(0.1, 50.0), (0.5, 39.0)]).tolist() == [1, 0]


def test_patience_counts_trials_since_the_front_changed() -> None:
    study = xs.Study(SPACE, metric=BOTH, seed=0)
    for error, size in ((1, 1), (2, 2), (0, 2), (2, 3), (3, 3)):
        study.tell(ask(study, xs.Limits(patience=2)), {"error": error, "size": size})
    assert study.ask(xs.Limits(patience=2)) is None
    assert study.ended == "2 trials in a row brought no improvement"


# ---------------------------------------------------------------- rungs


def test_a_rung_of_one_objective_is_the_degenerate_case_of_fronts() -> None:
    """One order for both: what ASHA asks of a rung has the same answers."""
    rng = np.random.default_rng(0)
    losses = rng.integers(0, 9, 30).astype(float)
    plain, fronts = Rung(), RungOfFronts(read_goals("loss", None))
    for number, loss in enumerate(losses.tolist()):
        for rung in (plain, fronts):
            rung.record((loss,), number)
            if number % 2:
                rung.pause((loss,), number)
    assert plain.paused_best_first() == fronts.paused_best_first()
    for places in range(1, 30):
        # Equal losses are treated alike by the one, and go to the earlier trial by the other.
        one, other = plain.promotable(places), fronts.promotable(places)
        assert one == other or (other is None and losses[plain.paused_best_first()[0]] == sorted(losses)[places - 1])
        if not np.isin(4.5, losses):
            assert plain.would_rank_within((4.5,), places) == fronts.would_rank_within((4.5,), places)


def test_a_rung_stands_by_fronts_and_spreads_over_the_first() -> None:
    rung = RungOfFronts(read_goals(BOTH, None))
    told = [(0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (5.0, 5.5), (8.0, 8.0), (9.0, 8.0)]
    for number, losses in enumerate(told):
        rung.record(losses, number)
        rung.pause(losses, number)
    assert rung.paused_best_first() == [0, 2, 3, 4, 5, 1]
    rung.resume(told[0], 0)
    assert rung.promotable(1) is None
    assert rung.promotable(2) == 2
    assert rung.would_rank_within((6.0, 5.0), 4)
    assert not rung.would_rank_within((8.0, 8.0), 3)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("threshold", [None, 3])
def test_what_a_rung_is_asked_for_one_record_is_the_order_of_all(count: int, threshold: int | None) -> None:
    goals = read_goals({f"loss{i}": ("min", threshold) if threshold else "min" for i in range(count)}, None)
    rng = np.random.default_rng(0)
    rung = RungOfFronts(goals)
    told: list[tuple[float, ...]] = []
    pausing: set[int] = set()
    for number in range(60):
        losses = tuple(rng.integers(0, 6, count).astype(float).tolist())
        records = sorted(zip(told, range(number), strict=True))
        after = goals.ordered([*(own for own, _ in records), losses]).tolist()
        for places in {1, number // 3, number}:
            assert rung.would_rank_within(losses, places) == (number in after[:places])
        told.append(losses)
        rung.record(losses, number)
        rung.pause(losses, number)
        pausing.add(number)
        records = sorted(zip(told, range(number + 1), strict=True))
        order = [records[place][1] for place in goals.ordered([own for own, _ in records]).tolist()]
        for places in (1, 1 + number // 3, number + 1):
            best = next((trial for trial in order[:places] if trial in pausing), None)
            assert rung.promotable(places) == best
        if (gone := rung.promotable(1 + number // 3)) is not None:
            rung.resume(told[gone], gone)
            pausing.remove(gone)
        assert rung.paused_best_first() == [trial for trial in order if trial in pausing]


def test_asha_promotes_the_ends_of_the_front() -> None:
    study = xs.Study(SPACE, metric=BOTH, method="asha", max_budget=3, seed=0)
    told = [(0.0, 9.0), (9.0, 9.0), (9.0, 0.0), (9.0, 8.0), (8.0, 8.0), (7.0, 9.0)]
    while len(study.trials) < 7:
        trial = ask(study)
        if trial.number < len(told):
            study.report(trial, dict(zip(BOTH, told[trial.number], strict=True)))
    assert sorted(trial.number for trial in study.trials if trial.target == 3) == [0, 2]


# ---------------------------------------------------------------- every method

EVERY = sorted(set(METHODS) - {"nasbot-random"})


NUMBERS = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
SPACES = {"pbil": BITS, "umda": BITS, "cma": NUMBERS}


QUICK = {
    *("random", "asha", "asha-stop", "hyperband", "median", "gp", "mobster", "tpe", "bohb", "pbil", "cma"),
    *("forest", "auto"),
}


@pytest.mark.parametrize("method", [m if m in QUICK else pytest.param(m, marks=pytest.mark.slow) for m in EVERY])
def test_every_method_searches_and_is_decided_again(method: str, short_training: None) -> None:
    budget = None if METHODS[method][1] is FIFO else 9
    study = xs.Study(SPACES.get(method, SPACE), metric=BOTH, method=method, seed=1, max_budget=budget)
    run(study, 24)
    assert len(study.trials) == 24
    assert {trial.number for trial in study.front} <= set(front_of(study))
    assert {study.trials[number].losses for number in front_of(study)} == {trial.losses for trial in study.front}
    assert audit(study).findings == []
    assert not any("failed" in str(trial.origin) for trial in study.trials)


@pytest.mark.parametrize("budgets", [False, True])
def test_the_reference_point_of_a_model_is_near_the_front_and_far_from_it_in_turn(budgets: bool) -> None:
    study = xs.Study(
        SPACE, method="mobster" if budgets else "gp", max_budget=9 if budgets else None, metric=BOTH, seed=0
    )
    run(study, 16, 9)
    beyond = []
    for _ in range(2):
        trace = study.history.memo.put(DecisionTrace())
        trial = ask(study)
        assert trace.known is not None
        assert trace.known.fronts is not None
        assert trace.known.reference is not None
        beyond.append((trial.number % 2, float((trace.known.reference - trace.known.fronts[0][0].min(axis=0)).min())))
        study.history.memo.clear()
    (_, near), (_, far) = sorted(beyond)
    assert far > 1.3 * near


@pytest.mark.parametrize("goals", [3, 4])
def test_three_objectives_by_hypervolume_and_four_by_scalarisation(goals: int) -> None:
    names = [f"loss{i}" for i in range(goals)]
    study = xs.Study(xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1)), metric=names, method="gp", seed=0)
    for _ in range(14):
        trial = ask(study)
        study.tell(
            trial, {name: (trial["x"] - i / goals) ** 2 + (trial["y"] - i / goals) ** 2 for i, name in enumerate(names)}
        )
    assert str(study.trials[-1].origin).startswith("gp: log EHVI" if goals == 3 else "gp: log EI")
    assert audit(study).findings == []


@pytest.mark.parametrize("value", [(1.0, 1.0), (math.nan, 1.0)])
def test_objectives_that_are_constant_or_never_there(value: tuple[float, float]) -> None:
    study = xs.Study(SPACE, metric=BOTH, method="gp", seed=0)
    run_trials(study, 12, lambda _: dict(zip(BOTH, value, strict=True)))
    assert len(study.front) == (0 if math.isnan(value[0]) else 1)
    assert audit(study).findings == []


def test_a_stranger_that_knows_one_number_gets_one() -> None:
    seen: list[tuple[float, ...]] = []

    class Own:
        def suggest(self, history: Any, task: Any, rng: Any) -> Any:
            losses = [row[2] for row in history.observed]
            if losses:
                best = min(
                    (trial for trial in history.trials if trial.loss is not None), key=lambda trial: trial.scores
                )
                assert isinstance(best, Trial)
                seen.append((history.best.scores[0], min(losses)))
            return Suggestion(history.space.sample(rng), "own")

    study = xs.Study(SPACE, metric=BOTH, searcher=Own(), seed=0)
    run(study, 8)
    assert len(seen) == 7
    assert all(best == lowest for best, lowest in seen)


def test_an_export_and_a_pending_trial_keep_their_losses(tmp_path: Any) -> None:
    study = xs.Study(SPACE, metric=BOTH, method="gp", seed=0)
    ask(study)
    run_trials(study, 14, lambda trial: measured(trial.config))
    assert audit(study).findings == []
    lines = list(export_events(study))
    assert json.loads(lines[0])["event"]["objectives"] == [each.to_json() for each in Goals(study.goals)]
    import_events(lines, "copy", tmp_path / "c.db")
    copy = xs.Study.open("copy", storage=tmp_path / "c.db")
    assert [trial.values for trial in copy.front] == [trial.values for trial in study.front]
    copy.close()


# ---------------------------------------------------------------- the result


def result() -> xs.Result:
    def objective(trial: xs.RunningTrial) -> dict[str, float]:
        return measured(trial.config)

    return xs.minimize(objective, SPACE, metric=BOTH, trials=20, seed=0)


def test_a_result_has_a_front_its_volume_and_a_trial_to_pick() -> None:
    found = result()
    front = found.front
    assert len(front) > 3
    errors = [trial.values["error"] for trial in front]
    assert errors == sorted(errors)
    assert found.pick(weights={"error": 1}) is front[0]
    assert found.pick(weights={"size": 1}) is front[-1]
    middle = sorted(trial.values["size"] for trial in front)[1]
    assert found.pick(size=middle).values["size"] <= middle
    assert found.pick() in front
    r = {"error": 2.0, "size": 2.0}
    assert 0.0 < found.hypervolume() < found.hypervolume(r)
    assert found.hypervolume({"error": 1.0, "size": 2.0}) < found.hypervolume(r)
    with pytest.raises(SeveralObjectives, match=r"result\.pick"):
        _ = found.best


def test_a_notebook_shows_the_front() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), metric=BOTH, method="sobol", seed=0)
    assert "front" not in study._repr_html_()
    run_trials(study, 40, lambda trial: {"error": trial["x"], "size": 1 - trial["x"]})
    for page in (study._repr_html_(), xs.Result(study, "done")._repr_html_()):
        head, rows = page.partition("The front, 40 trials, 12 of them; hypervolume ")[2].split(":</p>", 1)
        assert "up to error=" in head
        assert rows.partition("</table>")[0].count("<tr>") == 13
        ends = (study.front[0], study.front[-1])
        assert all(f'<td style="text-align: left">{trial.values["error"]:.6g}</td>' in rows for trial in ends)


def test_an_objective_may_be_called_weights() -> None:
    found = xs.minimize(
        lambda trial: {"error": trial["x"], "weights": 1 - trial["x"]},
        xs.Space(x=xs.Float(0, 1)),
        metric=["error", "weights"],
        trials=6,
        method="sobol",
        seed=0,
    )
    assert found.pick({"error": 1}) is found.pick(weights={"error": 1}) is found.front[0]
    assert found.pick(weights=found.front[-1].values["weights"]) is found.front[-1]


def test_a_target_is_refused_as_no_trial_could_reach_it(tmp_path: Path) -> None:
    def objective(trial: xs.RunningTrial) -> dict[str, float]:
        return {"error": trial["x"], "size": 1 - trial["x"]}

    def search(**options: Any) -> xs.Result:
        return xs.minimize(objective, xs.Space(x=xs.Float(0, 1)), study="t", storage=tmp_path / "t.db", **options)

    for metric in (["error", "size"], None):  # given, and as stored
        with pytest.raises(InvalidArgument, match=r"target: needs one objective, but got 0.1; .*patience="):
            search(metric=metric, target=0.1)
        assert (metric is None) == (tmp_path / "t.db").exists()
        search(metric=["error", "size"], trials=3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": -1.0}, r"pick: must leave a trial of the front, but got size=-1; the nearest has error="),
        ({"siez": 1.0}, r"pick: must name objectives, error, size, but got 'siez'; did you mean 'size'"),
        ({"weights": {"error": -1}}, "weights: must be 0 or more, and not all 0"),
        ({"weights": "error"}, r"weights: must map names of objectives to numbers, but got .*error.*; e\.g\. \{"),
        ({"size": "small"}, "pick: must give a number for 'size'"),
    ],
)
def test_what_cannot_be_picked_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        result().pick(**given)
