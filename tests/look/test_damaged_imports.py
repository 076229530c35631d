"""Whatever a file holds, an import ends with a study that can be used or with an error of ours, and with nothing in between."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st

import xstar as xs
from tests.look.test_exchange import some_study
from tests.mutations import damaged_lines
from tests.trials import ask
from xstar.cli.manage import import_
from xstar.errors import XstarError
from xstar.look.audit import audit
from xstar.look.exchange import export_csv, export_events, import_events

QUICK, THOROUGH = 200, 6_000


def rung_study() -> xs.Study:
    """One with rungs, promotions, lost and killed runs, constraints and annotations."""
    space = xs.Space(x=xs.Float(0, 1), net=xs.Choice(["a", "b"]), depth=xs.Int(1, 8, when={"net": "a"}))
    study = xs.Study(space, method="asha", max_budget=9, metric="error", seed=2, constraints={"ms": 5.0})
    for number in range(5):
        trial = ask(study)
        study.report(trial, {"error": trial["x"] / (trial.budget + 1), "ms": 1.0 + 2 * number})
    study.annotate(0, {"why": ["not", None]})
    study.fail(ask(study), "gone", "killed")
    study.ask()
    return study


STUDIES = [list(export_events(make())) for make in (some_study, rung_study)]
DAMAGED = st.one_of([damaged_lines(lines) for lines in STUDIES])


def test_the_samples_are_sound(tmp_path: Path) -> None:
    for number, lines in enumerate(STUDIES):
        import_events(lines, f"copy-{number}", tmp_path / "x.db")
        with xs.Study.open(f"copy-{number}", tmp_path / "x.db") as study:
            assert audit(study).findings == []


class Importer:
    """Imports one file after the other into one database, and looks at what is there afterwards."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "x.db"
        self.imported = 0
        import_events(STUDIES[0], "first", self.path)
        self.rows = self.count()

    def count(self) -> list[int]:
        with closing(sqlite3.connect(self.path)) as file:
            names = ("xstar_studies", "xstar_events", "xstar_leases")
            return [file.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names]

    def take(self, lines: list[str]) -> None:
        name = f"study-{self.imported}"
        try:
            import_events(lines, name, self.path)
        except XstarError as error:
            event(f"refused: {type(error).__name__}")
            assert self.count() == self.rows, "nothing is half-imported"
            return
        event("imported")
        self.imported += 1
        try:
            with suppress(XstarError):
                self.use(name)
        finally:
            self.rows = self.count()

    def use(self, name: str) -> None:
        """What one does with a study from elsewhere."""
        with xs.Study.open(name, self.path) as study:
            assert len(list(export_events(study))) == study.history.seen
            export_csv(study, io.StringIO())
            repr(study), repr(study.trials)
            with suppress(XstarError):
                audit(study)
            study.ask()


def fuzz(examples: int, folder: Path) -> None:
    importer = Importer(folder)

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(DAMAGED)
    def run(lines: list[str]) -> None:
        importer.take(lines)

    run()
    assert importer.imported > examples / 100, "some damage is none"


def test_no_damage_of_an_export_breaks_the_import(tmp_path: Path) -> None:
    fuzz(QUICK, tmp_path)


@pytest.mark.slow
def test_no_damage_breaks_the_import_thorough(tmp_path: Path) -> None:
    fuzz(THOROUGH, tmp_path)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 2_000), gone=st.integers(0, 9), put=st.binary(max_size=9))
def test_no_bytes_break_the_command(tmp_path: Path, place: int, gone: int, put: bytes) -> None:
    file, storage = tmp_path / "export.jsonl", tmp_path / "bytes.db"
    whole = "\n".join(STUDIES[0]).encode()
    file.write_bytes(whole[:place] + put + whole[place + gone :])
    with suppress(XstarError):
        import_("copy", str(file), storage=str(storage))
        with closing(sqlite3.connect(storage)) as made:
            assert made.execute("SELECT count(*) FROM xstar_studies").fetchone() == (1,)
    for path in tmp_path.glob("bytes.db*"):
        path.unlink()
