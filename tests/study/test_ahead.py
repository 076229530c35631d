"""Suggestions made while all workers train: when they are used, when they are dropped, and that an audit makes them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask, run_trials
from xstar import problems
from xstar.inspect.audit import audit
from xstar.journal import History, events as ev
from xstar.schedulers import ASHA
from xstar.searchers import GP, Random
from xstar.simulation import simulate
from xstar.study import decisions
from xstar.trial import New, Suggestion

SPACE = xs.Space(x=xs.Float(0, 1))
KNOWN = 20
"""Trials that are over when a test begins: two of them make a tenth."""


@dataclass(frozen=True)
class Counted:
    """Suggests what tells how many observations and running trials it knew of, and counts how often it is asked."""

    asked: list[int]

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion:
        self.asked.append(len(history.trials))
        return Suggestion({"x": (len(history.observed) + rng.random()) / 1000}, f"after {len(history.running)} running")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """However little time decisions take."""
    monkeypatch.setattr(decisions, "BUSY", 0.0)


def begun(asked: list[int], running: int = 3) -> tuple[xs.Study, list[xs.Trial]]:
    """A study with ``KNOWN`` trials that are over, the first of them best, and some that run."""
    study = xs.Study(SPACE, searcher=Counted(asked), seed=1)
    for place in range(KNOWN):
        study.tell(ask(study), place / KNOWN)
    return study, [ask(study) for _ in range(running)]


def last_event(study: xs.Study) -> Any:
    return list(study.journal.read(0))[-1]


@pytest.mark.usefixtures("always")
def test_what_was_prepared_is_given_to_the_next_worker() -> None:
    asked: list[int] = []
    study, running = begun(asked)
    before = list(study.journal.read(0))
    study.prepare()
    assert list(study.journal.read(0)) == before  # nothing is on record until it is used
    assert asked[-1] == KNOWN + 3
    count = len(asked)
    study.prepare()  # there is one already
    study.tell(running[0], 0.5)
    trial = ask(study)
    assert len(asked) == count
    event = last_event(study)
    assert isinstance(event, ev.Asked)
    assert event.seen == len(before)
    assert trial.seen == len(before)
    assert str(trial.origin) == "after 3 running"
    found = audit(study)
    assert found.findings == []
    assert found.decisions == KNOWN + 3 + 1 + KNOWN + 1


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("what", ["best", "failed", "infeasible", "number", "queue", "growth"])
def test_it_is_dropped_when_something_that_matters_has_happened(what: str) -> None:
    asked: list[int] = []
    study, running = begun(asked)
    study.prepare()
    count = len(asked)
    if what == "best":
        study.tell(running[0], -1.0)
    elif what in ("failed", "infeasible"):
        study.fail(running[0], "why", "exception" if what == "failed" else "infeasible")
    elif what == "number":
        ask(xs.Study.over(study.journal, searcher=Counted([])))  # another program came first
    elif what == "queue":
        study.enqueue({"x": 0.75})
    else:
        for trial in running:
            study.tell(trial, 0.5)
    ask(study)
    event = last_event(study)
    assert event.seen == len(list(study.journal.read(0))) - 1
    assert len(asked) == (count if what == "queue" else count + 1)
    assert audit(study).findings == []


@pytest.mark.usefixtures("always")
def test_it_is_dropped_when_another_program_took_its_number_unread(tmp_path: Path) -> None:
    one, two = (xs.Study(SPACE, name="s", storage=tmp_path / "s.db", method="random", seed=1) for _ in range(2))
    for place in range(KNOWN):
        one.tell(ask(one), place / KNOWN)
    for study in (one, two, one, two, one):  # who has met another takes turns from then on
        ask(study)
    one.prepare()
    ask(two)
    ask(one)
    assert [trial.number for trial in two.refresh().trials] == list(range(KNOWN + 7))
    assert audit(two).findings == []
    one.close()
    two.close()


@pytest.mark.usefixtures("always")
def test_a_promotion_goes_first_and_does_not_spoil_it() -> None:
    asked: list[int] = []
    study = xs.Study(SPACE, searcher=Counted(asked), scheduler=ASHA(9, eta=3), seed=1)
    for place in range(KNOWN):
        study.report(ask(study), 1.0 + place)
    running: list[xs.Trial] = []
    while len(running) < 4:
        if (trial := ask(study)).attempt == 0:
            running.append(trial)
    study.prepare()
    count = len(asked)
    assert asked[-1] == len(study.history.trials)
    study.report(running[0], 1.5, 1)  # among the best third: it is promoted at once
    assert ask(study).number == running[0].number
    new = ask(study)
    assert new.number == asked[-1]
    assert len(asked) == count
    assert audit(study).findings == []


@pytest.mark.usefixtures("always")
def test_a_single_worker_never_has_one() -> None:
    asked: list[int] = []
    study, running = begun(asked, running=1)
    study.prepare()
    assert len(running) == 1
    assert asked[-1] == KNOWN


@pytest.mark.usefixtures("always")
def test_none_is_made_when_no_trial_may_begin() -> None:
    asked: list[int] = []
    study, _ = begun(asked)
    study.prepare(xs.Limits(trials=KNOWN + 3))
    assert asked[-1] == KNOWN + 2


@pytest.mark.usefixtures("always")
def test_programs_that_take_each_others_numbers_stop_preparing() -> None:
    asked: list[int] = []
    study, _ = begun(asked)
    other = xs.Study.over(study.journal, searcher=Counted([]))
    for _ in range(decisions.LAST_USES):
        study.prepare()
        ask(other)
        study.refresh()
    count = len(asked)
    study.prepare()
    assert len(asked) == count
    for _ in range(decisions.REST):
        ask(study)
    count = len(asked)
    study.prepare()
    assert len(asked) == count + 1


@pytest.mark.usefixtures("always")
def test_one_that_is_lost_is_made_again(tmp_path: Path) -> None:
    """A program dies with a suggestion that nobody has taken: the next one makes the very same."""
    options: dict[str, Any] = {"searcher": GP(), "seed": 2, "name": "s", "storage": tmp_path / "s.db"}
    with xs.Study(SPACE, **options) as study:
        run_trials(study, 12, lambda trial: (trial["x"] - 0.3) ** 2)
        running = [ask(study) for _ in range(2)]
        study.prepare()
        lost = study.ahead._prepared
        assert lost is not None
        events = len(list(study.journal.read(0)))
        with xs.Study(SPACE, **options) as another:  # as if this program had died: a second one goes on
            assert len(list(another.journal.read(0))) == events
            assert another.space.dump(ask(another).config) == lost.start.config
            assert audit(another).findings == []
        for trial in running:
            study.tell(trial, 1.0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(("method", "trials"), [("gp", 40), ("mobster", 80)])
def test_a_simulated_cluster_that_counts_decisions_uses_them(method: str, trials: int) -> None:
    problem = problems.get("curves-mlp", max_budget=9)
    study = simulate(problem, method, workers=4, trials=trials, count_decisions=True)
    asked = [(place, event) for place, event in enumerate(study.journal.read(0)) if isinstance(event, ev.Asked)]
    assert any(event.seen < place for place, event in asked)
    assert len(asked) == trials
    assert study.history.over + len(study.history.paused) == trials
    assert audit(study).findings == []


@pytest.mark.usefixtures("always")
def test_a_simulated_cluster_that_does_not_count_decisions_never_does() -> None:
    problem = problems.get("curves-mlp", max_budget=9)
    made = [simulate(problem, "gp", workers=4, trials=20, ahead=wanted) for wanted in (True, False)]
    assert list(made[0].journal.read(1)) == list(made[1].journal.read(1))
    events = enumerate(made[0].journal.read(0))
    assert all(event.seen == place for place, event in events if isinstance(event, ev.Asked))


def test_cheap_decisions_are_made_when_they_are_asked_for() -> None:
    problem = problems.get("curves-mlp", max_budget=9)
    study = simulate(problem, searcher=Random(), workers=8, trials=100, count_decisions=True)
    events = enumerate(study.journal.read(0))
    assert all(event.seen == place for place, event in events if isinstance(event, ev.Asked))


@pytest.mark.usefixtures("always")
def test_worker_processes(tmp_path: Path) -> None:
    def objective(trial: Any) -> float:
        return float((trial["x"] - 0.3) ** 2)

    result = xs.minimize(
        objective, SPACE, trials=30, method="gp", workers=3, seed=1, study="s", storage=tmp_path / "s.db"
    )
    history = result.study.history
    assert [trial.state for trial in history.trials] == [xs.State.COMPLETE] * 30
    assert len({trial["x"] for trial in history.trials}) == 30
    assert audit(result.study).findings == []
    result.study.close()
