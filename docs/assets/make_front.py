"""Draw front.svg: the front that examples/error_and_size.py finds, and every network that it tried on the way.

    python docs/assets/make_front.py

It runs the example, which takes half a minute.
"""

import sys
from pathlib import Path

import xstar as xs

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[1] / "examples")]

from error_and_size import settings, space, train  # noqa: E402

from tools.svg import COLOURS, GRID, INK, Axis, Canvas, draw_x_axis, number  # noqa: E402

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BELOW = 760, 420, 66, 30, 76, 66
FRONT, COMPLETE, SHORT = COLOURS[0], COLOURS[1], "#9a9a9a"


def draw(result):
    trials = [trial for trial in result.study.trials if trial.values]
    epochs = sum(trial.budget for trial in trials)
    title = f"Error against weights: {len(trials)} networks, {epochs} epochs"
    canvas = Canvas(WIDTH, HEIGHT, title)
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    bottom = HEIGHT - BELOW
    across = Axis(100, 50_000, LEFT, WIDTH - RIGHT, log=True)
    up = Axis(0.015, 1.0, bottom, TOP, log=True)
    for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0):
        canvas.line((LEFT, up.place(tick)), (WIDTH - RIGHT, up.place(tick)), GRID)
        canvas.text(LEFT - 10, up.place(tick) + 4.5, number(tick), anchor="end")

    def place(trial):
        return across.place(trial.values["weights"]), up.place(trial.values["error"])

    front = [place(trial) for trial in result.front]  # the lowest error first
    stairs = [(WIDTH - RIGHT, front[0][1])]
    for x, y in front:
        stairs += [(x, stairs[-1][1]), (x, y)]
    canvas.polyline([*stairs, (front[-1][0], TOP)], FRONT)
    for trial in trials:
        whole = trial.state is xs.State.COMPLETE
        if trial not in result.front:
            canvas.circle(place(trial), 3.5, COMPLETE if whole else SHORT, opacity=0.9 if whole else 0.45)
    for point in front:
        canvas.circle(point, 5, FRONT)
    marks = (("the front", FRONT), (f"trained for {settings['max_budget']} epochs", COMPLETE), ("ended early", SHORT))
    for column, (words, colour) in enumerate(marks):
        canvas.circle((LEFT + 4 + 190 * column, 52), 4, colour)
        canvas.text(LEFT + 16 + 190 * column, 57, words)
    draw_x_axis(canvas, across, bottom, "weights", [100, 1_000, 10_000])
    return canvas.svg()


if __name__ == "__main__":
    found = xs.minimize(train, space, **settings)
    print(found.front)
    (HERE / "front.svg").write_text(draw(found), encoding="utf-8")
