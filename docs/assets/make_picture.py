"""Draw best-so-far.svg: how close random and Sobol search come to the optimum of Branin's function.

    python docs/assets/make_picture.py

Every number in the picture comes from the runs made here: 101 seeds per method, 128 trials each. It takes a few seconds.
"""

import math
from pathlib import Path

import numpy as np

import xstar as xs

SEEDS = 101
TRIALS = 128
OPTIMUM = 0.397887  # of Branin's function, at (−π, 12.275), (π, 2.275) and (9.42478, 2.475)
COLOURS = {"random": "#b4540a", "sobol": "#3d4db3"}

LEFT, RIGHT, TOP, BOTTOM = 90, 700, 70, 330
LOWEST, HIGHEST = 0.05, 100.0


def branin(trial):
    x, y = trial["x"], trial["y"]
    bowl = (y - 5.1 / (4 * math.pi**2) * x**2 + 5 / math.pi * x - 6) ** 2
    return bowl + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def quartiles(method):
    """The quartiles over seeds of the best value so far, less the optimum; shape (3, TRIALS)."""
    space = xs.Space(x=xs.Float(-5, 10), y=xs.Float(0, 15))
    runs = []
    for seed in range(SEEDS):
        result = xs.minimize(branin, space, trials=TRIALS, method=method, seed=seed)
        runs.append([trial.value for trial in result.study.history.trials])
    return np.quantile(np.minimum.accumulate(runs, axis=1) - OPTIMUM, [0.25, 0.5, 0.75], axis=0)


def across(trial):
    return LEFT + (RIGHT - LEFT) * math.log(trial) / math.log(TRIALS)


def up(value):
    share = math.log(value / LOWEST) / math.log(HIGHEST / LOWEST)
    return BOTTOM - (BOTTOM - TOP) * share


def path(values):
    return " ".join(f"{across(n):.1f},{up(value):.1f}" for n, value in enumerate(values, 1))


def draw(curves):
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 400" width="800" height="400" role="img" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif\">",
        "<title>Distance to the optimum of Branin's function over trials, random and Sobol search</title>",
        '<rect x="1" y="1" width="798" height="398" rx="14" fill="#fdfdfb" stroke="#d5d3cb"/>',
        f'<text x="{LEFT}" y="34" font-size="17" font-weight="700" fill="#1d1d1b">'
        "Branin's function: how far the best trial is from the optimum</text>",
        f'<text x="{LEFT}" y="55" font-size="13" fill="#5c5c57">'
        f"median and middle half of {SEEDS} seeds; both axes logarithmic; lower is better</text>",
    ]
    for value in (0.1, 1, 10, 100):
        y = up(value)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}" stroke="#e4e2da"/>')
        parts.append(
            f'<text x="{LEFT - 10}" y="{y + 4.5:.1f}" font-size="13" text-anchor="end" fill="#5c5c57">{value}</text>'
        )
    for trial in (2**i for i in range(8)):
        x = across(trial)
        parts.append(f'<line x1="{x:.1f}" y1="{BOTTOM}" x2="{x:.1f}" y2="{BOTTOM + 5}" stroke="#8a8a84"/>')
        parts.append(
            f'<text x="{x:.1f}" y="{BOTTOM + 21}" font-size="13" text-anchor="middle" fill="#5c5c57">{trial}</text>'
        )
    parts.append(f'<line x1="{LEFT}" y1="{BOTTOM}" x2="{RIGHT}" y2="{BOTTOM}" stroke="#8a8a84"/>')
    middle = (LEFT + RIGHT) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{BOTTOM + 46}" font-size="14" text-anchor="middle" fill="#1d1d1b">trials</text>'
    )
    for method, (low, _, high) in curves.items():
        ends = " ".join(reversed(path(low).split()))
        parts.append(f'<polygon points="{path(high)} {ends}" fill="{COLOURS[method]}" fill-opacity="0.13"/>')
    for method, (_, median, _) in curves.items():
        colour = COLOURS[method]
        parts.append(f'<polyline points="{path(median)}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
    # Names stand at the ends of their lines, at least a line's height apart.
    names = sorted(curves, key=lambda name: curves[name][1][-1], reverse=True)
    y = -math.inf
    for method in names:
        y = max(up(curves[method][1][-1]) + 5, y + 19)
        parts.append(
            f'<text x="{RIGHT + 12}" y="{y:.1f}" font-size="15" font-weight="700" fill="{COLOURS[method]}">{method}</text>'
        )
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    found = {method: quartiles(method) for method in COLOURS}
    for method, curve in found.items():
        print(method, "median distance after 16, 64, 128 trials:", *(f"{curve[1][n - 1]:.3f}" for n in (16, 64, 128)))
    Path(__file__).with_name("best-so-far.svg").write_text(draw(found), encoding="utf-8")
