"""The most accurate model that answers within a time: one metric is minimized, another one is bounded.

python examples/constraints.py [TRIALS]         # about half a minute; needs scikit-learn
"""

import sys

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import xstar as xs

X, y = load_digits(return_X_y=True)
x_train, x_valid, y_train, y_valid = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

space = xs.Space(
    trees=xs.Int(1, 100, log=True),
    depth=xs.Int(2, 16),
    features=xs.Float(0.05, 1.0, log=True),
)

MOST_NODES = 4000
"""What the device has room for."""


def train(trial):
    model = RandomForestClassifier(
        trial["trees"], max_depth=trial["depth"], max_features=trial["features"], random_state=0
    )
    model.fit(x_train, y_train)
    nodes = sum(tree.tree_.node_count for tree in model.estimators_)
    return {"error": 1 - model.score(x_valid, y_valid), "nodes": nodes}


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    result = xs.minimize(
        train, space, metric="error", constraints={"nodes": xs.at_most(MOST_NODES)}, trials=trials, seed=1
    )
    best = result.best
    print(f"error {best.metrics['error']:.4f} with {best.metrics['nodes']:.0f} of {MOST_NODES} nodes: {best.config}")
    beyond = [trial for trial in result.study.trials if trial.state is xs.State.INFEASIBLE]
    print(f"{len(beyond)} of {trials} trials were beyond the bound")
