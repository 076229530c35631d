"""Hand-written digits: how small may the network be? Error against the number of weights, with early stopping.

python examples/error_and_size.py [TRIALS]      # half a minute; needs scikit-learn

The answer is a front: networks that no other one beats in both. Most are given up after one or three epochs: at each rung those
go on that no other dominates there, and a model of both objectives says what to try next.
"""

import pickle
import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import xstar as xs

images, labels = load_digits(return_X_y=True)  # 1797 images of 8×8 pixels; the data comes with scikit-learn
parts = train_test_split(images / 16, labels, test_size=0.5, random_state=0, stratify=labels)
x_train, x_valid, y_train, y_valid = parts

space = xs.Space(
    layers=xs.Int(1, 3),
    units=xs.Int(2, 128, log=True),
    lr=xs.Float(1e-4, 1e-1, log=True),
    alpha=xs.Float(1e-6, 1e-1, log=True),
)
settings = {"metric": ["error", "weights"], "trials": 100, "max_budget": 27, "seed": 1}


def train(trial):
    saved = trial.checkpoint / "model.pickle"
    if trial.resumed:
        model = pickle.loads(saved.read_bytes())
    else:
        units = (trial["units"],) * trial["layers"]
        model = MLPClassifier(units, learning_rate_init=trial["lr"], alpha=trial["alpha"], random_state=0)
    for _ in trial.epochs():
        model.partial_fit(x_train, y_train, classes=range(10))
        saved.write_bytes(pickle.dumps(model))
        weights = sum(each.size for each in (*model.coefs_, *model.intercepts_))
        yield {"error": 1 - model.score(x_valid, y_valid), "weights": weights}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        settings["trials"] = int(sys.argv[1])
    result = xs.minimize(train, space, **settings)
    for trial in result.front:
        print(f"error {trial.values['error']:.3f} with {trial.values['weights']:,.0f} weights: {trial.config}")
    knee = result.pick()
    print(f"the knee is trial {knee.number}: {knee.values['error']:.3f} with {knee.values['weights']:,.0f} weights")
    print(f"{sum(trial.budget for trial in result.study.trials)} epochs instead of {27 * settings['trials']}")
