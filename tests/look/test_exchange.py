"""Studies in and out: nothing is lost on the way, and nothing is written when a line is bad."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

import xstar as xs
from tests.trials import ask
from xstar.errors import CorruptJournal, InvalidArgument, MissingExtra, StorageTooNew, StudyExists
from xstar.journal import SCHEMA
from xstar.look.audit import audit
from xstar.look.exchange import LOST_AT_EXPORT, export_csv, export_events, import_events

SPACE = xs.Space(
    lr=xs.Float(1e-4, 1e-1, log=True),
    solver=xs.Choice(["sgd", "adam", None]),
    momentum=xs.Float(0, 1, when={"solver": "sgd"}),
    shape=xs.Choice([(8, 8), (16,)]),
    state=xs.Int(1, 3),  # named like a column of ours
)


def some_study(**options: Any) -> xs.Study:
    study = xs.Study(SPACE, metric="error", seed=1, **options)
    for number in range(4):
        trial = ask(study)
        study.report(trial, {"error": 0.5 + number, "accuracy": 0.5})
        if number == 1:
            study.fail(trial, "Traceback …\n  line\nValueError: no,\t\x1b[31mreally\x1b[0m")
        else:
            study.tell(trial, {"error": 0.25 + number, "accuracy": float("nan")})
    study.add({"lr": 0.01, "solver": None, "shape": (16,), "state": 2}, 0.125)
    study.enqueue({"lr": 0.02, "solver": "sgd", "momentum": 0.5, "shape": [8, 8], "state": 1})
    return study


def facts(study: xs.Study) -> list[Any]:
    rows = []
    for trial in study.history.trials:
        reports = [(report.budget, str(report.metrics), report.at) for report in trial.reports]
        rows.append((trial.config, trial.state, trial.value, trial.origin, trial.reason, trial.runs.ended_at, reports))
    return rows


def test_what_comes_in_is_what_went_out(storage: str, name: str) -> None:
    study = some_study()
    lines = list(export_events(study))
    import_events(lines, name, storage)
    with xs.Study.open(name, storage) as again:
        assert facts(again) == facts(study)
        assert list(again.history.queue) == list(study.history.queue)
        assert list(export_events(again))[1:] == lines[1:]
        first, second = (json.loads(next(iter(export_events(each)))) for each in (study, again))
        assert first["event"].pop("files") != second["event"].pop("files")
        assert first == second
        assert audit(again).findings == []
        assert (next_here := again.ask()) is not None
        assert (next_there := study.ask()) is not None
        assert next_here.config == next_there.config


def test_a_line_says_what_it_is() -> None:
    lines = [json.loads(line) for line in export_events(some_study())]
    assert [line["seq"] for line in lines] == list(range(len(lines)))
    assert {line["schema"] for line in lines} == {SCHEMA}
    assert [line["kind"] for line in lines][:4] == ["created", "asked", "reported", "reported"]


def test_running_trials_are_run_again_by_whoever_resumes(tmp_path: Path) -> None:
    study = some_study()
    running = ask(study)
    study.report(running, 0.5)
    db = tmp_path / "x.db"
    import_events(export_events(study), "copy", db)
    with xs.Study.open("copy", db) as again:
        trial = again.history.trials[running.number]
        assert trial.state is xs.State.WAITING
        assert trial.reason == LOST_AT_EXPORT
        resumed = again.ask()
        assert resumed is trial
        again.tell(resumed, 0.25)
        assert resumed.state is xs.State.COMPLETE


@settings(max_examples=25, deadline=None)
@given(
    actions=st.lists(
        st.sampled_from(["ask", "report", "tell", "fail", "kill", "infeasible", "add", "enqueue"]), max_size=30
    )
)
def test_any_journal_survives_the_journey(actions: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    study = xs.Study(xs.Space(x=xs.Int(0, 9)), seed=3)
    for number, action in enumerate(actions):
        running = next(iter(study.history.running.values()), None)
        if action == "ask":
            study.ask()
        elif action == "add":
            study.add({"x": 1}, number)
        elif action == "enqueue":
            study.enqueue({"x": 2})
        elif running is None:
            continue
        elif action == "report":
            study.report(running, {"value": number, "other": float("inf")})
        elif action == "tell":
            study.tell(running, number)
        else:
            study.fail(running, "why", {"fail": "exception", "kill": "killed"}.get(action, action))
    lines = list(export_events(study))
    db = tmp_path_factory.mktemp("journey") / "x.db"
    import_events((line + "\n" for line in lines), "copy", db)
    with xs.Study.open("copy", db) as copy:
        again = list(export_events(copy))
    assert again[1 : len(lines)] == lines[1:]
    lost = [json.loads(line) for line in again[len(lines) :]]
    assert [line["event"]["trial"] for line in lost] == list(study.history.running)
    assert {line["kind"] for line in lost} <= {"lost"}


def change(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line.update(fields)


def change_event(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda line: line["event"].update(fields)


@pytest.mark.parametrize(
    ("number", "edit", "words"),
    [
        (1, change(kind="asked"), "lacks trial"),
        (1, change_event(objectives=[{"metric": "error", "direction": "sideways"}]), "direction: must be one of"),
        (1, change_event(objectives=[]), "must name one to 5 metrics"),
        (1, change_event(objectives=[{"metric": "error", "direction": "minimize"}] * 2), "each objective once"),
        (1, change_event(seed=-1), "seed: must be a whole number of at least 0"),
        (1, change_event(retries=-1), "retries: must be a whole number of at least 0"),
        (1, change_event(trial_value="first"), "trial_value: must be one of"),
        (1, change_event(constraints={"size": {"below": 1}}), "must be a finite number"),
        (1, change_event(environment={"numpy": 2}), "environment: must map names to words"),
        (3, change_event(budget=0), "budget: must be a whole number of at least 1"),
        (1, change_event(space={"parameters": []}), "at least one parameter"),
        (1, change_event(space={"parameters": [["x", {"kind": "unheard"}]]}), "known kind"),
        (2, change(seq=7), "event 1 was expected"),
        (2, change(kind="danced"), "unknown kind"),
        (2, change(event=[]), "must be a JSON object"),
        (2, change(schema="one"), "schema must be a number"),
        (2, lambda line: line.pop("schema"), "must have the fields"),
        (2, lambda line: line["event"].pop("config"), "lacks config"),
        (2, change_event(mood="good"), "unknown fields"),
        (2, change_event(trial=5), "next number is 0"),
        (2, change_event(config={"lr": 7.0, "solver": "adam", "shape": [16], "state": 1}), "lr"),
        (2, change_event(config={"lr": 0.01}), "solver"),
        (2, change_event(config={"lr": 0.01, "solver": "adam", "shape": 3, "state": 1}), "shape"),
        (3, change_event(trial=9), "speaks of trial 9"),
        (3, change_event(metrics={"accuracy": 0.5}), "'error'"),
        (3, change_event(metrics={"error": "low"}), "could not convert"),
        (3, change_event(verdict="maybe"), "maybe"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_written(
    number: int, edit: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    lines = list(export_events(some_study()))
    data = json.loads(lines[number - 1])
    edit(data)
    lines[number - 1] = json.dumps(data)
    with pytest.raises(CorruptJournal, match=f"line {number}\\b") as caught:
        import_events(lines, "copy", tmp_path / "x.db")
    assert words in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "[" * 100_000,
        '{"schema":1,"seq":1,"kind":"enqueued","event":{"config":{},"at":NaN}}',
        '{"schema":1,"seq":1,"kind":"added","event":{"trial":0,"config":{"lr":0.01,"solver":"adam","shape":[16],"state":1},'
        '"metrics":{"error":1},"at":1e999}}',
        '{"schema":1,"seq":1,"kind":"failed","event":{"trial":0,"kind":"nan","reason":"\\ud800","at":1}}',
    ],
    ids=["text", "list", "deep", "nan", "infinite", "surrogate"],
)
def test_no_text_whatever_breaks_the_import(line: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptJournal, match=r"line 2\b"):
        import_events([next(iter(export_events(some_study()))), line], "copy", tmp_path / "x.db")
    assert list(tmp_path.iterdir()) == []


def test_lines_must_begin_at_the_beginning(tmp_path: Path) -> None:
    lines = list(export_events(some_study()))
    with pytest.raises(CorruptJournal, match="line 1 is event 1"):
        import_events(lines[1:], "copy", tmp_path / "x.db")
    with pytest.raises(CorruptJournal, match="begins with a created event"):
        import_events([lines[1].replace('"seq":1', '"seq":0')], "copy", tmp_path / "x.db")
    with pytest.raises(CorruptJournal, match=r"line 3 .*created once"):
        import_events([*lines[:2], lines[0].replace('"seq":0', '"seq":2')], "copy", tmp_path / "x.db")
    with pytest.raises(CorruptJournal, match="no event"):
        import_events(["", "\n"], "copy", tmp_path / "x.db")


def test_a_later_release_is_told_apart_from_damage(tmp_path: Path) -> None:
    line = next(iter(export_events(some_study())))
    with pytest.raises(StorageTooNew, match=f"line 1 has event schema {SCHEMA + 1}"):
        import_events([line.replace(f'"schema":{SCHEMA}', f'"schema":{SCHEMA + 1}')], "copy", tmp_path / "x.db")


def test_a_name_is_taken_once(storage: str, name: str) -> None:
    lines = list(export_events(some_study()))
    import_events(lines, name, storage)
    with pytest.raises(StudyExists, match=name):
        import_events(lines, name, storage)
    with pytest.raises(InvalidArgument, match="study"):
        import_events(lines, "no/name", storage)


def test_a_copy_beside_its_original_has_files_of_its_own(tmp_path: Path) -> None:
    db = tmp_path / "x.db"
    with some_study(study="first", storage=db) as study:
        import_events(export_events(study), "second", db)
        with xs.Study.open("second", db) as copy:
            assert copy.files.folder != study.files.folder
            assert copy.files.folder.parent == study.files.folder.parent


# ---------------------------------------------------------------- tables


def test_a_row_per_trial() -> None:
    study = some_study()
    study.ask()
    file = io.StringIO()
    export_csv(study, file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert list(rows[0]) == [
        *("number", "state", "value", "budget", "metric.error", "metric.accuracy"),
        *("lr", "solver", "momentum", "shape", "parameter.state", "origin", "seconds", "reason"),
    ]
    assert [row["number"] for row in rows] == ["0", "1", "2", "3", "4", "5"]
    assert [row["state"] for row in rows] == ["complete", "failed", "complete", "complete", "complete", "running"]
    for row, trial in zip(rows, study.history.trials, strict=True):
        assert float(row["lr"]) == trial["lr"]
        assert row["solver"] == ("null" if trial["solver"] is None else trial["solver"])
        assert row["momentum"] == (repr(trial["momentum"]) if "momentum" in trial.config else "")
        assert tuple(json.loads(row["shape"])) == trial["shape"]
        assert row["parameter.state"] == str(trial["state"])
        assert row["value"] == ("" if trial.value is None else repr(trial.value))
    assert rows[1]["reason"] == "ValueError: no,[31mreally[0m"
    assert rows[0]["metric.accuracy"] == "nan"
    assert rows[4]["origin"] == "added"
    assert rows[4]["metric.accuracy"] == rows[5]["metric.accuracy"] == ""
    assert rows[5]["seconds"] == ""


def test_a_study_without_trials_has_a_header() -> None:
    file = io.StringIO()
    export_csv(xs.Study(xs.Space(x=xs.Float(0, 1))), file)
    assert file.getvalue() == "number,state,value,budget,metric.value,x,origin,seconds,reason\n"


def test_a_data_frame() -> None:
    study = some_study()
    frame = study.to_frame()
    file = io.StringIO()
    export_csv(study, file)
    assert list(frame.columns) == next(csv.reader(io.StringIO(file.getvalue())))
    assert frame["value"].tolist() == [trial.value for trial in study.history.trials]
    assert frame["lr"].dtype == float
    assert frame["momentum"].isna().tolist() == ["momentum" not in trial.config for trial in study.history.trials]


def test_pandas_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[pandas\]'"):
        some_study().to_frame()
