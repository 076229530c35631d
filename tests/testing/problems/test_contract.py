"""What every problem promises, file-free or not."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

from xstar.errors import InvalidArgument, InvalidConfig
from xstar.space import Encoder
from xstar.testing import problems
from xstar.testing.problems import Curve, Problem, curves, synthetic


class Contract:
    """What is asked of a problem, by name."""

    def made(self, name: str) -> Problem:
        return problems.get(name)

    def test_it_says_what_it_is(self, name: str) -> None:
        problem = self.made(name)
        assert problem.name == name
        assert problem.unit
        assert list(problem.budgets) == sorted(set(problem.budgets))
        assert all(type(budget) is int and budget >= 1 for budget in problem.budgets)
        assert math.isfinite(problem.optimum)
        assert type(problem.optimum) is float

    def test_its_best_configuration_reaches_the_optimum(self, name: str) -> None:
        problem = self.made(name)
        assert problem.space.parse(problem.best) == problem.best
        # 1e-4: the optima of the surrogate are rounded down to four decimals.
        tolerance = 1.01e-4 if name.startswith("lcbench-") else 1e-12
        assert problem.loss(problem.best) == pytest.approx(problem.optimum, abs=tolerance)

    def test_no_sample_is_below_the_optimum(self, name: str) -> None:
        problem = self.made(name)
        rng = np.random.default_rng(0)
        count = 300 if name.startswith("lcbench-") else 10_000  # test_tables.py asks the surrogates for many at once
        losses = [problem.loss(problem.space.sample(rng)) for _ in range(count)]
        assert problem.optimum <= min(losses) < max(losses)

    def test_curves_are_plain_finite_and_take_time(self, name: str) -> None:
        problem = self.made(name)
        rng = np.random.default_rng(1)
        for seed in range(20):
            curve = problem.curve(problem.space.sample(rng), seed)
            assert isinstance(curve, Curve)
            assert len(curve.losses) == len(curve.seconds) == len(problem.budgets)
            assert all(type(value) is float and math.isfinite(value) for value in curve.losses + curve.seconds)
            assert curve.seconds[0] > 0
            assert all(before < after for before, after in pairwise(curve.seconds))

    def test_a_curve_is_a_function_of_configuration_and_seed(self, name: str) -> None:
        problem, again = self.made(name), pickle.loads(pickle.dumps(self.made(name)))
        rng = np.random.default_rng(2)
        asked = [(problem.space.sample(rng), seed) for seed in range(5)]
        forward = [problem.curve(config, seed) for config, seed in asked]
        # In another order, of another object, from configurations written in another order.
        backward = [again.curve(dict(reversed(config.items())), seed) for config, seed in reversed(asked)]
        assert forward == backward[::-1]

    def test_the_mean_over_seeds_is_the_expected_loss(self, name: str) -> None:
        problem = self.made(name)
        config = problem.space.sample(np.random.default_rng(3))
        last = [problem.curve(config, seed).losses[-1] for seed in range(12)]  # 12: all runs of any table, evenly
        spread = float(np.std(last))
        assert np.mean(last) == pytest.approx(problem.loss(config), rel=1e-6, abs=2 * spread + 1e-12)

    def test_an_incomplete_configuration_is_refused_in_words(self, name: str) -> None:
        problem = self.made(name)
        config = dict(problem.best)
        dropped = next(iter(config))
        del config[dropped]
        with pytest.raises(InvalidConfig, match=dropped):
            problem.curve(config, 0)
        with pytest.raises(InvalidConfig, match=dropped):
            problem.loss(config)

    def test_models_can_encode_its_space(self, name: str) -> None:
        problem = self.made(name)
        assert Encoder(problem.space).width >= len(problem.space)


@pytest.mark.parametrize("name", [*synthetic.ENTRIES, *curves.ENTRIES])
class TestEveryProblem(Contract):
    pass


def test_noise_is_the_same_in_another_process() -> None:
    code = (
        "from xstar.testing import problems; p = problems.get('curves-optimizer'); print(p.curve(p.best, 5).losses[3])"
    )
    problem = problems.get("curves-optimizer")
    for hash_seed in ("1", "2"):  # strings hash differently then
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        assert float(done.stdout) == problem.curve(problem.best, 5).losses[3]


def test_threads_do_not_disturb_each_other() -> None:
    problem = problems.get("curves-mlp", max_budget=9)
    expected = [problem.curve(problem.best, seed).losses for seed in range(300)]
    wrong: list[int] = []

    def ask() -> None:
        wrong.extend(s for s in range(300) if problem.curve(problem.best, s).losses != expected[s])

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_an_unknown_name_is_answered_with_those_there_are() -> None:
    with pytest.raises(InvalidArgument, match=r"hartmann6.*did you mean branin"):
        problems.get("brannin")
    with pytest.raises(InvalidArgument, match=r"problems.names\(\)"):
        problems.get("something else")


def test_unknown_options_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"takes max_budget, noise.*budget"):
        problems.get("curves-mlp", budget=3)


def test_a_problem_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "_MAKERS", dict(problems._MAKERS))

    def make(*, noise: float = 0.5) -> Problem:
        return problems.get("branin", noise=noise)

    problems.register("mine", make)
    assert problems.get("mine", noise=0.25).space == problems.get("branin").space
    with pytest.raises(InvalidArgument, match="taken"):
        problems.register("mine", make)
