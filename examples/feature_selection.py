"""Many switches: which of 60 features does a linear model need? Natural-gradient search of bits, hundreds of cheap trials.

python examples/feature_selection.py [TRIALS]   # about ten seconds; needs scikit-learn
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score

import xstar as xs

X, y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
REAL = X.shape[1]  # 30
rng = np.random.default_rng(0)
X = np.hstack([X, rng.permuted(X, axis=0)])  # and 30 that say nothing: each column shuffled

space = xs.Space(use=xs.Bits(2 * REAL))


def error(trial):
    chosen = np.array(trial["use"], dtype=bool)
    if not chosen.any():
        raise xs.Infeasible("no feature is used")
    model = RidgeClassifier(alpha=1.0)
    wrong = 1 - cross_val_score(model, X[:, chosen], y, cv=3).mean()
    return wrong + 0.0005 * chosen.sum()  # a small price for each feature


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    result = xs.minimize(error, space, trials=trials, seed=1)  # 60 switches and nothing else: pbil is chosen
    use = np.array(result.config["use"], dtype=bool)
    print(f"method {result.study.history.created.method}, loss {result.value:.4f}")
    print(f"kept {use[:REAL].sum()} of {REAL} real features and {use[REAL:].sum()} of {REAL} shuffled ones")
