"""Why a trial was run: the decision comes out alike when it is made again, and the reasons are those of the rules."""

from __future__ import annotations

from typing import Any

import pytest

import xstar as xs
from tests.trials import ask, run_trials
from xstar import nets
from xstar.errors import UnknownTrial
from xstar.journal import events as ev
from xstar.look.why import why
from xstar.models.predictive import forest_over_budgets
from xstar.nets.synthetic import f3
from xstar.schedulers import ASHA

SPACE = xs.Space(x=xs.Float(0, 1), lr=xs.Float(1e-4, 1, log=True), kind=xs.Choice(["a", "b"]))


def a_study(method: str | None, trials: int, **settings: Any) -> xs.Study:
    study = xs.Study(SPACE, method=method, seed=1, metric="loss", **settings)
    for _ in range(trials):
        trial = ask(study)
        if not settings:
            study.tell(trial, (trial["x"] - 0.3) ** 2 + 0.1 * (trial["kind"] == "a"))
            continue
        for epoch in trial.epochs():
            loss = (trial["x"] - 0.3) ** 2 + 1 / epoch
            if study.report(trial, {"loss": loss}) is not xs.Verdict.CONTINUE:
                break
    return study


@pytest.mark.parametrize("method", ["random", "gp", "forest", "tpe", "pbil"])
def test_the_decision_is_made_again(method: str) -> None:
    study = a_study(method, 16)
    for trial in (0, 15):
        found = why(study.journal, trial)
        assert found.recomputed == "Made again from those events, the decision is the same."
        assert found.seen == study.trials[trial].runs.seen
        assert found.origin == study.trials[trial].origin


@pytest.mark.parametrize("method", ["gp", "forest", "dngo", "mobster", "boca"])
def test_the_chosen_one_leads_the_runners_up(method: str, short_training: None) -> None:
    study = a_study(method, 16, **({"max_budget": 3} if method in ("mobster", "boca") else {}))
    number = next(
        trial.number for trial in reversed(study.trials) if "log E" in str(trial.origin) or "LCB" in str(trial.origin)
    )
    found = why(study.journal, number)
    chosen, *rest = found.candidates
    assert chosen.chosen
    assert chosen.config == study.trials[number].config
    assert chosen.acquisition is not None
    assert rest
    assert all(other.acquisition is not None and other.acquisition <= chosen.acquisition for other in rest)
    assert f"{chosen.acquisition:.3g}" in found.origin
    for each in found.candidates:
        assert each.low is not None
        assert each.mean is not None
        assert each.high is not None
        assert each.low <= each.mean <= each.high


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_over_budgets_what_comes_lies_in_the_interval_and_the_interval_where_values_can(direction: str) -> None:
    """Of an error, or an accuracy, near its end: the surrogate alone expects values beyond it, and is too sure of them."""
    study = xs.Study(SPACE, method="mobster", seed=2, max_budget=9, metric="rate", direction=direction)
    for _ in range(60):
        trial = ask(study)
        for epoch in range(trial.budget + 1, 10):
            error = 0.5 * abs(trial["x"] - 0.3) * (trial["kind"] == "a") + 0.2 * trial["lr"] + 0.1 * (epoch < 5)
            if (
                study.report(trial, min(error, 1.0) if direction == "minimize" else 1.0 - min(error, 1.0), budget=epoch)
                is not xs.Verdict.CONTINUE
            ):
                break
    chosen = [trial for trial in study.trials if trial.state is xs.State.COMPLETE and "log EI" in str(trial.origin)]
    within = []
    for trial in chosen[-8:]:
        for each in why(study.journal, trial.number).candidates:
            assert each.low is not None
            assert each.high is not None
            assert 0.0 <= each.low <= each.high <= 1.0
            if each.chosen:
                assert trial.value is not None
                within.append(each.low <= trial.value <= each.high)
    assert len(within) == 8
    assert sum(within) >= 6


