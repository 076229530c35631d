"""What programs that share a study compute for each other changes no decision, and an audit does without it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import StorageError
from xstar.journal.trial import Trial
from xstar.look.audit import audit
from xstar.searchers.gp import fit as gp_fit
from xstar.searchers.gp.searcher import GP
from xstar.storage.sql import SqlJournal

SPACE = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
TRIALS = 24
SEARCHERS = {"gp": GP(initial=5), "draws of hyperparameters": GP(initial=5, samples=3)}


def run(studies: list[xs.Study], trials: int = TRIALS) -> list[Trial]:
    """The programs take turns."""
    for number in range(trials):
        study = studies[number % len(studies)]
        trial = study.ask()
        assert trial is not None
        study.tell(trial, math.sin(5 * trial["x"]) + trial["y"] ** 2)
    return studies[0].trials


def shared(storage: str, name: str, searcher: GP, programs: int = 3) -> list[xs.Study]:
    return [xs.Study(SPACE, study=name, storage=storage, searcher=searcher, seed=3) for _ in range(programs)]


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of observations of the fits that were made since the list was cleared."""
    made: list[int] = []

    def counted(fit: Callable[..., Any]) -> Callable[..., Any]:
        def counting(surrogate: Any, X: Any, *rest: Any, **named: Any) -> Any:
            made.append(len(X))
            return fit(surrogate, X, *rest, **named)

        return counting

    for name in ("fit", "sample_fits"):
        monkeypatch.setattr(gp_fit, name, counted(getattr(gp_fit, name)))
    return made


@pytest.mark.parametrize("kind", SEARCHERS)
def test_programs_make_each_fit_once_and_decide_as_one_would(
    storage: str, name: str, kind: str, fits: list[int]
) -> None:
    alone = run([xs.Study(SPACE, searcher=SEARCHERS[kind], seed=3)])
    of_one, trials = list(fits), TRIALS
    fits.clear()
    studies = shared(storage, name, SEARCHERS[kind])
    together = run(studies)
    assert fits == of_one, "each fit was made by the first program that needed it, and by no other"
    assert [trial.config for trial in together] == [trial.config for trial in alone]
    assert [trial.origin for trial in together] == [trial.origin for trial in alone]
    fits.clear()
    found = audit(studies[1])
    assert found.findings == []
    assert found.decisions == 2 * trials
    assert fits == of_one, "an audit takes nothing from the cache"


@pytest.mark.parametrize("left", ["nothing", "no JSON", "[[]]", "[[1e99]]", "[[NaN]]", "[" * 5000, '{"a": 1}'])
def test_a_cache_that_is_emptied_or_damaged_changes_nothing(tmp_path: Path, name: str, left: str) -> None:
    storage = str(tmp_path / "s.db")
    alone = run([xs.Study(SPACE, searcher=GP(initial=5), seed=3)], 12)
    studies = shared(storage, name, GP(initial=5), 2)
    for study in studies:
        read: Callable[[str, str], str | None] = study.journal.read_cache  # type: ignore[attr-defined]

        def damaged(name: str, key: str, read: Callable[[str, str], str | None] = read) -> str | None:
            return read(name, key) if left == "nothing" else left

        study.journal.read_cache = damaged  # type: ignore[attr-defined]
    for place in range(12):
        run([studies[place % 2]], 1)
        if left == "nothing":
            assert studies[0].storage is not None
            studies[0].storage.database.write(lambda database: database.execute("DELETE FROM xstar_fits"))
    assert [trial.config for trial in studies[0].trials] == [trial.config for trial in alone]
    assert audit(studies[0]).findings == []


def test_another_space_is_another_fit(storage: str, name: str, fits: list[int]) -> None:
    one, two = shared(storage, name, GP(initial=5), 2)
    run([one, two], 10)
    one.widen(xs.Space(x=xs.Float(0, 2), y=xs.Float(0, 1)))
    fits.clear()
    run([one], 1)
    assert fits, "what was fitted in the old space is of no use"
    fits.clear()
    two.ask()
    assert fits == [11], "only the observation that is new"
    assert audit(one).findings == []


def test_the_cache_goes_with_its_study(storage: str, name: str) -> None:
    (study,) = shared(storage, name, GP(initial=5), 1)
    run([study], 8)
    assert isinstance(study.journal, SqlJournal)
    place, number = study.storage, study.journal.study
    assert place is not None
    query = "SELECT count(*) FROM xstar_fits WHERE study = ?"

    def count() -> Any:
        return place.database.read(lambda database: database.value(query, (number,)))

    assert count() == 1, "one row for each kind of fit, however many were made"
    place.delete(name)
    assert count() == 0
    study.close()


def test_what_cannot_be_cached_locks_nobody_out(storage: str, name: str) -> None:
    one, two = shared(storage, name, GP(initial=5), 2)
    assert isinstance(one.journal, SqlJournal)
    with pytest.raises((UnicodeEncodeError, StorageError)):
        one.journal.write_cache("a", "b", "\ud800")
    two.journal.database.patience = 0.0  # type: ignore[attr-defined]
    run([two], 1)
    assert two.storage is not None
    two.storage.delete(name)
    one.journal.write_cache("a", "b", "c")
    assert one.journal.read_cache("a", "b") is None, "nothing is left for a study that is gone"
    one.close()
    two.close()
