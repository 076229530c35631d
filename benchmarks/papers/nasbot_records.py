"""Where NASBOT's tables and figures come from: the runs on record."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.nasbot import ABLATION as ABLATED
from benchmarks.nasbot import MAIN
from benchmarks.papers.sources import OnRecord
from benchmarks.workloads.architecture_search import VARIANTS

SEARCH = OnRecord("nasbot_cifar", "search", ("--processes 4",), lambda task: task.problem == "cifar10")
WINNERS = OnRecord("nasbot_cifar", "winners", (), lambda task: task.get("epochs") == 80)
WINNERS_40 = OnRecord("nasbot_cifar", "winners", ("--epochs 40 --shifts alike",), lambda task: task.get("epochs") == 40)
NETWORKS = replace(SEARCH, told=False)
"""The same runs, where only their pictures are wanted."""
UCI = OnRecord("nasbot_uci", "search", ("--processes 4",))
MLPS = OnRecord("nasbot_real", "mlp", ("--first 3",), lambda task: task.get("rows") is not None)
"""Of at most 64 units a layer."""
CELLS = OnRecord("nasbot_real", "cells", (), lambda task: task.get("evaluations") == 500)
CARRIES = OnRecord(
    "nasbot_real",
    "carries",
    ("--seeds 10",),
    lambda task: task.method in (*VARIANTS, "evolution") and task.get("evaluations") == 150,
)
SEARCHED = OnRecord(
    "nasbot",
    "search",
    ("--seeds 5 --workers 1",),
    lambda task: task.method in MAIN and (task.get("evaluations"), task.get("workers")) == (100, 1),
)
PARALLEL = OnRecord(
    "nasbot",
    "search",
    ("--seeds 5 --workers 4",),
    lambda task: task.method in MAIN and (task.get("evaluations"), task.get("workers")) == (100, 4),
)
PARTS = OnRecord(
    "nasbot",
    "ablation",
    ("--seeds 3",),
    lambda task: (
        task.method in ABLATED and (task.get("evaluations"), task.get("workers")) == (100, 1) and task.seed < 3
    ),
)
"""Of as many seeds as all parts have; ``nasbot`` itself has more."""
TIME = OnRecord("nasbot", "time", (), lambda task: "repeats" in dict(task.settings))
KERNELS = OnRecord("nasbot", "kernels", (), lambda task: "seen" in dict(task.settings))
NAMES = {"nasbot": "NASBOT", "evolution": "EA", "nasbot-random": "RAND", "treebo": "TreeBO"}
SECONDS = {"nasbot": 46.13, "nasbot-random": 26.43, "evolution": 0.19, "treebo": 7.83}
"""For the next architecture, on average (the paper's section 5)."""
FIGURE2, FIGURE4, FIGURE6 = (f"nasbot-figure{number}.svg" for number in (2, 4, 6))
PANELS = {
    "nasbot-figure7a.svg": ("distances", ("paper's kernel", "only d", "only d̄", "only described", "nasbot")),
    "nasbot-figure7b.svg": ("modifiers", ("modifiers of units", "modifiers of structure", "nasbot")),
    "nasbot-figure7c.svg": (
        "the power p̄",
        ("paper's kernel", "paper's kernel, p̄ = 2", "paper's kernel, p̄ = 2, projected"),
    ),
}
"""The parts of Figure 7 → what is compared, and the methods."""
FOUND = {
    "nasbot": "nasbot-figure8.svg",
    "evolution": "nasbot-figure9.svg",
    "nasbot-random": "nasbot-figure10.svg",
    "treebo": "nasbot-figure11.svg",
}
"""Method → the picture of the best network that it found."""
