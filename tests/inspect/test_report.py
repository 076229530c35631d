"""The HTML report: well formed, complete, and safe with whatever a trial left behind."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import xstar as xs
from xstar import nets
from xstar.cli.main import app
from xstar.inspect.report import best_chart, report


class Checker(HTMLParser):
    """Fails on tags that do not close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
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
        trial = study.ask()
        assert trial is not None
        if trial.number % 5 == 4:
            study.fail(trial, "Traceback …\nValueError: <script>alert(1)</script>")
            continue
        for epoch in trial.epochs():
            study.report(trial, trial["x"] * epoch)
    return study


@pytest.mark.parametrize("trials", [0, 1, 4, 30])
def test_a_report_is_well_formed(trials: int) -> None:
    study = a_study(trials)
    checker = checked(report("my study", study.history))
    assert "script" not in checker.seen
    text = " ".join(checker.words)
    assert "my study" in text
    if trials == 0:
        assert "No trial has a value yet" in text
    else:
        assert f"{study.best.value:.8g}" in text
        assert "svg" in checker.seen
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
    page = report("s", study.history)
    assert "Best: value 0.4<" in page
    assert "trial 1, running at epoch 2: none is complete yet" in page
    words = checked(page).words
    assert words.index("0.4") < words.index("0.01", words.index("configuration"))
    for value in (0.6, 0.5, 0.25):
        study.report(third, value)
    page = report("s", study.history)
    assert "Best: value 0.25<" in page
    chart = ET.fromstring(best_chart(study.history))
    assert "of complete trials; before there was one, at the highest budget that any had reached" in chart.itertext()
    early, best = [element.attrib["points"].split() for element in chart if element.tag.endswith("polyline")]
    assert len({point.split(",")[1] for point in early}) == 2  # 0.01 after one epoch, 0.4 after two
    assert len({point.split(",")[1] for point in best}) == 1


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    with xs.Study(xs.Space(x=xs.Float(0, 1)), name="s", storage=storage) as study:
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
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, float(len(trial["net"].layers)))
    return study


@pytest.mark.parametrize("trials", [1, 12])
def test_networks_are_drawn(trials: int) -> None:
    study = networks_study(trials)
    page = report("nets", study.history)
    text = " ".join(checked(page).words)
    drawn = [name for name in ("net", "head", "cell") if name in study.best.config]
    for name in drawn:
        assert f"Networks: {name}" in text
    graph = study.best["net"]
    assert f"{len(graph.layers)} layers, {len(graph.edges)} edges" in text
    assert page.count('<marker id="arrow-') == len(drawn)
    assert len(set(re.findall(r'id="([^"]+)"', page))) == len(re.findall(r'id="', page))
    if trials == 1:
        assert "No map: history: must have 3 different networks" in text
    else:
        assert "head: networks by normalised OTMANN" in text
        assert "net: distance and difference in value" in text


def test_a_network_that_the_best_trial_does_not_have() -> None:
    study = xs.Study(xs.Space(kind=xs.Choice(["a", "b"]), net=nets.MLP(inputs=8, when={"kind": "a"})), seed=1)
    study.add({"kind": "b"}, 1.0)
    assert "The best trial has no net" in " ".join(checked(report("s", study.history)).words)


def test_a_space_without_networks_has_no_section_for_them() -> None:
    assert "Networks:" not in report("s", a_study(4).history)
