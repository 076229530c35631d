"""Learning curves of MLPs on the data set *electricity*, 81 epochs each: the space of MOBSTER's first experiment.

Nine hyperparameters (Klein et al. 2020, Table 1), drawn from a Sobol sequence: the curve of a configuration is that of the
nearest row (``tabular.Scattered`` says why). All networks were really trained, many at a time on a GPU
(``benchmarks/electricity_table.py``), so their own times are not known: seconds are those that one network takes alone.

    seconds of a step = STEP + WEIGHT · weights + UNIT · batch · units + PRODUCT · batch · weights
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables.data import Entry
from benchmarks.tables.tabular import Scattered
from xstar.space import Float, Int, Space

TABLE = Path(__file__).with_name("electricity.npz")
FEATURES, ROWS = 6, 27_136
"""Of the data; rows that are trained on."""
STEP, WEIGHT, UNIT, PRODUCT = 4.7e-4, 6.2e-9, 1.1e-8, 9.5e-11
"""Fitted to the processor time of a step of torch 2.13 on one thread, for six pairs of widths from 16 to 1,024 and batches of
8, 32 and 128: within a fifth of most, and two thirds of the measured time at worst."""

SPACE = Space(
    learning_rate=Float(1e-6, 1.0, log=True),
    batch_size=Int(8, 128, log=True),
    weight_decay=Float(1e-8, 1.0, log=True),
    dropout_1=Float(0.0, 0.99),
    dropout_2=Float(0.0, 0.99),
    units_1=Int(16, 1024, log=True),
    units_2=Int(16, 1024, log=True),
    scale_1=Float(1e-3, 10.0, log=True),
    scale_2=Float(1e-3, 10.0, log=True),
)


def epoch_seconds(rows: dict[str, Any]) -> Any:
    """Of each configuration."""
    batch, first, second = (rows[name] for name in ("batch_size", "units_1", "units_2"))
    weights = FEATURES * first + first * second + second
    step = STEP + WEIGHT * weights + UNIT * batch * (first + second) + PRODUCT * batch * weights
    return step * ROWS / batch


@cache
def arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as table:
        rows = dict(zip(table["names"].tolist(), table["configs"].T.astype(np.float64), strict=True))
        losses = table["valid"] / table["sizes"][0]
    low, high = 1.0 - 1e-6, 1.0 + 1e-6  # the table has single precision: an end of a range may lie just outside
    for name, parameter in SPACE.parameters.items():
        assert isinstance(parameter, (Float, Int))
        assert ((rows[name] >= parameter.low * low) & (rows[name] <= parameter.high * high)).all(), name
        rows[name] = rows[name].clip(parameter.low, parameter.high)
    seconds = np.outer(epoch_seconds(rows), np.arange(1, losses.shape[1] + 1))
    return {"rows": rows, "losses": losses[:, None, :], "seconds": seconds[:, None, :]}


def problem() -> Scattered:
    found = arrays(TABLE)
    budgets = range(1, found["losses"].shape[2] + 1)
    return Scattered("electricity", SPACE, **found, budgets=budgets, unit="validation error as a fraction")


ENTRIES = {"electricity": Entry(problem)}
