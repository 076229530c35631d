"""Networks of a study: which there are, maps that keep distances, and pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr

import xstar as xs
from tests.look.plots.networks import a_study, collected
from xstar import nets
from xstar.errors import InvalidArgument
from xstar.look.plots import networks as data


def told(study: xs.Study, config: dict[str, Any], value: float) -> None:
    study.add(config, value)


# ---------------------------------------------------------------- which networks


def test_a_network_is_one_point_with_its_best_value() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1)), seed=1)
    pool = nets.MLP(inputs=8).pool
    for lr, (place, value) in enumerate([(0, 3.0), (1, 2.0), (0, 1.0), (2, 5.0), (2, 6.0)]):
        told(study, {"net": pool[place], "lr": lr / 10}, value)
    found = collected(study)
    assert found.graphs == pool[:3]
    assert found.trials == (2, 1, 3)
    assert found.values.tolist() == [1.0, 2.0, 5.0]
    assert found.best == 0
    assert found.parameter == "net"


def test_the_direction_is_that_of_the_user(study: xs.Study, networks: data.Networks) -> None:
    best = study.best
    assert networks.trials[networks.best] == best.number
    assert networks.values[networks.best] == best.value == networks.values.max()


def test_only_complete_trials_count() -> None:
    study = xs.Study(xs.Space(net=nets.MLP(inputs=8)), seed=1, max_budget=2)
    for number in range(6):
        trial = study.ask()
        assert trial is not None
        if number == 0:
            study.fail(trial, "no memory")
            continue
        study.report(trial, 1.0 + number)
        if number != 1:  # trial 1 goes on running
            study.report(trial, 2.0 + number)
    assert collected(study).trials == (2, 3, 4, 5)


def test_cells_that_compute_the_same_are_one_network() -> None:
    study = xs.Study(xs.Space(cell=nets.Cell()), seed=1)
    cut = ("none", "none", "nor_conv_3x3", "skip_connect", "none", "none")  # op2 starts at a node that nothing feeds
    same = ("none", "none", "nor_conv_1x1", "skip_connect", "none", "none")
    other = ("nor_conv_3x3",) * 6
    for value, cell in enumerate([cut, same, other, ("avg_pool_3x3",) * 6]):
        told(study, {"cell": nets.CellNetwork(cell)}, float(value))
    found = collected(study)
    assert found.trials == (0, 2, 3)
    assert found.parameter == "cell"


def test_a_parameter_that_is_not_always_there() -> None:
    space = xs.Space(kind=xs.Choice(["a", "b"]), net=nets.MLP(inputs=8, when={"kind": "a"}))
    study = xs.Study(space, seed=1)
    pool = nets.MLP(inputs=8).pool
    for place in range(3):
        told(study, {"kind": "b"}, -1.0 - place)
        told(study, {"kind": "a", "net": pool[place]}, float(place))
    assert collected(study).trials == (1, 3, 5)


# ---------------------------------------------------------------- the map


def test_distances_are_those_of_nets(networks: data.Networks) -> None:
    for i, j in [(0, 1), (3, 7), (9, 9)]:
        expected = nets.otmann(networks.graphs[i], networks.graphs[j], normalised=True)
        assert_allclose(networks.distances[i, j], expected, rtol=1e-12)


def test_scaling_finds_points_of_a_plane_again() -> None:
    points = np.random.default_rng(1).normal(size=(12, 2)) * [3.0, 1.0]
    table = np.linalg.norm(points[:, None] - points[None], axis=2)
    positions, share = data.classical_scaling(table)
    assert_allclose(share, 1.0, rtol=1e-9)
    assert_allclose(np.linalg.norm(positions[:, None] - positions[None], axis=2), table, atol=1e-9)
    assert_allclose(positions.mean(axis=0), 0.0, atol=1e-12)
    assert positions[:, 0].std() > positions[:, 1].std()


def test_scaling_is_the_double_centring_written_out(networks: data.Networks) -> None:
    table = networks.distances
    count = len(table)
    centring = np.eye(count) - np.ones((count, count)) / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ table**2 @ centring)
    plain = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    for axis in range(2):
        if plain[np.abs(plain[:, axis]).argmax(), axis] < 0:
            plain[:, axis] *= -1
    positions, share = data.classical_scaling(table)
    assert_allclose(positions, plain, atol=1e-9)
    assert_allclose(share, values[-2:].sum() / values[values > 0].sum(), rtol=1e-9)


def test_drawn_networks_are_the_best_and_some_far_from_each_other() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.0], [1.0, 0.0], [0.5, 0.1], [0.65, 0.1]])
    assert data.well_spread(X, 1) == [1, 2, 3]
    assert data.well_spread(np.zeros((3, 2)), 1) == [1]


def test_networks_without_any_distance_lie_at_one_place() -> None:
    positions, share = data.classical_scaling(np.zeros((4, 4)))
    assert_allclose(positions, 0.0, atol=1e-12)
    assert share == 1.0


# ---------------------------------------------------------------- what is drawn


def test_the_first_parameter_with_networks_or_the_one_that_is_named() -> None:
    study = a_study(4, other=nets.MLP(inputs=3))
    assert collected(study).parameter == "net"
    assert collected(study, "other").graphs[0].inputs == 3
    assert study.plot.figure("networks", parameter="other")["layout"]["meta"] == {"parameter": "other"}
    with pytest.raises(InvalidArgument, match=r"parameter: .*net, other.*'lr'"):
        study.plot.figure("networks", parameter="lr")


def test_where_there_is_nothing_to_see_it_is_said() -> None:
    for study, why in (
        (xs.Study(xs.Space(lr=xs.Float(0, 1))), "no architecture"),
        (a_study(2), "3 different networks of complete trials; there are 2"),
        (xs.Study(xs.Space(net=nets.MLP(inputs=8)), seed=1), "there are 0"),
    ):
        (note,) = study.plot.figure("networks")["layout"]["annotations"]
        assert why in note["text"]


def test_many_networks_are_thinned_out(study: xs.Study) -> None:
    found = collected(study, most=7)
    assert len(found.graphs) in (7, 8)
    assert found.found == len(collected(study).graphs)
    assert found.trials[found.best] == study.best.number


# ---------------------------------------------------------------- pairs


def test_the_correlation_is_that_of_all_pairs(networks: data.Networks) -> None:
    pairs = [
        (networks.distances[i, j], abs(networks.losses[i] - networks.losses[j]))
        for i, j in combinations(range(len(networks.graphs)), 2)
    ]
    distance, difference = np.array(pairs).T
    assert_allclose(networks.correlation, spearmanr(distance, difference).statistic, rtol=1e-9)
