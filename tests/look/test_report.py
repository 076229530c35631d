"""The HTML report: well formed, complete, and safe with whatever a trial left behind."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits
from typer.testing import CliRunner

import xstar as xs
from tests.look.plots.studies import unreadable
from tests.trials import ask, run_trials
from xstar import nets
from xstar.cli.main import app
from xstar.errors import MissingExtra
from xstar.look.findings import lead
from xstar.look.report import report
from xstar.look.view import StudyView
from xstar.models.gp import fit
from xstar.study.settings import Settings


class Checker(HTMLParser):
    """Fails on tags that do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.seen: set[str] = set()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.ids |= {value or "" for name, value in attrs if name == "id"}
        if tag not in ("meta", "!doctype"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker


def a_study(trials: int) -> xs.Study:
    study = xs.Study(
        xs.Space(x=xs.Float(0, 1), kind=xs.Choice(["<b>", "b&c"])),
        direction="maximize",
        method="random",
        max_budget=3,
        seed=1,
    )
    for _ in range(trials):
        trial = ask(study)
        if trial.number % 5 == 4:
            study.fail(trial, "Traceback …\nValueError: <script>alert(1)</script>")
            continue
        for epoch in trial.epochs():
            study.report(trial, trial["x"] * epoch)
    return study


@pytest.mark.parametrize("trials", [0, 1, 4, 30])
def test_a_report_is_well_formed(trials: int) -> None:
    study = a_study(trials)
    checker = checked(report(StudyView("my study", study.history, study.journal)))
    text = " ".join(checker.words)
    assert "my study" in text
    if trials == 0:
        assert "No trial has a value yet" in text
    else:
        assert f"{study.best.value:.8g}" in text
        assert "plot-history" in checker.ids
    if trials == 30:
        assert "6 without a value" in text
        assert "ValueError: <script>alert(1)</script>" in text


def test_headline_curve_and_ranking_compare_equal_budgets() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", max_budget=3, seed=1)
    first, second, third = study.ask(), study.ask(), study.ask()
    assert first is not None
    assert second is not None
    assert third is not None
    study.report(first, 0.01)  # a lucky first epoch
    study.report(second, 0.5)
    study.report(second, 0.4)
    page = report(study)
    assert "Best: value 0.4<" in page
    assert "trial 1, running at epoch 2: none is complete yet" in page
    words = checked(page).words
    assert words.index("0.4") < words.index("0.01", words.index("configuration"))
    for value in (0.6, 0.5, 0.25):
        study.report(third, value)
    page = report(study)
    assert "Best: value 0.25<" in page


def test_a_report_names_the_bounds_and_who_is_beyond_them() -> None:
    bounds = {"latency": xs.at_most(50), "accuracy": xs.at_least(0.8)}
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), method="random", metric="error", constraints=bounds, seed=1)
    limits = "with latency ≤ 50 and accuracy ≥ 0.8"
    assert "No trial is beyond a bound." in checked(report(study)).words
    study.tell(ask(study), {"error": 0.25, "latency": 60.0, "accuracy": 0.875})
    beyond = "beyond a bound, trial 0: latency is 60, above its bound 50."
    assert f"Of the trials, 1 of 1 is {beyond}" in checked(report(study)).words
    study.tell(ask(study), {"error": 0.5, "latency": 40.0, "accuracy": 0.875})
    words = checked(report(study)).words
    assert f"The best trial has latency 40 and accuracy 0.875. Of the trials, 1 of 2 is {beyond}" in words
    assert any(word.startswith(f"minimize error, {limits} · ") for word in words)
    assert any(word.startswith(f"The goal was to minimize error over 1 parameter, {limits}, by ") for word in words)


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    with xs.Study(xs.Space(x=xs.Float(0, 1)), study="s", storage=storage) as study:
        study.tell(study.ask(), 0.25)  # type: ignore[arg-type]
    result = CliRunner().invoke(app, ["report", "s", "--storage", str(storage), "--output", str(tmp_path / "s.html")])
    assert result.exit_code == 0, result.output
    assert "0.25" in " ".join(checked((tmp_path / "s.html").read_text(encoding="utf-8")).words)
    result = CliRunner().invoke(
        app, ["report", "s", "--storage", str(storage), "--output", str(tmp_path / "no" / "s.html")]
    )
    assert result.exit_code == 2


def networks_study(trials: int) -> xs.Study:
    space = xs.Space(
        net=nets.MLP(inputs=8), head=nets.MLP(inputs=4), kind=xs.Choice(["a", "b"]), cell=nets.Cell(when={"kind": "a"})
    )
    study = xs.Study(space, seed=1)
    run_trials(study, trials, lambda trial: float(len(trial["net"].layers)))
    return study


@pytest.mark.parametrize("trials", [1, 12])
def test_networks_are_drawn(trials: int) -> None:
    study = networks_study(trials)
    page = report(study)
    text = " ".join(checked(page).words)
    drawn = [name for name in ("net", "head", "cell") if name in study.best.config]
    for name in drawn:
        assert f"Network: {name}" in text
    graph = study.best["net"]
    assert f"{len(graph.layers)} layers, {len(graph.edges)} edges" in text
    assert page.count('<marker id="arrow-') == len(drawn)
    ours = page.partition("<script>/*")[0]  # what follows is Plotly's
    assert len(ours) < len(page)
    assert len(set(re.findall(r'id="([^"]+)"', ours))) == len(re.findall(r'id="', ours))
    assert ("Architectures by distance" in text) == (trials == 12)


def test_a_network_that_the_best_trial_does_not_have() -> None:
    study = xs.Study(xs.Space(kind=xs.Choice(["a", "b"]), net=nets.MLP(inputs=8, when={"kind": "a"})), seed=1)
    study.add({"kind": "b"}, 1.0)
    assert "The best trial has no net" in " ".join(checked(report(study)).words)


