"""The tables: their best numbers are the published ones, and a configuration finds its row."""

from __future__ import annotations

import csv
import gzip
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import tables
from benchmarks.tables import data, klein, lcbench
from benchmarks.tables.lcbench import OPTIMA, TABLED, Surrogate
from benchmarks.tables.tabular import Grid, Scattered, grid_space
from tests.testing.problems.test_contract import Contract
from xstar.errors import InvalidArgument, MissingExtra
from xstar.space import Encoder
from xstar.testing.problems import Curve, Problem


def made(name: str) -> Any:
    if reason := tables.missing(name):
        pytest.skip(reason)
    return tables.get(name)


@pytest.mark.parametrize("name", tables.ENTRIES)
class TestEveryTable(Contract):
    def made(self, name: str) -> Problem:
        problem: Problem = made(name)
        return problem


def test_absent_data_is_an_error_that_names_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XSTAR_DATA", str(tmp_path))
    for name in tables.ENTRIES:
        if name == "electricity":  # its table is in the checkout
            continue
        assert "set XSTAR_DATA" in tables.missing(name)
        with pytest.raises(InvalidArgument, match="XSTAR_DATA: must be a folder with the file") as caught:
            tables.get(name)
        assert str(tmp_path) in str(caught.value)


def test_an_absent_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    made("lcbench-126025")
    data.surrogate.cache_clear()
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # as if it were not installed
    assert "onnxruntime not installed" in tables.missing("lcbench-126025")
    with pytest.raises(MissingExtra, match="pip install onnxruntime"):
        tables.get("lcbench-126025")
    assert not tables.missing("lcbench-table-126025")


@pytest.mark.parametrize(
    ("name", "optimum", "digits"),
    [
        ("nb201-cifar10", 100 - 91.61, 2),
        ("nb201-cifar100", 100 - 73.49, 2),
        ("nb201-imagenet16", 100 - 46.73, 2),
        ("hpolib-lda", 1266.17, 2),
        ("hpolib-svm", 0.2411, 4),
        ("hpolib-logreg", 0.0685, 4),
        ("klein-cnn", 0.1515, 4),
        ("fcnet-naval", 3.19e-5, 7),
        ("fcnet-parkinsons", 0.00671, 5),
        ("fcnet-protein", 0.2214, 4),
        ("fcnet-slice", 1.92e-4, 6),
    ],
)
def test_the_best_numbers_are_those_of_the_data_set(name: str, optimum: float, digits: int) -> None:
    problem = made(name)
    assert round(problem.optimum, digits) == pytest.approx(optimum)


