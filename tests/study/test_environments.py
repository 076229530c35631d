"""Where decisions were made: each unlike environment is in the journal once, and decisions name theirs."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

import xstar as xs
from tests.trials import ask
from xstar.core.environment import environment, environment_and_host, host_of
from xstar.journal import MemoryJournal, events as ev
from xstar.journal.memo import cached
from xstar.look.audit import audit
from xstar.look.exchange import export_events, import_events
from xstar.look.fork import fork_events
from xstar.testing.journals import created

SPACE = xs.Space(x=xs.Float(0, 1))


def elsewhere(monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    """From here on this process takes itself for one on another processor."""
    parts = MappingProxyType({**environment(), "kernel": kernel})
    for module in ("core.environment", "journal.memo"):
        monkeypatch.setattr(f"xstar.{module}.environment", lambda: parts)


def on_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    """From here on this process takes itself for one on another machine like this one."""
    monkeypatch.setattr("platform.node", lambda: host)


def run(study: xs.Study, trials: int) -> None:
    for _ in range(trials):
        trial = ask(study)
        study.report(trial, 0.5)
        study.tell(trial, 1.0)


def decided(study: xs.Study) -> list[int]:
    return [event.by for event in study.journal.read(0) if isinstance(event, ev.Asked | ev.Reported)]


def test_an_environment_says_what_rounds() -> None:
    here = environment()
    assert here["xstar"] == xs.__version__
    assert {"python", "numpy", "scipy", "blas", "kernel", "processor", "system"} <= set(here)


def test_a_study_continued_elsewhere_names_both_environments(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with xs.Study(SPACE, study="s", storage=path, method="random", seed=1) as study:
        run(study, 2)
    for _ in range(2):
        elsewhere(monkeypatch, "Other")
        with xs.Study.open("s", path) as study:
            run(study, 1)
    monkeypatch.undo()
    with xs.Study.open("s", path) as study:
        run(study, 1)
        events = list(study.journal.read(0))
        assert [type(event) for event in events].count(ev.Environment) == 1
        assert study.history.environments == [environment_and_host(), {**environment_and_host(), "kernel": "Other"}]
        assert decided(study) == [0] * 6 + [1] * 6 + [0] * 3
        import_events(export_events(study), "copy", path)
        fork = fork_events(events, len(events), "fork")
    with xs.Study.open("copy", path) as copy:
        assert decided(copy) == [event.by for event in events if isinstance(event, ev.Asked | ev.Reported)]
        assert len(copy.history.environments) == 2
    assert [event.by for event in fork if isinstance(event, ev.Asked)] == [0, 0, 1, 1, 0]


def test_the_journal_says_which_machine_ran_what(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    for host in ("gpu1", "gpu2", "gpu1"):
        on_machine(monkeypatch, host)
        with xs.Study(SPACE, study="s", storage=path, method="random", max_budget=3, seed=1) as study:
            run(study, 1)
    with xs.Study.open("s", path) as study:
        study.add({"x": 0.5}, 1.0)
        lost = ask(study)
        assert host_of(study.history.environments, lost.runs.by) == "gpu1"
        study.leases.release("told to terminate")
        on_machine(monkeypatch, "gpu2")
    with xs.Study.open("s", path) as study:
        again = ask(study)
        assert again.number == lost.number
        assert [host_of(study.history.environments, trial.runs.by) for trial in study.trials] == [
            "gpu1",
            "gpu2",
            "gpu1",
            "",
            "gpu2",
        ]
        found = audit(study)
        assert (found.findings, found.other_environments) == ([], [])


def test_machines_with_the_same_processor_are_one_environment_to_an_audit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "s.db"
    elsewhere(monkeypatch, "Other")
    for host in ("gpu1", "gpu2"):
        on_machine(monkeypatch, host)
        with xs.Study(SPACE, study="s", storage=path, method="random", seed=1) as study:
            run(study, 1)
    monkeypatch.undo()
    with xs.Study.open("s", path) as study:
        (found,) = audit(study).other_environments
        assert found.counts.total() == 2


def test_who_only_looks_appends_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    xs.Study(SPACE, study="s", storage=path, method="random", seed=1).close()
    elsewhere(monkeypatch, "Other")
    with xs.Study.open("s", path) as study:
        assert study.history.seen == 1


def test_a_journal_that_names_no_environment_gets_one_with_the_first_decision() -> None:
    study = xs.Study.from_journal(MemoryJournal([created()]))
    run(study, 1)
    assert study.history.environments == [environment_and_host()]
    assert isinstance(list(study.journal.read(0))[1], ev.Environment)


def test_fits_are_shared_between_alike_environments_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import numpy as np

    with xs.Study(SPACE, study="s", storage=tmp_path / "s.db", seed=1) as study:
        assert cached(study.history, "θ", (1,), lambda: np.array([1.0])).tolist() == [1.0]
        assert cached(study.history, "θ", (1,), lambda: np.array([2.0])).tolist() == [1.0]
        elsewhere(monkeypatch, "Other")
        assert cached(study.history, "θ", (1,), lambda: np.array([3.0])).tolist() == [3.0]
