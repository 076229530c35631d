"""Draw best-so-far.svg: how close random, Sobol and Gaussian-process search come to the optimum of Branin's function.

    python docs/assets/make_picture.py

Every number in the picture comes from the runs made here: 101 seeds per method (21 for the GP), 128 trials each.
"""

import math
import sys
from pathlib import Path

import numpy as np

import xstar as xs

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.svg import Series, line_chart

TRIALS = 128
OPTIMUM = 10 / (8 * math.pi)  # of Branin's function, at (−π, 12.275), (π, 2.275) and (9.42478, 2.475)
METHODS = {"random": 101, "sobol": 101, "gp": 21}  # how many seeds


def branin(trial):
    x, y = trial["x"], trial["y"]
    bowl = (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def quartiles(method):
    """The quartiles over seeds of the best value so far, less the optimum; shape (3, TRIALS)."""
    space = xs.Space(x=xs.Float(-5, 10), y=xs.Float(0, 15))
    runs = []
    for seed in range(METHODS[method]):
        result = xs.minimize(branin, space, trials=TRIALS, method=method, seed=seed)
        runs.append([trial.value for trial in result.study.history.trials])
    return np.quantile(np.minimum.accumulate(runs, axis=1) - OPTIMUM, [0.25, 0.5, 0.75], axis=0)


def draw(curves):
    trials = range(1, TRIALS + 1)
    return line_chart(
        [Series(method, trials, median, low, high) for method, (low, median, high) in curves.items()],
        title="Branin's function: how far the best trial is from the optimum",
        subtitle="median and middle half of 101 seeds (gp: 21); both axes logarithmic; lower is better",
        x_label="trials",
        log_x=True,
        log_y=True,
        x_ticks=[2**i for i in range(8)],
        y_range=(1e-6, 100.0),
    )


if __name__ == "__main__":
    found = {method: quartiles(method) for method in METHODS}
    for method, curve in found.items():
        print(method, "median distance after 16, 64, 128 trials:", *(f"{curve[1][n - 1]:.3g}" for n in (16, 64, 128)))
    Path(__file__).with_name("best-so-far.svg").write_text(draw(found), encoding="utf-8")
