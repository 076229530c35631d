"""L-BFGS: SciPy's routine called directly, and through ``minimize``."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import scipy
from numpy.testing import assert_allclose

from xstar.models import lbfgs
from xstar.models.kernels import Array


def rosenbrock(x: Array) -> tuple[float, Array]:
    bent = x[1:] - x[:-1] ** 2
    slope = np.zeros_like(x)
    slope[:-1] = -400.0 * x[:-1] * bent - 2.0 * (1.0 - x[:-1])
    slope[1:] += 200.0 * bent
    return float((100.0 * bent**2 + (1.0 - x[:-1]) ** 2).sum()), slope


def unusable(x: Array) -> tuple[float, Array]:
    """As a likelihood is where a matrix has no factor: a large number without a slope."""
    return (1e10, np.zeros_like(x)) if x[0] > 0.5 else (float(((x - 0.8) ** 2).sum()), 2.0 * (x - 0.8))


of_a_compared_version = pytest.mark.skipif(
    not scipy.__version__.startswith(tuple(f"{version}." for version in lbfgs.COMPARED)),
    reason=f"SciPy {scipy.__version__} is none of {', '.join(lbfgs.COMPARED)}, so minimize is used",
)


@pytest.fixture
def unknown_routine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """SciPy as it may be one day: its routine takes other arguments."""
    lbfgs._is_known.cache_clear()
    monkeypatch.setattr(lbfgs, "_routine", lambda: lambda m, x: None)
    yield
    lbfgs._is_known.cache_clear()


@of_a_compared_version
@pytest.mark.parametrize("function", [rosenbrock, unusable])
@pytest.mark.parametrize(("steps", "tolerance"), [(1, 1e-9), (7, 1e-9), (60, 1e-4), (60, 1e-12)])
def test_both_ways_find_the_same_to_the_last_bit(function: lbfgs.Function, steps: int, tolerance: float) -> None:
    assert lbfgs._is_known()
    rng = np.random.default_rng(0)
    for k in (1, 2, 9):
        if function is rosenbrock and k == 1:
            continue
        low, high = -rng.uniform(0.5, 2.0, k), rng.uniform(0.5, 2.0, k)
        start = rng.uniform(-3.0, 3.0, k)  # also outside
        one = lbfgs._directly(function, start, low, high, steps, tolerance)
        other = lbfgs._through_scipy(function, start, low, high, steps, tolerance)
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]


def test_the_values_that_the_routine_is_known_by_are_those_of_minimize(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lbfgs, "_directly", lbfgs._through_scipy)
    monkeypatch.setattr("scipy.__version__", f"{lbfgs.COMPARED[0]}.0")
    assert lbfgs._is_known.__wrapped__()


@of_a_compared_version
def test_both_ways_ask_for_the_same_points() -> None:
    assert lbfgs._is_known()
    asked: dict[str, list[Array]] = {"directly": [], "through": []}
    start, low, high = np.array([-1.2, 1.0, 0.3]), np.full(3, -2.0), np.full(3, 2.0)
    for name, search in (("directly", lbfgs._directly), ("through", lbfgs._through_scipy)):

        def noted(x: Array, name: str = name) -> tuple[float, Array]:
            asked[name].append(x)  # not a copy: nobody else may write to it
            return rosenbrock(x)

        search(noted, start, low, high, 40, 1e-10)
    np.testing.assert_array_equal(asked["directly"], asked["through"])


@pytest.mark.usefixtures("unknown_routine")
def test_where_the_routine_is_another_the_way_through_minimize_is_taken() -> None:
    assert not lbfgs._is_known()
    found, value = lbfgs.descend(rosenbrock, np.zeros(2), np.full(2, -2.0), np.full(2, 2.0), 200, 1e-14)
    assert_allclose(found, 1.0, atol=1e-4)
    assert value < 1e-8


@pytest.mark.parametrize("version", ["1.14.1", "1.18.0", "2.0.0rc1"])
def test_a_version_that_was_not_compared_is_never_called_directly(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def must_not_be_called() -> None:
        raise AssertionError("arrays of another version's sizes would be written beyond their end")

    monkeypatch.setattr("scipy.__version__", version)
    monkeypatch.setattr(lbfgs, "_routine", must_not_be_called)
    lbfgs._is_known.cache_clear()
    try:
        lbfgs.descend(rosenbrock, np.zeros(2), np.full(2, -2.0), np.full(2, 2.0), 5, 1e-9)
        assert not lbfgs._is_known()
    finally:
        lbfgs._is_known.cache_clear()


def test_a_routine_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lbfgs, "_routine", lambda: lambda *given: given[11].__setitem__(0, lbfgs.EVALUATE))
    with pytest.raises(ArithmeticError, match="has not ended"):
        lbfgs._directly(rosenbrock, np.zeros(2), np.full(2, -2.0), np.full(2, 2.0), 3, 1e-9)


def test_the_start_is_left_alone() -> None:
    start = np.array([-1.2, 1.0])
    lbfgs.descend(rosenbrock, start, np.full(2, -2.0), np.full(2, 2.0), 30, 1e-9)
    np.testing.assert_array_equal(start, [-1.2, 1.0])
