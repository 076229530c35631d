"""The grids of HPOLib (Eggensperger et al. 2013: LDA, a structured SVM, logistic regression on MNIST) and of HPOLib2.

Options are ordered, not numbers on a scale: the grids go in uneven steps (C from 0.1 over 700, 800, 900 to 1e6), and an
Ordinal is what all of them have in common.

Logistic regression was run once per number of epochs, with early stopping, and its error is the best so far. So a curve
never rises, and once training has stopped the remaining budgets cost next to nothing: their times differ by the
measurement's error alone, which ``data.increasing`` takes out.

HPOLib2's FC-Net (Klein & Hutter 2019) are 62,208 two-layer regression networks, four runs each, on four data sets. One budget:
the tables at hand hold the end of each run (100 epochs) and not the curves. Seconds are the measured training times, by run.
Some runs diverged, to losses of 1e7: a search that cannot stand such values shows it here.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import data
from benchmarks.tables.data import Entry
from benchmarks.tables.tabular import Grid, grid_space
from xstar.space import Choice, Ordinal, Space


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are."""

    file: str
    parameters: tuple[str, ...]
    loss: str
    unit: str
    budget: str | None = None
    test: str | None = None


LAYOUTS = {
    "lda": Layout("hpolib_grids/lda_on_grid.csv", ("kappa", "tau", "S"), "perplexity", "perplexity"),
    "svm": Layout("hpolib_grids/svm_on_grid.csv", ("C", "alpha", "epsilon"), "error", "validation error as a fraction"),
    "logreg": Layout(
        "hpolib_grids/logreg_on_grid.csv",
        ("lrate", "l2_reg", "batchsize"),
        "valid_error",
        "validation error as a fraction",
        budget="n_epochs",
        test="test_error",
    ),
}


@cache
def _read(path: Path, layout: Layout) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    options = {name: _values(line[name] for line in lines) for name in layout.parameters}
    budgets = _values(line[layout.budget] for line in lines) if layout.budget else [1]
    space = grid_space(options, len(lines) // len(budgets))
    table = np.full((3, len(lines) // len(budgets), 1, len(budgets)), np.nan)
    for line in lines:
        row = 0
        for name, values in options.items():
            row = row * len(values) + values.index(float(line[name]))
        place = budgets.index(int(line[layout.budget])) if layout.budget else 0
        table[0, row, 0, place] = float(line[layout.loss])
        table[1, row, 0, place] = float(line["time_s"])
        table[2, row, 0, place] = float(line[layout.test]) if layout.test else np.nan
    losses, seconds, test = table
    return {
        "space": space,
        "losses": losses,
        "seconds": data.increasing(seconds),
        "budgets": tuple(budgets),
        "test": test[:, 0, -1] if layout.test else None,
    }


def _values(texts: Any) -> Sequence[Any]:
    """The distinct numbers of a column, in order; integers where all of them are."""
    numbers = sorted({float(text) for text in texts})
    return [int(number) for number in numbers] if all(n.is_integer() for n in numbers) else numbers


def problem(table: str) -> Grid:
    layout = LAYOUTS[table]
    return Grid(f"hpolib-{table}", **_read(data.path(layout.file), layout), unit=layout.unit)


# ---------------------------------------------------------------- FC-Net

FCNET_FILES = {
    "naval": "fcnet/naval_propulsion.npz",
    "parkinsons": "fcnet/parkinsons_telemonitoring.npz",
    "protein": "fcnet/protein_structure.npz",
    "slice": "fcnet/slice_localization.npz",
}
FCNET_BUDGETS = (100,)

# The order is that of the tables' rows (C order), given in their search_space.json.
FCNET_SPACE = Space(
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
def _fcnet_arrays(path: Path) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    with np.load(path, allow_pickle=False) as table:
        return table["val_loss"][:, :, None], table["train_time"][:, :, None]


def fcnet(dataset: str) -> Grid:
    losses, seconds = _fcnet_arrays(data.path(FCNET_FILES[dataset]))
    return Grid(
        f"fcnet-{dataset}", FCNET_SPACE, losses, seconds, budgets=FCNET_BUDGETS, unit="validation mean squared error"
    )


ENTRIES = {
    **{f"fcnet-{dataset}": Entry(partial(fcnet, dataset), (file,)) for dataset, file in FCNET_FILES.items()},
    **{f"hpolib-{name}": Entry(partial(problem, name), (layout.file,)) for name, layout in LAYOUTS.items()},
}
