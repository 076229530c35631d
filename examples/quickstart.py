"""A first search: a function of two numbers and a choice, its best value, and what the search did.

python examples/quickstart.py [TRIALS]          # a few seconds
"""

import sys

import xstar as xs

space = xs.Space(
    x=xs.Float(-5, 10),
    y=xs.Float(0, 15),
    shift=xs.Choice(["none", "small", "large"]),
)


def objective(trial):
    x, y = trial["x"], trial["y"]
    valley = (y - 0.129 * x**2 + 1.59 * x - 6) ** 2 + 10
    return valley + {"none": 0.0, "small": 1.0, "large": 5.0}[trial["shift"]]


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    result = xs.minimize(objective, space, trials=trials, seed=1)  # no method: a Gaussian process
    print(f"best {result.value:.4f} (the optimum is 10) in trial {result.best.number}: {result.config}")
    print(f"why this one was tried: {result.best.origin}")
    print(f"why it ended: {result.reason}")
