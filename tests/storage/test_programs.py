"""What one program does counts for the others at their next decision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import xstar as xs
from tests.trials import ask
from xstar.look.audit import audit
from xstar.searchers import Random, Searcher, Sobol

SPACE = xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 40))
FINITE = xs.Space(n=xs.Int(1, 30))


@pytest.fixture
def pair(storage: str, name: str) -> Iterator[tuple[xs.Study, xs.Study]]:
    """Two programs on one study, of which the second has done something that the first has not read."""
    one, two = (xs.Study(SPACE, study=name, storage=storage, method="random", seed=3) for _ in range(2))
    run(two, 20)
    yield one, two
    one.close()
    two.close()


def run(study: xs.Study, trials: int) -> list[xs.Trial]:
    made = []
    for _ in range(trials):
        trial = ask(study)
        study.tell(trial, trial["x"] if "x" in trial.config else trial["n"])
        made.append(trial)
    return made


@pytest.mark.parametrize("searcher", [Random(), Sobol()])
def test_trials_are_those_of_a_single_program(storage: str, name: str, searcher: Searcher) -> None:
    one, two = (xs.Study(SPACE, study=name, storage=storage, searcher=searcher, seed=3) for _ in range(2))
    for _ in range(5):
        run(one, 2)
        run(two, 1)
    alone = xs.Study(SPACE, searcher=searcher, seed=3)
    run(alone, 15)
    assert [trial.config for trial in one.trials] == [trial.config for trial in alone.trials]
    assert [trial.origin for trial in one.trials] == [trial.origin for trial in alone.trials]
    one.close()
    two.close()


def test_a_configuration_of_a_finite_space_is_tried_once(storage: str, name: str) -> None:
    one, two = (xs.Study(FINITE, study=name, storage=storage, method="random", seed=3) for _ in range(2))
    made = [trial for _ in range(5) for trial in run(two, 3) + run(one, 3)]
    assert sorted(trial["n"] for trial in made) == list(range(1, 31))
    one.close()
    two.close()


def test_a_configuration_that_another_program_enqueues_is_next(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    two.enqueue({"x": 0.25, "n": 7})
    trial = ask(one)
    assert trial.config == {"x": 0.25, "n": 7}
    run(two, 1)
    assert run(one, 1)[0].origin.method == "random"
    assert audit(one).findings == []


@pytest.mark.parametrize("state", ["pause", "stop"])
def test_a_study_that_another_program_holds_is_held(pair: tuple[xs.Study, xs.Study], state: str) -> None:
    one, two = pair
    run(one, 1)
    two.pause() if state == "pause" else two.stop()
    assert one.ask() is None
    assert (one.ended is not None) == (state == "stop")
    two.resume()
    assert run(one, 1)[0].number == 21


def test_a_trial_that_another_program_gives_up_is_run_again(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    given_up = ask(two)
    run(one, 1)
    two.leases.release("told to go", given_up.number)
    again = ask(one)
    assert (again.number, again.attempt) == (given_up.number, 1)
    one.tell(again, 0.5)
    assert audit(one).findings == []


def test_a_wider_space_is_searched_at_once(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    before = ask(one)
    two.widen(xs.Space(x=xs.Float(0, 1), n=xs.Int(1, 40), m=xs.Int(0, 3)), {"m": 2})
    after = ask(one)
    assert "m" in after.config
    assert before["m"] == 2
    one.tell(before, 0.1)
    one.tell(after, 0.1)
    assert audit(one).findings == []


def test_limits_hold_for_all_programs_together(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    limits = xs.Limits(trials=23)
    for study in (one, two, one):
        study.tell(ask(study, limits), 1.0)
    assert one.ask(limits) is None
    assert two.ask(limits) is None
    assert one.ended == "all 23 trials are done"
    assert one.ask(xs.Limits(target=1.0)) is None, "a target looks at what others found"
    assert "target" in str(one.ended)


def test_a_decision_to_start_nothing_leaves_the_connection_as_it_was(pair: tuple[xs.Study, xs.Study]) -> None:
    one, two = pair
    run(one, 1)
    for _ in range(2):
        two.pause()
        assert one.ask() is None
        two.resume()
        run(two, 1)
        run(one, 1)
    connection: Any = one.journal._connection  # type: ignore[attr-defined]
    if one.storage is not None and one.storage.database.path is None:
        connection._open.execute("ROLLBACK")  # as after an error: psycopg drops what was prepared
    run(two, 1)
    assert run(one, 1)[0].number == 26
