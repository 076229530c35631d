"""NAS-Bench-201 (Dong & Yang 2020): all 15,625 cells of six edges with five operations, on three data sets.

A cell has four nodes; ``op0`` is the edge 0→1, ``op1`` and ``op2`` are 0→2 and 1→2, ``op3``, ``op4``, ``op5`` are 0→3, 1→3
and 2→3. Only 6,466 cells differ as functions (an edge ``none`` may cut others off), but each was trained on its own.

Two budgets: 12 and 200 epochs. The 12 epochs are a schedule of their own, with its learning rate brought down to zero, and
one run that all seeds share; it costs 12/200 of the full time. A trial that goes on from 12 to 200 is charged the
difference here, where reality would start again: 6 % too cheap, and the same for every method.

At 200 epochs a cell has two or three runs. Losses are validation errors in percent: 100 - accuracy.
"""

from __future__ import annotations

import csv
import gzip
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import data
from benchmarks.tables.data import Entry
from benchmarks.tables.tabular import Grid
from xstar.space import Choice, Space

FILE = "nasbench201/nb201_table.csv.gz"
OPERATIONS = ("none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3")  # the numbers 0 … 4 of the table
EDGES = tuple(f"op{edge}" for edge in range(6))
BUDGETS = (12, 200)
RUNS = 3
#: The prefixes of the table's columns.
PREFIXES = {"cifar10": "c10", "cifar100": "c100", "imagenet16": "in16"}

Columns = dict[str, NDArray[np.float64]]


@lru_cache(maxsize=1)
def _columns(path: Path) -> Columns:
    """The columns that any of the three data sets needs, in C order of the operations; NaN for a run that is not there."""
    wanted = [
        f"{prefix}_{column}"
        for prefix in PREFIXES.values()
        for column in ("val_ep12", *(f"val_ep200_run{run}" for run in range(RUNS)), "test_ep200", "traintime_s_ep200")
    ]
    cells = len(OPERATIONS) ** len(EDGES)
    table = np.full((len(wanted), cells), np.nan)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        header = {name: position for position, name in enumerate(next(lines))}
        edges = [header[edge] for edge in EDGES]
        places = [header[name] for name in wanted]
        for line in lines:
            cell = 0
            for edge in edges:
                cell = cell * len(OPERATIONS) + int(line[edge])
            table[:, cell] = [float(line[place] or "nan") for place in places]
    return dict(zip(wanted, table, strict=True))


@cache
def _arrays(path: Path, dataset: str) -> dict[str, Any]:
    columns, prefix = _columns(path), PREFIXES[dataset]
    losses = np.empty((len(columns[f"{prefix}_val_ep12"]), RUNS, len(BUDGETS)))
    losses[:, :, 0] = 100.0 - columns[f"{prefix}_val_ep12"][:, None]
    for run in range(RUNS):
        losses[:, run, 1] = 100.0 - columns[f"{prefix}_val_ep200_run{run}"]
    # The runs a cell has come first: it is always the third one that is missing.
    counts = np.isfinite(losses[:, :, 1]).sum(axis=1).astype(np.uint8)
    full = columns[f"{prefix}_traintime_s_ep200"]
    seconds = np.stack([full * BUDGETS[0] / BUDGETS[1], full], axis=1)[:, None, :]  # (cells, 1, 2)
    return {
        "losses": losses,
        "seconds": np.broadcast_to(seconds, losses.shape),  # one time for all runs, kept once
        "counts": counts,
        "test": 100.0 - columns[f"{prefix}_test_ep200"],
    }


def problem(dataset: str) -> Grid:
    space = Space({edge: Choice(list(OPERATIONS)) for edge in EDGES})
    arrays = _arrays(data.path(FILE), dataset)
    unit = "validation error in percent"
    return Grid(f"nb201-{dataset}", space, **arrays, budgets=BUDGETS, unit=unit)


ENTRIES = {f"nb201-{dataset}": Entry(partial(problem, dataset), (FILE,)) for dataset in PREFIXES}