def test_over_budgets_a_forest_has_half_a_say(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that expects much more than all others moves the upper ends to the worst loss known, and no lower end."""
    over, at_full = a_study("mobster", 20, max_budget=9), a_study("gp", 12)
    before = [why(study.journal, study.trials[-1].number).candidates for study in (over, at_full)]
    monkeypatch.setattr(
        "xstar.look.suggestions.forest_over_budgets", lambda X, share, t: forest_over_budgets(X, share, t + 50.0)
    )
    after = [why(study.journal, study.trials[-1].number).candidates for study in (over, at_full)]
    assert after[1] == before[1]
    worst = max(report.metrics["loss"] for trial in over.trials for report in trial.reports)
    assert [each.high for each in after[0]] == pytest.approx([worst] * len(after[0]), rel=0.1)
    assert max(each.high or 0.0 for each in before[0]) < 0.8 * worst
    assert max(each.low or 0.0 for each in after[0]) < 0.8 * worst


def test_the_scheduler_gives_its_reasons() -> None:
    study = a_study("asha", 30, max_budget=9)
    promoted = next(event.trial for event in study.journal.read(0) if isinstance(event, ev.Started))
    turns = why(study.journal, promoted).later
    words = " | ".join(f"{turn.what}; {turn.why}" for turn in turns)
    assert "paused: loss" in words
    assert "promoted to epoch 3; its loss of" in words
    assert "go on" in words
    events = list(study.journal.read(0))
    for turn in turns:
        assert getattr(events[turn.event], "trial", None) == promoted
    left = next(trial.number for trial in study.trials if trial.state is xs.State.PAUSED and trial.budget == 1)
    (_, paused) = why(study.journal, left).later
    assert "of" in paused.why


def test_a_stopped_trial_is_worse_than_those_that_went_on() -> None:
    study = a_study("asha-stop", 30, max_budget=9)
    stopped = next(trial.number for trial in study.trials if trial.state is xs.State.STOPPED)
    assert any(turn.what.startswith("stopped") and "number" in turn.why for turn in why(study.journal, stopped).later)
    study = a_study("median", 12, max_budget=5)
    stopped = next(trial.number for trial in study.trials if trial.state is xs.State.STOPPED)
    assert any("the median of the averages" in turn.why for turn in why(study.journal, stopped).later)


@pytest.mark.parametrize(
    ("scheduler", "bracket", "reason"),
    [
        (ASHA(9, full_share=True), 2, "it trains to the full budget at once, and is compared at no rung"),
        (ASHA(9, brackets=2), 1, "it is not compared before epoch 3, where its bracket begins"),
    ],
)
def test_a_report_that_is_not_compared_says_why(scheduler: ASHA, bracket: int, reason: str) -> None:
    study = a_study(None, 30, scheduler=scheduler)
    passed = next(trial.number for trial in study.trials if trial.bracket == bracket)
    turn = next(turn for turn in why(study.journal, passed).later if turn.what.startswith("went on"))
    assert turn.what.endswith("at epoch 1")
    assert turn.why == reason


def test_architectures_are_explained_by_their_size() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8)), method="nasbot", seed=1)
    run_trials(study, 12, lambda trial: -f3(trial["net"]))
    found = why(study.journal, 11)
    assert "layers, mass" in found.candidates[0].config["net"]


def test_what_nobody_chose_here() -> None:
    study = a_study("random", 1)
    study.add({"x": 0.5, "lr": 0.1, "kind": "a"}, {"loss": 1.0})
    study.enqueue({"x": 0.25, "lr": 0.1, "kind": "b"})
    study.ask()
    assert "nobody chose it here" in why(study.journal, 1).known
    assert "enqueued" in why(study.journal, 2).choice
    with pytest.raises(UnknownTrial, match="no trial 7"):
        why(study.journal, 7)


def test_a_study_explains_its_trials() -> None:
    study = a_study("gp", 8)
    assert "the decision is the same" in str(study.why(7))
    assert study.why(study.trials[7]).trial == 7


@pytest.mark.parametrize("budget", [None, 1])
def test_an_infeasible_trial_is_called_so_and_what_the_model_made_of_the_bounds_is_said(budget: int | None) -> None:
    study = xs.Study(SPACE, method="gp", seed=1, metric="loss", constraints={"latency": 40.0}, max_budget=budget)
    for _ in range(12):
        trial = ask(study)
        if trial.number == 2:
            study.fail(trial, "does not fit", kind="infeasible")
        else:
            study.tell(trial, {"loss": (trial["x"] - 0.5) ** 2, "latency": 100 * trial["x"]})
    over = next(trial for trial in study.trials if trial.metrics.get("latency", 0.0) > 40)
    assert f"infeasible: {over.reason}" in str(why(study.journal, over.number))
    assert "infeasible: does not fit" in str(why(study.journal, 2))
    found = why(study.journal, 11)
    chosen, *rest = [line for line in found.lines() if "p(feasible)" in line]
    assert "chosen" in chosen
    assert rest
    assert found.candidates[0].feasible is not None
    assert (found.candidates[0].feasible > 0.5) == (study.trials[11].metrics["latency"] <= 40)
    within = next(trial for trial in study.trials if trial.state is xs.State.COMPLETE)
    assert "complete" in why(study.journal, within.number).later[-1].what
