"""Problems with several losses from tables and from a surrogate of training runs; ``XSTAR_DATA`` leads to their data.

=========  =============================================================================================================
family     losses
=========  =============================================================================================================
NB201      NAS-Bench-201: validation error after 200 epochs, and the latency of the cell on a device
FCNet      the logarithm of the validation error, which ranges over decades, and the time of training or the size
XGBoost    YAHPO Gym's ``rbv2_xgboost``: 1 - AUC, the time of a prediction, memory; with conditions. Tasks of odd number alone
=========  =============================================================================================================

Tasks of XGBoost are among those where the surrogate gives hardly a configuration no memory at all, or an AUC of 1. The best
front of a table is found by looking. That of XGBoost is the best of ``SEARCHED`` configurations, more than a
hundred times those of a comparison.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.trade_offs import Case
from benchmarks.tables import data
from benchmarks.tables.hpolib import FCNET_FILES, FCNET_SPACE
from benchmarks.tables.nasbench201 import FILE, OPERATIONS
from xstar.core.pareto import Array, non_dominated
from xstar.searchers.mutation import mutated


@lru_cache(maxsize=1)
def cells() -> tuple[Array, Array]:
    """The operations of all cells, and their errors after 200 epochs on three data sets, in the order of the table."""
    edges, names = [f"op{i}" for i in range(6)], [f"{prefix}_val_ep200" for prefix in ("c10", "c100", "in16")]
    with gzip.open(data.path(FILE), "rt", encoding="utf-8", newline="") as file:
        rows = [([row[e] for e in edges], [row[n] for n in names]) for row in csv.DictReader(file)]
    ops, accuracy = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return ops, 100.0 - accuracy


def nb201(dataset: int, device: str) -> Case:
    ops, errors = cells()
    latency = np.load(data.path("nasbench201/nb201_latency.npz"))[device].astype(np.float64)
    points = np.column_stack([errors[:, dataset], latency])
    index = {tuple(row): i for i, row in enumerate(ops.astype(int).tolist())}
    space = xs.Space(**{f"op{i}": xs.Choice(list(OPERATIONS)) for i in range(6)})
    number = {name: i for i, name in enumerate(OPERATIONS)}

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        return tuple(points[index[tuple(number[config[f"op{i}"]] for i in range(6))]].tolist())

    return Case(space, losses, points[non_dominated(points)])


def fcnet(dataset: str, against: str) -> Case:
    """Means over the four runs of a configuration; ``against`` is time or size."""
    with np.load(data.path(FCNET_FILES[dataset]), allow_pickle=False) as table:
        error = np.log10(table["val_loss"].mean(axis=1))
        other = table["train_time"].mean(axis=1) if against == "time" else table["model_size"]
    points = np.column_stack([error, other.astype(np.float64)])
    options = [parameter.options for parameter in FCNET_SPACE.parameters.values()]  # type: ignore[union-attr]
    shape = tuple(map(len, options))

    def losses(config: Mapping[str, Any]) -> tuple[float, ...]:
        place = [own.index(config[name]) for name, own in zip(FCNET_SPACE, options, strict=True)]
        return tuple(points[np.ravel_multi_index(place, shape)].tolist())

    return Case(FCNET_SPACE, losses, points[non_dominated(points)])


# ---------------------------------------------------------------- XGBoost

TREES = {"booster": ["gbtree", "dart"]}
DROPS = {"booster": "dart"}
XGBOOST = xs.Space(
    {
        "booster": xs.Choice(["gblinear", "gbtree", "dart"]),
        "impute": xs.Choice(["mean", "median", "hist"]),
        "nrounds": xs.Int(7, 2981, log=True),
        "eta": xs.Float(9.119e-4, 1.0, log=True, when=TREES),
        "gamma": xs.Float(4.54e-5, 7.389, log=True, when=TREES),
        "l2": xs.Float(9.119e-4, 1096.0, log=True),
        "l1": xs.Float(9.119e-4, 1096.0, log=True),
        "subsample": xs.Float(0.1, 1.0),
        "max_depth": xs.Int(1, 15, when=TREES),
        "min_child_weight": xs.Float(2.719, 148.4, log=True, when=TREES),
        "colsample_bytree": xs.Float(0.01, 1.0, when=TREES),
        "colsample_bylevel": xs.Float(0.01, 1.0, when=TREES),
        "rate_drop": xs.Float(0.0, 1.0, when=DROPS),
        "skip_drop": xs.Float(0.0, 1.0, when=DROPS),
    }
)
"""The numbers in the order in which the model takes them; the share of the training set and the replication follow."""
NUMBERS = [name for name in XGBOOST if name not in ("booster", "impute")]
REPLICATION = 10
AUC, TRAINING, PREDICTION, MEMORY = 2, 6, 7, 8
SURROGATE = ("rbv2_xgboost/model.onnx", "rbv2_xgboost/encoding.json")
SEARCHED = 24_000
BATCH = 1_000
WORST = 0.9
"""The reference point is this quantile of what is drawn at random: one in ten configurations is of no interest in a loss."""


Answers = Callable[[Sequence[Mapping[str, Any]], Sequence[float]], Array]


def xgboost_answers(task: int) -> Answers:
    """What the surrogate says of configurations, each trained on these shares of the training set: (n, shares, 9)."""
    if task % 2 == 0:
        raise ValueError(f"the number of a task must be odd, but is {task}: the others are kept aside")
    run, codes = data.surrogate(*map(data.path, SURROGATE))
    imputing = codes["num.impute.selected.cpo"]

    def answers(configs: Sequence[Mapping[str, Any]], shares: Sequence[float]) -> Array:
        categories = [(task, codes["booster"][c["booster"]], imputing[f"impute.{c['impute']}"]) for c in configs]
        # What takes no part is 0: the model knows it so.
        own = [tuple(c.get(name, 0.0) for name in NUMBERS) for c in configs]
        numbers = [(*values, share, REPLICATION) for values in own for share in shares]
        given = {
            "x_cat": np.repeat(np.array(categories, np.int32), len(shares), axis=0),
            "x_cont": np.array(numbers, np.float32),
        }
        answer: Array = run(None, given)[0].astype(np.float64)
        return answer.reshape(len(configs), len(shares), -1)

    return answers


def xgboost(task: int) -> Case:
    answers = xgboost_answers(task)

    def table(configs: Sequence[Mapping[str, Any]]) -> Array:
        answer = answers(configs, (1.0,))[:, 0]
        return np.column_stack([1.0 - answer[:, AUC], answer[:, [PREDICTION, MEMORY]]])

    front, worst = best_known(table)
    return Case(XGBOOST, lambda config: tuple(table([config])[0].tolist()), front, bound=worst)


def best_known(table: Any) -> tuple[Array, Array]:
    """The front of many configurations, half of them random and half changed from the front so far; and the reference point."""
    rng = np.random.default_rng(0)
    drawn = [XGBOOST.sample(rng) for _ in range(SEARCHED // 2)]
    losses = table(drawn)
    worst = np.quantile(losses, WORST, axis=0)
    for _ in range(SEARCHED // 2 // BATCH):
        best = np.flatnonzero(non_dominated(losses))
        drawn, losses = [drawn[i] for i in best], losses[best]
        new = [mutated(XGBOOST, drawn[int(rng.integers(len(drawn)))], rng, {}) for _ in range(BATCH)]
        drawn, losses = drawn + new, np.concatenate([losses, table(new)])
    kept = losses[(losses < worst).all(axis=1)]
    return kept[non_dominated(kept)], worst
