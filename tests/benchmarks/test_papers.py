"""The results page is what its command makes from the records, and its parts read records and older tables rightly."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.harness import records, report
from benchmarks.harness.records import Record, Store, Task
from benchmarks.papers import curves, drawings, findings, findings_nasbot, nasbot, nasbot_records, page
from benchmarks.papers.entry import BETTER, EQUAL, WORSE, Entry, Paper, claim, compare
from benchmarks.papers.sources import OnRecord, cell, named, tables

DOCS = Path(__file__).parents[2] / "docs"
PRINTED = {
    "NASBOT and OTMANN": (6, 21),
    "DNGO": (7, 5),
    "MOBSTER": (4, 10),
    "Parameterless IGO": (0, 4),
}
"""How many tables and figures each paper has."""
MADE = {"commit": "abc1234", "machine": "2 cores", "versions": {"xstar": "0.1"}}


@pytest.mark.parametrize(("name", "made"), [("results.md", page.text), ("findings.md", findings.text)])
def test_the_pages_are_what_the_command_makes(name: str, made: Callable[[], str]) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")
    assert made() == written, f"the records have changed: {page.COMMAND}"


def test_every_picture_of_the_page_is_there_and_is_drawn_or_copied() -> None:
    shown = {
        line.partition("](assets/results/")[2].partition(")")[0]
        for line in [*page.lines(), *findings.lines()]
        if "assets/results/" in line
    }
    copied = {Path(name).name for paper in page.PAPERS for name in paper.shown()}
    there = {file.name for file in (DOCS / "assets" / "results").glob("*.svg")}
    assert shown <= there
    assert all(
        (DOCS / "assets" / "results" / name).read_bytes() == (report.FOLDER / name).read_bytes() for name in copied
    )


def test_pictures_of_the_findings_are_those_of_the_records() -> None:
    drawn = {
        findings_nasbot.EIGENVALUES: drawings.spectra,
        nasbot_records.FIGURE2: drawings.figure2,
        **curves.all_of_them(),
    }
    assert len(drawn) > 6
    for name, draw in drawn.items():
        assert (DOCS / "assets" / "results" / name).read_text(encoding="utf-8") == draw()


def numbered(what: str, kind: str) -> set[int]:
    """The tables or figures that a heading names: "Figures 1, 2 and 8 to 10: …; Tables 1 to 4: …"."""
    found: set[int] = set()
    for listed in re.findall(rf"{kind}s? ((?:\d+(?:, | and | to )?)+)", what):
        for part in re.split(", | and ", listed.strip(", ")):
            first, _, last = part.partition(" to ")
            found |= set(range(int(first), int(last or first) + 1))
    return found


def test_numbers_of_tables_and_figures_are_read() -> None:
    what = "Table 2, Figures 3 and 5 to 7, Tables 9, 11: 2,500 trials of Table 12"
    assert numbered(what, "Table") == {2, 9, 11, 12}
    assert numbered(what, "Figure") == {3, 5, 6, 7}


@pytest.mark.parametrize("paper", page.PAPERS, ids=lambda paper: paper.name)
def test_every_table_and_figure_of_a_paper_is_on_the_page(paper: Paper) -> None:
    for kind, count in zip(("Table", "Figure"), PRINTED[paper.name], strict=True):
        named = set.union(*(numbered(entry.what, kind) for entry in paper.entries))
        assert named == set(range(1, count + 1))


@pytest.mark.parametrize("entry", [entry for paper in page.PAPERS for entry in paper.entries], ids=lambda one: one.what)
def test_what_was_run_has_conditions_seeds_commit_machine_and_command(entry: Entry) -> None:
    assert entry.shows
    assert entry.differs
    if entry.state in ("not run", "a definition"):
        assert entry.missing or not entry.sources
        return
    assert entry.compared() or entry.pictures or any(source.lines() for source in entry.here)
    for source in entry.here:
        assert source.command.startswith("python -m benchmarks.")
        if isinstance(source, OnRecord):
            assert re.search(r"seeds? \d.* Runs of commit \w{7}.*cores .*Python", source.about())


def test_the_tables_of_one_commit_are_those_whose_runs_name_one() -> None:
    found = [source for _, source in page.tables()]
    assert len({(source.spec, source.part, source.given) for source in found}) == len(found) > 30
    text = "\n".join(page.commits())
    alone = [source for source in found if len({record.made["commit"] for record in source.found}) == 1]
    assert 0 < len(alone) < len(found)
    assert f"Of the {len(found)} tables on this page {len(alone)} are of one commit." in text
    for source in found:
        assert (
            f"`{source.command.removesuffix(' --write')}` | {len(source.found)} | {', '.join(source.commits)} |" in text
        )


def test_a_method_with_fewer_seeds_is_compared_on_those(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = {"nasbot": [0.1, 0.3], "evolution": [0.4, 0.2], "treebo": [0.05]}
    runs = [
        Record(Task.of(seed, "cifar10", method), {"test": error}, MADE)
        for method, errors in tested.items()
        for seed, error in enumerate(errors)
    ]
    results = report.Results([record.task for record in runs], {record.task: record for record in runs})
    source = OnRecord("nasbot_cifar", "search")
    monkeypatch.setitem(source.__dict__, "results", results)
    rows = list(nasbot.lowest(source, "nasbot", "NASBOT"))
    assert [(row.ours, row.verdict) for row in rows] == [
        ("NASBOT 0.2000; EA 0.3000", "as there"),
        ("NASBOT 0.1000; TreeBO 0.0500 (seed 0)", "differs"),
    ]


def test_what_is_not_run_says_why() -> None:
    missing = [entry for paper in page.PAPERS for entry in paper.entries if entry.state == "not run"]
    assert missing
    for entry in missing:
        assert len(entry.missing.split()) > 5, entry.what


def test_lower_is_better_and_a_percent_is_nothing() -> None:
    assert compare("x", 2.0, 1.0).verdict == BETTER
    assert compare("x", 2.0, 2.01).verdict == EQUAL
    assert compare("x", 2.0, 2.1).verdict == WORSE
    assert compare("x", -3.319, -3.252).verdict == WORSE  # a higher loss, though nearer to 0
    assert claim("a", "b", holds=False).verdict != claim("a", "b", holds=True).verdict


def test_cells_are_found_by_the_first_cells_of_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        "| m | a |",
        "|---|---:|",
        "| x | **1,234 ± 5** |",
        "",
        "| m | a |",
        "|---|---:|",
        "| y | -2.5 |",
        "| z | not in 400 |",
    ]
    monkeypatch.setattr(OnRecord, "lines", lambda self: lines)
    source = OnRecord("quality", "search")
    assert [cell(source, row, "a") for row in "xyz"] == [1234.0, -2.5, math.inf]


def test_records_are_told_with_their_commit_and_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "quality.jsonl")
    for seed in (0, 1, 4):
        task = Task.of(seed, "branin", "xstar-random", evaluations=5)
        store.append(Record(task, {"best": [(1, 1.0)], "processor": 1.0, "median": 1.0, "wall": 1.0}, MADE))
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    source = OnRecord("quality", "search", of=lambda task: task.problem == "branin")
    assert "3 runs on record, seeds 0, 1, 4" in source.about()
    assert "abc1234" in source.about()
    assert source.command == "python -m benchmarks.quality --write"
    assert OnRecord("quality", "search", of=lambda task: task.problem == "other").found == []


def test_what_is_not_run_says_so_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    entry = Entry("Table 9", "Nine.", "None.", (OnRecord("quality", "search"),), lambda: [compare("x", 1.0, 2.0)])
    assert entry.state == "not run"
    assert entry.compared() == []
    assert "Not run yet: `python -m benchmarks.quality --write`." in list(entry.lines())


def test_small_helpers() -> None:
    assert named([3]) == "seed 3"
    assert named([0, 1, 2]) == "seeds 0 to 2"
    assert list(tables(["| a | b |", "|---|---:|", "| **1** | 2 |"])) == [[["a", "b"], ["1", "2"]]]
    assert page.anchor("Table 3, Figure 2: CIFAR-10") == "table-3-figure-2-cifar-10"
