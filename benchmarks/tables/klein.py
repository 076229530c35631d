"""Real learning curves of 265 convolutional networks on CIFAR-10, 40 epochs each (Klein et al. 2017).

Five hyperparameters, drawn at random: the curve of a configuration is that of the nearest row (``tabular.Scattered`` says
why). The table has logarithms of the rates and widths, the space the numbers themselves; its batch sizes and widths are not
whole (509.7), since the numbers drawn were kept and not what they were rounded to.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables import data
from benchmarks.tables.data import Entry
from benchmarks.tables.tabular import Scattered
from xstar.space import Float, Int, Space

FILE = "klein_cnn_cifar10_lc/curves.npz"
EPOCHS = 40

SPACE = Space(
    learning_rate=Float(1e-6, 1.0, log=True),
    batch_size=Int(32, 512),
    n_units_1=Int(16, 1024, log=True),
    n_units_2=Int(16, 1024, log=True),
    n_units_3=Int(16, 1024, log=True),
)


@cache
def _arrays(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as table:
        columns = dict(zip(table["hp_names"].tolist(), table["config"].T, strict=True))
        losses, seconds = table["valid_error"][:, None, :], table["cum_time_s"][:, None, :]
    rows = {name: 2.0 ** columns[f"log2_{name}"] for name in ("n_units_1", "n_units_2", "n_units_3")}
    rows["learning_rate"] = 10.0 ** columns["log10_learning_rate"]
    rows["batch_size"] = columns["batch_size"]
    return {"rows": rows, "losses": losses, "seconds": seconds}


def problem() -> Scattered:
    unit = "validation error as a fraction"
    return Scattered("klein-cnn", SPACE, **_arrays(data.path(FILE)), budgets=range(1, EPOCHS + 1), unit=unit)


ENTRIES = {"klein-cnn": Entry(problem, (FILE,))}
