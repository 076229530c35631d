"""Draw posterior.svg: what a model over (x, r) believes of the loss at each rung, over a single hyperparameter.

    python docs/assets/make_posterior.py

The observations are those of a MOBSTER study made here: one learning rate, rungs at 1, 3 and 9 epochs, and learning curves of
a formula. A high rate learns fast and ends badly, so the best rate after one epoch is not the best after nine. Two surrogates
are fitted to the same observations, as the searcher fits them. It takes a second.
"""

import sys
from pathlib import Path

import numpy as np

import xstar as xs
from xstar.models.gp import Posterior, fit
from xstar.models.gp_prior import Inputs, over_budgets
from xstar.models.targets import Targets
from xstar.schedulers import ASHA
from xstar.searchers import GP
from xstar.searchers.bo.observations import Observations

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.svg import COLOURS, GRID, INK, Axis, Canvas, draw_x_axis, number

HERE = Path(__file__).parent
SPACE = xs.Space(lr=xs.Float(1e-4, 1.0, log=True))
SEARCHER = GP()
TRIALS, SEED, EPOCHS, NOISE = 18, 1, 9, 0.01
ROWS = {
    "matern": "Matérn over (x, r), r warped",
    "decay": "exponential decay, δ learned",
}

PANEL, GAP, ROW, BETWEEN = 250, 26, 190, 62
LEFT, TOP, BELOW = 66, 116, 104
HEIGHT = TOP + len(ROWS) * ROW + (len(ROWS) - 1) * BETWEEN + BELOW
BELIEF, SEEN, TRUTH = COLOURS[1], COLOURS[0], INK


def curve(lr, epoch):
    """The loss after so many epochs, without noise; ``lr`` may be an array."""
    place = 1 + np.log10(lr) / 4  # 0 at the lowest rate, 1 at the highest
    end = 0.12 + 1.4 * np.maximum(place - 0.45, 0) ** 2 + 0.5 * np.maximum(0.45 - place, 0) ** 2
    return end + (0.9 - end) * np.exp(-epoch * (0.1 + 1.1 * place**2))


def train(trial):
    noise = np.random.default_rng(trial.number).normal(0.0, NOISE, EPOCHS)
    for epoch in trial.epochs():
        (trial.checkpoint / "epoch").write_text(str(epoch))  # nothing to save: each epoch is a formula
        yield float(curve(trial["lr"], epoch) + noise[epoch - 1])


class Belief:
    """A surrogate fitted to all observations of a study."""

    def __init__(self, data, name):
        inputs = Inputs(data.cube.groups, data.cube.labels)
        surrogate = over_budgets(inputs, name)
        self.targets = Targets.of(data.loss, transform=SEARCHER.transform)
        X, y = np.column_stack([data.X, data.budget / EPOCHS]), self.targets(data.loss)
        self.posterior = Posterior.of(surrogate, fit(surrogate, X, y), X, y)

    def losses(self, lr, budget):
        """Two standard deviations below the posterior mean, the mean, and two above."""
        at = self.posterior.predict(np.column_stack([1 + np.log10(lr) / 4, np.full(len(lr), budget / EPOCHS)]))
        mean, std = at.mean[:, 0], np.sqrt(at.variance)
        losses = np.linspace(-1.0, 3.0, 4001)  # the map to targets grows with the loss: a table turns it round
        return [np.interp(mean + k * std, self.targets(losses), losses) for k in (-2, 0, 2)]

    def trust(self):
        """The correlation of f(x, 1) and f(x, 9), and where the loss after nine epochs is lowest."""
        ends = np.array([[0.5, 1 / EPOCHS], [0.5, 1.0]])
        K = self.posterior.surrogate.covariance(self.posterior.theta, ends).K
        rates = np.logspace(-4, 0, 2001)
        return K[0, 1] / np.sqrt(K[0, 0] * K[1, 1]), rates[self.losses(rates, EPOCHS)[1].argmin()]


def dashed(canvas, points):
    """Every second piece of a line."""
    for start, end in zip(points[::2], points[1::2], strict=False):
        canvas.line(start, end, TRUTH, width=1.3)


