"""Random, Sobol and grid: the shared suite and what is particular to each."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import xstar as xs
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import Done, New, Suggestion
from xstar.searchers import Grid, Random
from xstar.testing import check_searcher


@dataclass(frozen=True)
class Counting:
    """Suggests what depends on how often it was asked, which it remembers where nothing survives."""

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        asked = history.memo.put((history.memo.get(int) or 0) + 1)
        return Random().suggest(history, task, np.random.default_rng(asked))


def test_what_is_remembered_must_not_matter() -> None:
    with pytest.raises(AssertionError, match=r"history\.memo is emptied"):
        check_searcher(Counting(), trials=5)


def configs(study: xs.Study, number: int) -> list[dict[str, object]]:
    found = []
    for _ in range(number):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, 1.0)
        found.append(trial.config)
    return found


def test_sobol_points_are_scipys() -> None:
    from scipy.stats import qmc

    study = xs.Study(xs.Space(a=xs.Float(0, 1), b=xs.Float(-1, 1), c=xs.Float(0, 4)), method="sobol", seed=3)
    drawn = np.array([list(config.values()) for config in configs(study, 1500)])
    unit = (drawn - [0, -1, 0]) / [1, 2, 4]
    assert qmc.discrepancy(unit[:1024]) < qmc.discrepancy(np.random.default_rng(0).random((1024, 3))) / 5
    for column in unit[:1024].T:  # every interval of length 1/1024 holds exactly one point
        assert sorted(np.floor(column * 1024).astype(int)) == list(range(1024))
    assert len({tuple(row) for row in drawn}) == 1500


def test_a_space_of_constants_is_tried_once() -> None:
    for method in ("random", "sobol", "grid"):
        study = xs.Study(xs.Space(a=3), method=method)
        assert configs(study, 1) == [{"a": 3}]
        assert study.ask() is None


def test_grid_steps_over_what_a_user_added() -> None:
    space = xs.Space(a=xs.Choice(["x", "y"]), b=xs.Float(0, 1))
    study = xs.Study(space, searcher=Grid(points=3))
    study.add({"a": "x", "b": 0.5}, 1.0)
    study.enqueue({"a": "y", "b": 1.0})
    found = configs(study, 5)
    assert found[0] == {"a": "y", "b": 1.0}
    assert len({(c["a"], c["b"]) for c in found} | {("x", 0.5)}) == 6
    assert study.ask() is None
    assert study.ended == "all 6 points of the grid have been tried"


def test_grids_that_make_no_sense_are_refused() -> None:
    many = xs.Space(**{f"x{i}": xs.Float(0, 1) for i in range(20)})
    with pytest.raises(InvalidArgument, match="at most 1,000,000 points"):
        xs.Study(many, method="grid").ask()


def test_a_nearly_full_space_is_filled_to_the_last() -> None:
    space = xs.Space(a=xs.Int(1, 40), b=xs.Int(1, 40))
    study = xs.Study(space, method="random", seed=0)
    assert len({tuple(config.values()) for config in configs(study, 1600)}) == 1600
    assert study.ask() is None


def test_streams_have_an_address() -> None:
    one, two = Streams(5), Streams(5)
    first = one.generator(7, "suggest").random(5).tolist()
    one.generator(8, "suggest").integers(0, 2**32, 3, dtype=np.uint32)  # leaves a half-used word behind
    one.generator(7, "other").random()
    assert one.generator(7, "suggest").random(5).tolist() == first == two.generator(7, "suggest").random(5).tolist()
    others = [two.generator(8, "suggest"), two.generator(7, "other"), Streams(6).generator(7, "suggest")]
    for other in others:
        assert other.random(5).tolist() != first


def test_a_seed_means_the_same_in_any_process() -> None:
    program = (
        "import xstar as xs\n"
        "study = xs.Study(xs.Space(a=xs.Float(0, 1), b=xs.Choice(['x', 'y'])), seed=12)\n"
        "for _ in range(5):\n    trial = study.ask(); study.tell(trial, 1.0)\n"
        "print([trial.config for trial in study.history.trials])"
    )
    space = xs.Space(a=xs.Float(0, 1), b=xs.Choice(["x", "y"]))
    here = configs(xs.Study(space, seed=12), 5)
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert there.strip() == repr(here)


def test_uniform_numbers_of_neighbouring_trials_are_independent() -> None:
    streams = Streams(1)
    drawn = np.array([streams.generator(trial, "suggest").random(2) for trial in range(4000)])
    correlations = np.corrcoef(np.column_stack([drawn[:-1], drawn[1:]]).T)
    np.testing.assert_allclose(correlations - np.eye(4), 0, atol=4.5 / np.sqrt(4000))


@pytest.mark.parametrize("method", ["sobol", "gp"])
def test_more_switches_than_a_sobol_sequence_has_numbers(method: str) -> None:
    with pytest.raises(
        InvalidArgument, match=r"^space: a Sobol sequence has at most 21,201 numbers .* 'pbil' for switches"
    ):
        xs.minimize(lambda trial: 0.0, xs.Space(mask=xs.Bits(22_000)), method=method, trials=1)
