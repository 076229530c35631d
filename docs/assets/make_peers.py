"""Draw peers.svg: the best so far over the trials, beside Optuna, SMAC3 and random search, each at its default.

    python docs/assets/make_peers.py

From the records of ``python -m benchmarks.generality --part validation`` (``benchmarks/records/generality.jsonl.gz``): every
problem and seed that all four were run on. No constant of xstar was chosen on these problems. On each, 1 is the loss of random
search's first trial and 0 the lowest that any of the four found; the lines are means, the bands one standard error each way.
"""

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.harness.cases import true_after  # noqa: E402
from benchmarks.harness.records import FOLDER, Store  # noqa: E402
from tools.svg import Series, line_chart  # noqa: E402

TRIALS = 200
NAMES = {"xstar-gp": "xstar", "optuna-tpe": "Optuna", "smac": "SMAC3", "xstar-random": "random"}
"""Methods at their libraries' defaults; below 1,000 trials that of xstar decides what ``gp`` decides."""


def searches():
    """(Problem, seed) → the incumbents of each method, where all four were run."""
    found = {}
    for task, record in Store(FOLDER / "generality.jsonl").read().items():
        if task.method in NAMES and (task["set"], task["evaluations"]) == ("validation", TRIALS):
            found.setdefault((task.problem, task.seed), {})[task.method] = record.found["incumbents"]
    return {key: each for key, each in found.items() if len(each) == len(NAMES)}


def remaining(runs):
    """What is left of the distance to the best known after 1, 2, … trials; shape (methods, TRIALS)."""
    losses = np.array([[true_after(runs[name], count) for count in range(1, TRIALS + 1)] for name in NAMES])
    finite = losses[np.isfinite(losses)]
    first = losses[-1][np.isfinite(losses[-1])][0]
    return np.clip((losses - finite.min()) / (first - finite.min()), 0.0, 1.0)


def shares():
    """What is left on each problem; shape (problems and seeds, methods, TRIALS)."""
    return np.array([remaining(runs) for runs in searches().values()])


def draw():
    left = shares()
    mean, error = left.mean(axis=0), left.std(axis=0, ddof=1) / np.sqrt(len(left))
    lines = [
        Series(
            name, range(1, TRIALS + 1), mean[place], mean[place] - error[place], mean[place] + error[place], steps=True
        )
        for place, name in enumerate(NAMES.values())
    ]
    return line_chart(
        lines,
        title=f"Best so far on {len(left)} problems that none of our constants was chosen on",
        subtitle="share of the distance from the first random trial to the best known; mean ± standard error; lower is better",
        x_label="trials",
        log_y=True,
        y_range=(0.005, 1.0),
    )


if __name__ == "__main__":
    left = shares()
    for place, name in enumerate(NAMES.values()):
        print(f"{name:8}", *(f"{left[:, place, count - 1].mean():.3f} after {count}" for count in (25, 50, 100, 200)))
    Path(__file__).with_name("peers.svg").write_text(draw(), encoding="utf-8")