def key(canvas, y):
    """What the marks mean."""
    x = LEFT
    canvas.circle((x + 4, y - 5), 4, SEEN)
    canvas.text(x + 18, y, "observed")
    x += 120
    canvas.area([(x, y - 12), (x + 26, y - 12), (x + 26, y + 2), (x, y + 2)], BELIEF)
    canvas.line((x, y - 5), (x + 26, y - 5), BELIEF, width=2.5)
    canvas.text(x + 36, y, "posterior mean ± 2 standard deviations")
    x += 330
    dashed(canvas, [(x + 3 * step, y - 5) for step in range(10)])
    canvas.text(x + 36, y, "the truth, without noise")


def draw_panel(canvas, data, belief, budget, left, top):
    across, up = Axis(1e-4, 1.0, left, left + PANEL, log=True), Axis(0.0, 1.0, top + ROW, top)
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        y = up.place(tick)
        canvas.line((left, y), (left + PANEL, y), GRID)
        if left == LEFT:
            canvas.text(left - 10, y + 4.5, number(tick), anchor="end")
    lr = np.logspace(-4, 0, 81)
    low, mean, high = (
        [(across.place(x), up.place(y)) for x, y in zip(lr, losses, strict=True)]
        for losses in belief.losses(lr, budget)
    )
    canvas.area([*high, *reversed(low)], BELIEF)
    dashed(canvas, [(across.place(x), up.place(y)) for x, y in zip(lr, curve(lr, budget), strict=True)])
    canvas.polyline(mean, BELIEF)
    seen = data.budget == budget
    for row, loss in zip(data.X[seen][:, 0], data.loss[seen], strict=True):
        canvas.circle((across.place(10 ** (4 * row - 4)), up.place(loss)), 3.5, SEEN)
    return across


def draw(history):
    data = Observations.of(history)
    title = f"One model for all budgets, after {TRIALS} trials"
    canvas = Canvas(LEFT + 3 * PANEL + 2 * GAP + 30, HEIGHT, f"{title}: {' and '.join(ROWS.values())}")
    canvas.text(LEFT, 34, title, size=17, colour=INK, bold=True)
    canvas.text(LEFT, 55, "loss over the learning rate at three budgets; both rows have the same observations")
    for line, (name, words) in enumerate(ROWS.items()):
        belief = Belief(data, name)
        print(name, dict(zip(belief.posterior.surrogate.names, belief.posterior.theta.round(2).tolist(), strict=True)))
        top = TOP + line * (ROW + BETWEEN)
        canvas.text(LEFT, top - 14, words, size=14, colour=BELIEF, bold=True)
        for place, budget in enumerate(history.levels):
            left = LEFT + place * (PANEL + GAP)
            across = draw_panel(canvas, data, belief, budget, left, top)
            epochs = "1 epoch" if budget == 1 else f"{budget} epochs"
            canvas.text(left + PANEL - 8, top + 18, epochs, size=14, colour=INK, bold=True, anchor="end")
            canvas.text(left + PANEL - 8, top + 36, f"{(data.budget == budget).sum()} observations", anchor="end")
            last = line == len(ROWS) - 1
            draw_x_axis(canvas, across, top + ROW, "learning rate" if last else "", [1e-3, 1e-2, 1e-1])
    key(canvas, HEIGHT - 22)
    return canvas.svg()


if __name__ == "__main__":
    study = xs.minimize(train, SPACE, searcher=SEARCHER, scheduler=ASHA(EPOCHS), trials=TRIALS, seed=SEED).study
    rates = np.logspace(-4, 0, 2001)
    print(
        *(f"best rate after {epoch} epochs: {rates[curve(rates, epoch).argmin()]:.3g}" for epoch in (1, EPOCHS)),
        sep="\n",
    )
    for name in ROWS:
        correlation, lowest = Belief(Observations.of(study.history), name).trust()
        print(f"{name}: correlation of 1 and {EPOCHS} epochs {correlation:.2f}, minimum seen at {lowest:.3g}")
    (HERE / "posterior.svg").write_text(draw(study.history), encoding="utf-8")