@pytest.mark.parametrize("dataset", ["cifar10", "cifar100", "imagenet16"])
def test_nasbench201_rows_are_found_by_their_operations(dataset: str) -> None:
    problem = made(f"nb201-{dataset}")
    prefix = {"cifar10": "c10", "cifar100": "c100", "imagenet16": "in16"}[dataset]
    with gzip.open(data.path("nasbench201/nb201_table.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines[::500]:
        names = [part.partition("~")[0] for part in line["arch_str"].replace("+", "").split("|") if part]
        config = {f"op{edge}": operation for edge, operation in enumerate(names)}
        assert problem.loss(config) == pytest.approx(100 - float(line[f"{prefix}_val_ep200"]), abs=1e-5)
        assert problem.test_error(config) == pytest.approx(100 - float(line[f"{prefix}_test_ep200"]), abs=1e-9)
        runs = [float(line[f"{prefix}_val_ep200_run{run}"] or "nan") for run in range(3)]
        runs = [100 - run for run in runs if not math.isnan(run)]
        curves = [problem.curve(config, seed) for seed in range(len(runs))]
        assert_allclose([curve.losses[1] for curve in curves], runs)
        assert_allclose([curve.losses[0] for curve in curves], 100 - float(line[f"{prefix}_val_ep12"]))
        time = float(line[f"{prefix}_traintime_s_ep200"])
        assert_allclose(curves[0].seconds, [time * 12 / 200, time])


def test_only_tables_with_test_errors_give_them() -> None:
    logreg = made("hpolib-logreg")
    assert logreg.test_error(logreg.best) == pytest.approx(0.07, abs=0.01)
    with pytest.raises(InvalidArgument, match="test errors"):
        made("hpolib-lda").test_error({"kappa": 0.5, "tau": 1, "S": 1})


def test_fcnet_rows_are_in_the_order_the_data_set_states() -> None:
    problem = made("fcnet-naval")
    # model_size is a function of the widths alone: 15 inputs with their two layers, and one output.
    with np.load(data.path("fcnet/naval_propulsion.npz")) as table:
        sizes, losses, seconds = table["model_size"], table["val_loss"], table["train_time"]
    rng = np.random.default_rng(0)
    for _ in range(50):
        config = problem.space.sample(rng)
        row, a, b = problem.row(config), config["n_units_1"], config["n_units_2"]
        assert sizes[row] == (15 + 1) * a + (a + 1) * b + (b + 1)
        assert [problem.curve(config, seed).losses[0] for seed in range(5)] == [*losses[row], losses[row, 0]]
        assert_allclose([problem.curve(config, seed).seconds[0] for seed in range(4)], seconds[row])


def test_hpolib_values_and_budgets() -> None:
    assert made("hpolib-logreg").budgets == (5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560)
    curve = made("hpolib-logreg").curve({"lrate": 3, "l2_reg": 0.0, "batchsize": 40}, 0)
    assert curve.losses == [0.0814, 0.077, 0.0726, 0.0694, *[0.0685] * 6]
    assert curve.seconds[:5] == pytest.approx([2.652914, 3.96007, 6.849021, 11.623371, 20.182624])
    assert made("hpolib-svm").curve({"C": 0.1, "alpha": 0.1, "epsilon": 0.001}, 0) == Curve([0.46842], [401.66])
    assert made("hpolib-lda").space.size == 288
    with pytest.raises(InvalidArgument, match="row for each"):
        grid_space({"a": [1, 2], "b": [1, 2]}, 3)


@pytest.mark.parametrize("name", ["klein-cnn", "lcbench-table-167200"])
def test_the_nearest_row_is_the_nearest_in_the_encoded_space(name: str) -> None:
    problem = made(name)
    assert isinstance(problem, Scattered)
    encoder = Encoder(problem.space)
    rng = np.random.default_rng(0)
    for _ in range(200):
        config = problem.space.sample(rng)
        x = encoder.encode_one(config)[0]
        distances = ((problem._points - x) ** 2).sum(axis=1)  # the plain form
        assert distances[problem.row(config)] == pytest.approx(distances.min(), abs=1e-12)


def klein_rows() -> Any:
    return klein._arrays(data.path(klein.FILE))["rows"]


def lcbench_rows(task: str = "126025") -> Any:
    return lcbench._arrays(data.path(lcbench.TABLE), task)["rows"]


@pytest.mark.parametrize(("name", "read"), [("klein-cnn", klein_rows), ("lcbench-table-126025", lcbench_rows)])
def test_every_row_of_a_scattered_table_is_reached_by_its_configuration(name: str, read: Callable[[], Any]) -> None:
    problem = made(name)
    rows = read()
    found = [problem.row(problem.config(row, rows)) for row in range(len(problem._points))]
    assert found == list(range(len(found)))


@pytest.mark.parametrize("task", TABLED)
def test_the_lcbench_table_holds_what_the_surrogate_says(task: str) -> None:
    table, surrogate = made(f"lcbench-table-{task}"), made(f"lcbench-{task}")
    rows = lcbench_rows(task)
    for row in range(0, 1000, 97):
        config = table.config(row, rows)
        stored, computed = table.curve(config, 0), surrogate.curve(config, 0)
        assert_allclose(stored.losses, computed.losses, atol=1e-3)
        assert_allclose(stored.seconds, computed.seconds, rtol=1e-4)
        assert table.loss(config) == pytest.approx(surrogate.loss(config), abs=1e-3)
    assert surrogate.optimum < table.optimum + 1e-3


@pytest.mark.parametrize("task", list(OPTIMA))
def test_no_sample_of_the_surrogate_is_below_its_optimum(task: str) -> None:
    surrogate, rng = made(f"lcbench-{task}"), np.random.default_rng(5)
    u = rng.random((10_000, 7))
    u[:5000] = np.round(u[:5000])  # the corners of the space, where networks extrapolate
    values = np.array([surrogate.space.key(surrogate.space.from_uniforms(row, rng)) for row in u.tolist()])
    assert surrogate.losses(values).min() >= surrogate.optimum


def test_surrogate_losses_of_many_are_those_of_each() -> None:
    surrogate = made("lcbench-189909")
    assert isinstance(surrogate, Surrogate)
    rng = np.random.default_rng(6)
    configs = [surrogate.space.sample(rng) for _ in range(20)]
    values = np.array([surrogate.space.key(config) for config in configs])
    assert_allclose(surrogate.losses(values), [surrogate.loss(config) for config in configs], atol=1e-3)


def test_times_are_put_in_order() -> None:
    seconds = np.array([[1.0, 2.0, 4.0], [2.0, 1.0, 4.0], [3.0, 3.0, 3.0]])
    result = data.increasing(seconds)
    assert (np.diff(result) > 0).all()
    assert_allclose(result[0], seconds[0])
    assert_allclose(result[1], [1.5, 1.5, 4.0], rtol=0.01)
    assert_allclose(result[2], 3.0, rtol=0.02)
    assert data.increasing(np.array([5.0])).tolist() == [5.0]


def test_a_grid_answers_with_the_mean_of_the_runs_it_has() -> None:
    space = grid_space({"a": [1, 2], "b": [0.1, 0.5]}, 4)
    losses = np.array([[4.0, 6.0], [3.0, 5.0], [2.0, np.nan], [9.0, 9.0]])[:, :, None]
    seconds = np.ones((4, 2, 1))
    problem = Grid("toy", space, losses, seconds, budgets=[1], unit="none", counts=np.array([2, 2, 1, 2]))
    assert problem.optimum == 2.0
    assert problem.best == {"a": 2, "b": 0.1}
    assert problem.loss({"a": 1, "b": 0.5}) == 4.0
    assert [problem.curve({"a": 1, "b": 0.1}, seed).losses for seed in range(3)] == [[4.0], [6.0], [4.0]]
    assert [problem.curve({"a": 2, "b": 0.1}, seed).losses for seed in range(3)] == [[2.0], [2.0], [2.0]]
