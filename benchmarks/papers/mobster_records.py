"""Where MOBSTER's figures come from."""

from __future__ import annotations

from benchmarks.harness.problems import NB201
from benchmarks.harness.records import Task
from benchmarks.mobster import VARIANTS
from benchmarks.papers.sources import OnRecord

MLP = "electricity"
PLAIN = {f"{family}{variant}" for family in ("asha", "mobster") for variant in VARIANTS.values()}
LONGER = 24
"""Trainings per worker of the searches that last longer."""


def cells(task: Task) -> bool:
    return task.problem in NB201


def others(task: Task) -> bool:
    return task.problem not in (MLP, *NB201)


def mlp(task: Task) -> bool:
    return task.problem == MLP and task["trainings"] < LONGER


def longer(task: Task) -> bool:
    return task.problem == MLP and task["trainings"] == LONGER


COUNTS = {2: 3, 4: 3, 8: 3, 16: 1}
"""Workers → seeds; with four there are two more, of a later commit."""


def shares_of(count: int) -> OnRecord:
    """The runs with so many workers; MOBSTER's own and ASHA's also serve the comparison of surrogates."""
    given = (f"--workers {count}", f"--seeds {COUNTS[count]}")
    return OnRecord(
        "mobster",
        "time",
        given,
        lambda task: task["workers"] == count and task.method in PLAIN and task.seed < COUNTS[count],
    )


SHARES = {count: shares_of(count) for count in COUNTS}
SHARE = SHARES[4]
SURROGATES = OnRecord("mobster", "kernels", of=lambda task: task["workers"] == 4)
# MOBSTER itself and ASHA are on record by the part ``time``: it is the others that make a comparison of kernels.
KERNEL_SEEDS = len({record.task.seed for record in SURROGATES.results.of(method="mobster:matern")})
LARGE = OnRecord("mobster", "large", ("--seeds 1",), lambda task: task["workers"] == 64)
BASELINES, BASELINES_MLP = OnRecord("mobster", "figure5", of=others), OnRecord("mobster", "figure5-mlp", of=mlp)
HALVING, HALVING_MLP = (
    OnRecord("mobster", "figure3", ("--problems curves-mlp,curves-optimizer --seeds 5",), others),
    OnRecord("mobster", "figure3-mlp", of=mlp),
)
BASELINES_LONGER = OnRecord("mobster", "figure5-mlp", (f"--trainings {LONGER} --seeds 5",), longer)
BASELINES_CELLS = OnRecord("mobster", "figure5", (f"--problems {','.join(NB201)} --seeds 20",), cells)
HALVING_CELLS = OnRecord("mobster", "figure3", ("--problems nb201-cifar10 --seeds 20",), cells)
SCHEDULERS = OnRecord("multifidelity", "schedulers", of=lambda task: task.method != "signs")
SIGNS = OnRecord("multifidelity", "signs", of=lambda task: task.method == "signs")
FIGURE3_MLP, FIGURE3_CELLS, FIGURE5_MLP, FIGURE5_CELLS = (
    f"mobster-figure{number}-{where}.svg" for number in (3, 5) for where in ("mlp", "cells")
)
MEAN, RANK = "geometric mean", "mean rank of the final regret"
