"""Which scikit-learn model, and with which settings? A conditional space: each model has parameters of its own.

python examples/sklearn_pipeline.py [TRIALS]    # about half a minute; needs scikit-learn
"""

import sys

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import xstar as xs

X, y = load_breast_cancer(return_X_y=True)

space = xs.Space(
    model=xs.Choice(["forest", "svc", "linear"]),
    C=xs.Float(1e-3, 1e3, log=True, when={"model": ["svc", "linear"]}),
    gamma=xs.Float(1e-5, 1.0, log=True, when={"model": "svc"}),
    trees=xs.Int(10, 60, log=True, when={"model": "forest"}),
    depth=xs.Int(2, 12, when={"model": "forest"}),
)


def make(config):
    if config["model"] == "forest":
        return RandomForestClassifier(config["trees"], max_depth=config["depth"], random_state=0)
    if config["model"] == "svc":
        return make_pipeline(StandardScaler(), SVC(C=config["C"], gamma=config["gamma"]))
    return make_pipeline(StandardScaler(), LogisticRegression(C=config["C"], max_iter=2000))


def accuracy(trial):
    return cross_val_score(make(trial.config), X, y, cv=3).mean()


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    result = xs.maximize(accuracy, space, trials=trials, seed=1)
    print(f"accuracy {result.value:.4f} with {result.config}")
    tried = [trial["model"] for trial in result.study.trials]
    print("tried:", {model: tried.count(model) for model in ("forest", "svc", "linear")})
    make(result.config).fit(X, y)  # the model to keep