def test_a_report_works_without_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> str:
        raise MissingExtra("plots need plotly: pip install '.[plots]' in a checkout of xstar")

    monkeypatch.setattr("xstar.look.report.javascript", missing)
    checker = checked(report(a_study(12)))
    assert "script" not in checker.seen
    assert "The plots are left out: plots need plotly: pip install '.[plots]' in a checkout of xstar." in checker.words


@pytest.mark.parametrize("gap", [0.0, 5.0])
def test_no_lead_is_called_real(gap: float) -> None:
    study = xs.Study(xs.Space(kind=xs.Choice(["a", "b"])), seed=1)
    for value in (1.0, 1.1, 0.9):
        study.add({"kind": "a"}, value)
        study.add({"kind": "b"}, value + gap)
    said = lead(study.history)
    assert f"leads the next best configuration (trial 5) by {gap:g}" in said
    assert "differ by 0.1 (standard deviation within 2 configurations" in said
    assert "not known" in said
    assert "%" not in said
    assert "probab" not in said


def test_what_is_pasted_is_what_was_found() -> None:
    study = a_study(12)
    page = report(study)
    code = html.unescape(page[page.index("best = {") : page.index("</pre>", page.index("best = {"))])
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["best"] == study.best.config
    again = html.unescape(page[page.index("# xstar ") : page.index("</pre>", page.index("# xstar "))])
    space = "\n".join(line for line in again.splitlines() if not line.startswith(("xs.m", "#")))
    exec(space, names)
    assert names["space"] == study.space


def test_the_space_of_networks_can_be_pasted_too() -> None:
    study = xs.Study(
        xs.Space(net=nets.MLP(inputs=8), n=xs.Int(1, 5), m=xs.Float(0, 1, when={"n": xs.at_least(3)}), k=3), seed=1
    )
    page = report(study)
    again = html.unescape(page[page.index("# xstar ") : page.index("</pre>", page.index("# xstar "))])
    names: dict[str, Any] = {}
    exec("\n".join(line for line in again.splitlines() if not line.startswith(("xs.m", "#"))), names)
    assert names["space"] == study.space


def test_models_of_a_moment_are_fitted_once_and_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads cost such small matrices thirty times what they save where another program is busy."""
    threads = []

    def counted(*given: Any) -> Any:
        threads.append({each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"})
        return fit(*given)

    monkeypatch.setattr("xstar.look.plots.models.fit", counted)
    study = a_study(20)
    with threadpool_limits(2, "blas"):
        report(study)
        assert threads == [{1}]
        study.tell(ask(study), 0.5)
        study.plot.data("calibration")
    assert threads == [{1}, {1}]


def test_what_is_pasted_to_do_it_again_makes_the_same_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def objective(trial: Any) -> dict[str, float]:
        return {"loss": trial["x"], "size": trial["x"] * 10, "accuracy": 1 - trial["x"], "heat": trial["x"]}

    space = xs.Space(x=xs.Float(0, 1))
    constraints = {"size": 5, "accuracy": xs.at_least(0.3), "heat": xs.between(0.05, 0.8)}
    given: dict[str, Any] = {"metric": "loss", "seed": 4, "trials": 8}
    monkeypatch.chdir(tmp_path)
    xs.minimize(objective, space, study="old", method="random", **given).study.close()
    how: dict[str, Any] = {
        "method": "gp",
        "constraints": constraints,
        "trial_value": "best",
        "warm_start": "old",
        "executor": xs.Processes(retries=0),
    }
    with xs.minimize(objective, space, study="s", **how, **given).study as study:
        found = [(trial.config, trial.state) for trial in study.trials]
        code = html.unescape(re.findall(r"<h2>Do it again</h2>\n<pre>(.*?)</pre>", report(study), re.DOTALL)[0])
    assert {state for _, state in found} == {xs.State.COMPLETE, xs.State.INFEASIBLE}
    exec(code, {"objective": objective})
    with xs.Study.open("s-again") as again:
        assert [(trial.config, trial.state) for trial in again.trials] == found
        stored = again.history.stored
        assert (stored.constraints, stored.trial_value, stored.retries) == (
            {"size": 5.0, "accuracy": {"at_least": 0.3}, "heat": {"at_least": 0.05, "at_most": 0.8}},
            "best",
            0,
        )
        assert again.history.sources == ["old"]


def test_a_command_that_would_go_on_with_the_study_is_given_another_name(tmp_path: Path) -> None:
    name = "n" * 100
    settings = Settings(xs.Space(x=xs.Float(0, 1)), study=name, storage=tmp_path / "x.db")
    with xs.Study._of(settings, program={"file": "train.py"}) as study:
        study.tell(ask(study), 1.0)
        page = html.unescape(report(study))
    assert f"begun by: xstar run train.py; with --study {name[:94]}-again that runs it again, too" in page
    assert f"study='{name[:94]}-again'" in page


def test_what_was_done_by_hand_is_said_to_be_missing() -> None:
    study = a_study(4)
    assert "by hand" not in report(study)
    study.add({"x": 0.5, "kind": "<b>"}, 1.0)
    study.enqueue({"x": 0.25})
    assert study.ask() is not None
    assert "but for what was added or enqueued by hand" in report(study)


def test_what_cannot_be_written_is_escaped(tmp_path: Path) -> None:
    storage, page = tmp_path / "x.db", tmp_path / "s.html"
    unreadable(storage)
    done = CliRunner().invoke(app, ["report", "s", "--storage", str(storage), "--output", str(page)])
    assert done.exit_code == 0, done.output
    text = " ".join(checked(page.read_text(encoding="utf-8")).words)
    assert "OSError: \\udcff" in text
