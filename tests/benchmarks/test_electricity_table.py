"""The electricity table: true curves of the nearest row, and seconds that grow with batches, units and epochs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xstar as xs
from benchmarks import tables
from benchmarks.tables import electricity
from xstar.testing.simulate import simulate

USUAL = [1e-3, 32, 1e-5, 0.1, 0.2, 64, 128, 0.1, 0.1]


@pytest.fixture
def problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tables.Problem:
    """Three rows, two epochs, 200 rows of validation."""
    configs = np.array([USUAL, [1.0, *USUAL[1:]], [1e-3, 8, *USUAL[2:]]], dtype=np.float32)
    valid = np.array([[60, 40], [90, 90], [50, 30]], dtype=np.uint16)
    file = tmp_path / "electricity.npz"
    np.savez_compressed(
        file,
        names=np.array(list(electricity.SPACE.parameters)),
        configs=configs,
        valid=valid,
        test=valid,
        sizes=[200, 100],
    )
    monkeypatch.setattr(electricity, "TABLE", file)
    return tables.get("electricity")


def config(**changes: float) -> dict[str, float]:
    return {**dict(zip(electricity.SPACE.parameters, USUAL, strict=True)), **changes}


def test_a_configuration_has_the_curve_of_the_nearest_row(problem: tables.Problem) -> None:
    assert problem.optimum == 30 / 200
    assert problem.best["batch_size"] == 8
    assert list(problem.curve(config(), 0).losses) == [60 / 200, 40 / 200]
    assert list(problem.curve(config(learning_rate=0.5), 1).losses) == [90 / 200, 90 / 200]
    assert problem.budgets == (1, 2)


def test_a_small_batch_and_a_wide_layer_take_longer(problem: tables.Problem) -> None:
    first, second = problem.curve(config(), 0).seconds
    assert second == pytest.approx(2 * first)
    assert problem.curve(config(batch_size=8), 0).seconds[0] > 3 * first
    rows = {name: np.array([value, value], dtype=float) for name, value in config().items()}
    rows["units_1"] = np.array([16.0, 1024.0])
    narrow, wide = electricity.epoch_seconds(rows)
    assert wide > 1.5 * narrow


def test_it_can_be_searched_in_simulated_time(problem: tables.Problem) -> None:
    study = simulate(problem, "asha", workers=2, trials=12, seed=0)
    assert study.best.value in (30 / 200, 40 / 200)
    assert isinstance(study, xs.Study)
