"""Draw peers.svg: the regret of a search for which nobody chooses anything, beside Optuna's and SMAC's.

    python docs/assets/make_peers.py

From the records of ``python -m benchmarks.quality --methods xstar-auto,optuna-tpe,smac,xstar-random --problems hartmann6
--seeds 10 --evaluations 60``, which are committed: every number in the picture is in ``benchmarks/records/quality.jsonl``.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.harness.records import FOLDER, Store, best_after  # noqa: E402
from xstar import problems  # noqa: E402
from xstar.plots.svg import Series, line_chart  # noqa: E402

PROBLEM, TRIALS = "hartmann6", 60
NAMES = {"xstar-auto": "xstar", "optuna-tpe": "Optuna", "smac": "SMAC3", "xstar-random": "random"}
"""Methods at their libraries' defaults."""


def regrets(method):
    """The best loss after 1, 2, … trials, less the optimum; shape (seeds, TRIALS)."""
    optimum = problems.get(PROBLEM).optimum
    runs = [
        record.found["best"]
        for task, record in Store(FOLDER / "quality.jsonl").read().items()
        if (task.problem, task.method, task.get("evaluations")) == (PROBLEM, method, TRIALS)
    ]
    return np.array([[best_after(run, count) - optimum for count in range(1, TRIALS + 1)] for run in runs])


def medians():
    """Name → (seeds, median regret after all trials): what the pages say."""
    return {name: (len(found), float(np.median(found[:, -1]))) for name, found in found_runs().items()}


def found_runs():
    runs = {name: regrets(method) for method, name in NAMES.items()}
    return {name: found for name, found in runs.items() if len(found)}


def draw():
    lines, seeds = [], set()
    for name, found in found_runs().items():
        low, median, high = np.quantile(found, [0.25, 0.5, 0.75], axis=0)
        lines.append(Series(name, range(1, TRIALS + 1), median, low, high, steps=True))
        seeds.add(len(found))
    (count,) = seeds  # a comparison over different seeds would be none
    return line_chart(
        lines,
        title="Hartmann's function: distance of the best trial to the optimum",
        subtitle=f"everything at its default; median and middle half of {count} seeds; lower is better",
        x_label="trials",
        log_y=True,
        y_range=(1e-7, 10.0),
    )


if __name__ == "__main__":
    for name, (count, median) in medians().items():
        print(f"{name:8} {median:.2g} after {TRIALS} trials (median of {count} seeds)")
    Path(__file__).with_name("peers.svg").write_text(draw(), encoding="utf-8")
