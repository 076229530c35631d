"""Numbers on a grid: which values there are, how they are counted, drawn, encoded, checked and refused."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidConfig, InvalidSpace
from xstar.space import Encoder, Float, Int, Space, at_least, between
from xstar.space.cube import Cube


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Int(1, 9, step=4), [1, 5, 9]),
        (Int(1, 10, step=4), [1, 5, 9]),
        (Int(-3, 4, step=2), [-3, -1, 1, 3]),
        (Int(2**60, 2**60 + 9, step=3), [2**60, 2**60 + 3, 2**60 + 6, 2**60 + 9]),
        (Float(0.1, 0.3, step=0.1), [0.1, 0.2, 0.3]),
        (Float(0, 1, step=0.3), [0.0, 0.3, 0.6, 0.9]),
        (Float(-1, 1, step=0.5), [-1.0, -0.5, 0.0, 0.5, 1.0]),
        (Float(1e-5, 5e-5, step=2e-5), [1e-5, 3e-5, 5e-5]),
    ],
)
def test_the_values(parameter: Float | Int, values: list[float]) -> None:
    assert parameter.size == len(values)
    assert [parameter.value_at(index) for index in range(len(values))] == values
    assert (parameter.low, parameter.high) == (values[0], values[-1])
    assert [parameter.decode(parameter.encode(value)) for value in values] == values
    shares = np.linspace(0, 1, 10 * len(values), endpoint=False) + 0.05 / len(values)
    drawn = [parameter.quantile([u]) for u in shares]
    assert {value: drawn.count(value) for value in values} == dict.fromkeys(values, 10)
    assert type(parameter.decode([1.0])) is type(values[0])
    space = Space(x=parameter)
    assert Space.from_json(space.to_json()) == space
    assert [config["x"] for config in space.grid(100)] == values
    assert space.size == len(values)


def test_a_value_is_on_the_grid_or_refused() -> None:
    space = Space(x=Float(0, 1, step=0.1), n=Int(0, 10, step=5))
    assert space.parse({"x": 0.1 * 3, "n": 5.0}) == {"x": 0.3, "n": 5}
    with pytest.raises(InvalidConfig, match=r"x: must be 0.0 or a multiple of the step 0.1 above it.*nearest is 0.3"):
        space.parse({"x": 0.33, "n": 5})
    with pytest.raises(InvalidConfig, match="n: must be 0 or a multiple of the step 5"):
        space.parse({"x": 0.3, "n": 7})


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Float, {"step": 0}, "must be a finite number above 0"),
        (Float, {"step": float("nan")}, "must be a finite number above 0"),
        (Float, {"step": True}, "must be a finite number above 0"),
        (Float, {"step": 5}, r"must be at most high - low.*Constant\(1.0\)"),
        (Float, {"step": 0.5, "log": True}, "equal ratios"),
        (Float, {"step": 1e-300}, "at most 2"),
        (Int, {"step": 0.5}, "must be an integer above 0"),
        (Int, {"step": -1}, "must be an integer above 0"),
        (Int, {"step": 4}, "must be at most high - low"),
        (Int, {"step": 2, "log": True}, "equal ratios"),
    ],
)
def test_refused(kind: type[Float | Int], arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidSpace, match=message):
        kind(1, 4, **arguments)  # type: ignore[arg-type]


def test_a_step_of_one_is_none() -> None:
    assert Int(1, 9, step=1) == Int(1, 9)
    assert repr(Int(1, 10, step=4)) == "Int(1, 9, step=4)"
    assert Int(1, 9, step=4) == Int(1, 10, step=4) != Int(1, 9, step=2)


def test_the_middle_of_a_share_and_the_mean_of_a_prior() -> None:
    assert Encoder(Space(x=Float(0, 1, step=0.25))).encode([{"x": 0.5}])[0].tolist() == [[0.5]]
    drawn = xs.Float(0, 1, step=0.25, prior=xs.Normal(0.75, 0.01)).quantile([0.5])
    assert drawn == 0.75


def test_conditions_on_a_grid() -> None:
    space = Space(
        x=Float(0, 1, step=0.1), y=Int(0, 3, when={"x": [0.1 * 3, 1]}), z=Int(0, 1, when={"x": at_least(0.95)})
    )
    assert space.size == 11 + 2 * 3 + 4 * 1  # x = 0.3 has four y, x = 1 has four y and two z
    assert "y" in space.parse({"x": 0.3, "y": 0})
    with pytest.raises(InvalidSpace, match="must be possible"):
        Space(x=Float(0, 1, step=0.1), y=Int(0, 3, when={"x": between(0.11, 0.19)}))


@pytest.mark.parametrize("method", ["random", "sobol", "gp", "grid", "evolution", "pbil"])
def test_a_finite_space_is_used_up_once(method: str) -> None:
    space = Space(x=Float(0, 0.4, step=0.1), n=Int(0, 10, step=5))
    study = xs.minimize(lambda trial: trial["x"] + trial["n"], space, method=method, seed=1).study
    tried = {tuple(trial.config.values()) for trial in study.history.trials}
    assert len(tried) == len(study.history.trials) == space.size == 15


def test_neighbours_and_snapping() -> None:
    space = Space(x=Float(0, 1, step=0.05), few=Float(0, 1, step=0.25))
    cube = Cube(space)
    assert not cube.pure
    assert cube.smooth.tolist() == [True, False]
    rng = np.random.default_rng(0)
    rows = rng.random((50, 2))
    plain = [cube.encoder.encode_one(cube.decode(row))[0] for row in rows]
    np.testing.assert_allclose(cube.snap(rows), plain, rtol=0, atol=1e-15)
    near = [cube.decode(row) for row in cube.neighbours(cube.snap(rows[:1])[0], rng)]
    here = cube.decode(cube.snap(rows[:1])[0])
    assert {config["few"] for config in near} == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert all((config["x"] != here["x"]) + (config["few"] != here["few"]) == 1 for config in near)
