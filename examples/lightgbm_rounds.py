"""MOBSTER over settings and boosting rounds of LightGBM: bad trials end early, paused ones go on from their booster.

python examples/lightgbm_rounds.py [TRIALS]    # some seconds; needs LightGBM and scikit-learn
"""

import sys

import lightgbm
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import xstar as xs
from xstar.integrations.lightgbm import Report

X, y = load_breast_cancer(return_X_y=True)
X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.4, random_state=0)
ROUNDS, EVERY = 90, 10

space = xs.Space(
    learning_rate=xs.Float(1e-3, 1.0, log=True),
    num_leaves=xs.Int(2, 63, log=True),
    min_data_in_leaf=xs.Int(1, 60, log=True),
    feature_fraction=xs.Float(0.2, 1.0),
)


def train(trial):
    report = Report(trial, every=EVERY)
    lightgbm.train(
        {**trial.config, "objective": "binary", "verbosity": -1, "num_threads": 1, "seed": 0},
        lightgbm.Dataset(X_train, y_train),
        num_boost_round=report.rounds,
        init_model=report.model,
        valid_sets=[lightgbm.Dataset(X_valid, y_valid)],
        callbacks=[report],
    )


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    result = xs.minimize(
        train, space, metric="valid_0-binary_logloss", max_budget=ROUNDS // EVERY, trials=trials, seed=0
    )
    rounds = EVERY * sum(trial.budget for trial in result.study.trials)
    print(f"log loss {result.value:.4f} with {result.config}")
    print(f"{rounds} rounds instead of {ROUNDS * trials}")
