"""HPOLib2's FC-Net tables (Klein & Hutter 2019): 62,208 two-layer regression networks, four runs each, four data sets.

One budget: the tables at hand hold the end of each run (100 epochs) and not the curves. Seconds are the measured training
times, run by run. Some runs diverged, to losses of 1e7: a search that cannot stand such values shows it here.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xstar.problems import data
from xstar.problems.base import Entry
from xstar.problems.tabular import Grid
from xstar.space import Choice, Ordinal, Space

FILES = {
    "naval": "fcnet/naval_propulsion.npz",
    "parkinsons": "fcnet/parkinsons_telemonitoring.npz",
    "protein": "fcnet/protein_structure.npz",
    "slice": "fcnet/slice_localization.npz",
}
BUDGETS = (100,)

# The order is that of the tables' rows (C order), given in their search_space.json.
SPACE = Space(
    activation_fn_1=Choice(["relu", "tanh"]),
    activation_fn_2=Choice(["relu", "tanh"]),
    batch_size=Ordinal([8, 16, 32, 64]),
    dropout_1=Ordinal([0.0, 0.3, 0.6]),
    dropout_2=Ordinal([0.0, 0.3, 0.6]),
    init_lr=Ordinal([0.0005, 0.001, 0.005, 0.01, 0.05, 0.1]),
    lr_schedule=Choice(["cosine", "const"]),
    n_units_1=Ordinal([16, 32, 64, 128, 256, 512]),
    n_units_2=Ordinal([16, 32, 64, 128, 256, 512]),
)


@cache
def _arrays(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    with np.load(path, allow_pickle=False) as table:
        return table["val_loss"][:, :, None], table["train_time"][:, :, None]


def problem(dataset: str) -> Grid:
    losses, seconds = _arrays(data.path(FILES[dataset]))
    return Grid(f"fcnet-{dataset}", SPACE, losses, seconds, budgets=BUDGETS, unit="validation mean squared error")


ENTRIES = {f"fcnet-{dataset}": Entry(partial(problem, dataset), (file,)) for dataset, file in FILES.items()}
