"""What a user notes about trials."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask, run_trials
from xstar.errors import InvalidArgument, UnknownTrial
from xstar.inspect.audit import audit
from xstar.inspect.exchange import export_csv, export_events, import_events

SPACE = xs.Space(x=xs.Float(0, 1))


def some_study(**options: Any) -> xs.Study:
    study = xs.Study(SPACE, method="gp", seed=1, **options)
    for number in range(8):
        trial = ask(study)
        study.tell(trial, trial["x"])
        if number % 3 == 0:
            study.annotate(trial, {"tags": ["a", None], "layers": np.int64(number)})
    study.annotate(0, {"tags": "b", "why": {"so": 1.5}})
    return study


def test_notes_are_kept_and_the_last_one_stands(tmp_path: Path) -> None:
    with some_study(name="s", storage=tmp_path / "s.db"):
        pass
    with xs.Study.open("s", tmp_path / "s.db") as study:
        assert study.history.trials[0].attrs == {"tags": "b", "layers": 0, "why": {"so": 1.5}}
        assert study.history.trials[3].attrs == {"tags": ["a", None], "layers": 3}
        assert study.history.trials[1].attrs == {}
        assert audit(study).findings == []
        import_events(list(export_events(study)), "copy", tmp_path / "s.db")
    with xs.Study.open("copy", tmp_path / "s.db") as study:
        assert study.history.trials[3].attrs == {"tags": ["a", None], "layers": 3}


def test_notes_change_no_decision() -> None:
    plain = xs.Study(SPACE, method="gp", seed=1)
    run_trials(plain, 8, lambda trial: trial["x"])
    assert [trial.config for trial in plain.history.trials] == [trial.config for trial in some_study().history.trials]


def test_notes_are_columns() -> None:
    file = io.StringIO()
    export_csv(some_study(), file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [row["attr.layers"] for row in rows][:4] == ["0", "", "", "3"]
    assert rows[3]["attr.tags"] == '["a", null]'


@pytest.mark.parametrize("attrs", [5, {1: "a"}, {"a": math.nan}, {"a": object()}, {"a": {1, 2}}])
def test_refused(attrs: Any) -> None:
    study = some_study()
    seen = study.history.seen
    with pytest.raises(InvalidArgument, match="attrs: must"):
        study.annotate(0, attrs)
    with pytest.raises(UnknownTrial):
        study.annotate(99, {"a": 1})
    assert study.refresh().seen == seen
