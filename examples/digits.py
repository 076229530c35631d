"""Hand-written digits: a small network trained epoch by epoch, saved after each one.

xstar run examples/digits.py --workers 2        # live table, closing summary; run it again and it resumes
python examples/digits.py [TRIALS]              # the same search from Python, about a minute
"""

import os
import pickle
import sys

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import xstar as xs

images, labels = load_digits(return_X_y=True)  # 1797 images of 8×8 pixels; the data comes with scikit-learn
x_train, x_valid, y_train, y_valid = train_test_split(
    images / 16, labels, test_size=0.3, random_state=0, stratify=labels
)

space = xs.Space(
    lr=xs.Float(1e-4, 1e-1, log=True),
    batch=xs.Int(8, 256, log=True),
    units=xs.Int(8, 128, log=True),
    activation=xs.Choice(["relu", "tanh"]),
    alpha=xs.Float(1e-6, 1e-1, log=True),
    solver=xs.Choice(["sgd", "adam"]),
    momentum=xs.Float(0.0, 0.99, when={"solver": "sgd"}),  # adam has no momentum, so it is not asked for one
)

# Most of the 120 configurations are given up after 1, 3 or 9 epochs; the best few are trained for all 40. After the first few,
# a model of the error over configurations and epochs says what to try next.
settings = {"metric": "error", "trials": 120, "max_budget": 40, "method": "mobster", "seed": 1}


def objective(trial):
    saved = trial.checkpoint / "model.pickle"
    if trial.resumed:
        model, done = pickle.loads(saved.read_bytes())
    else:
        done = 0
        model = MLPClassifier(
            hidden_layer_sizes=(trial["units"],),
            learning_rate_init=trial["lr"],
            batch_size=trial["batch"],
            activation=trial["activation"],
            alpha=trial["alpha"],
            solver=trial["solver"],
            momentum=trial.config.get("momentum", 0.0),
            random_state=0,
        )
    for epoch in trial.epochs():
        if epoch > done:  # saved before it is reported: after a crash the checkpoint may be an epoch ahead
            model.partial_fit(x_train, y_train, classes=range(10))
            # Written aside and moved into place: a run that is killed here leaves the last checkpoint whole.
            (trial.checkpoint / "model.new").write_bytes(pickle.dumps((model, epoch)))
            os.replace(trial.checkpoint / "model.new", saved)
        accuracy = model.score(x_valid, y_valid)
        yield {"error": 1 - accuracy, "accuracy": accuracy}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        settings["trials"] = int(sys.argv[1])
    result = xs.minimize(objective, space, workers=2, study="digits", **settings)
    print(f"error {result.best.value:.4f} with {result.best.config}")
