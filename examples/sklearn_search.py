"""The script of a RandomizedSearchCV with SearchCV in its place: a pipeline, early stopping by samples, and a stored study.

python examples/sklearn_search.py [CANDIDATES]    # about ten seconds; needs scikit-learn
"""

import sys

from scipy.stats import loguniform
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from xstar.integrations.sklearn import SearchCV

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:1000], y[:1000], random_state=0)

if __name__ == "__main__":
    candidates = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    search = SearchCV(
        make_pipeline(StandardScaler(), SVC()),
        {"svc__C": loguniform(1e-2, 1e3), "svc__gamma": loguniform(1e-5, 1e-1)},
        n_iter=candidates,
        cv=3,
        resource="n_samples",
        random_state=0,
        study="svc",  # run the example again: nothing is left to do but the refit
    ).fit(X_train, y_train)
    print(
        f"cross-validated {search.best_score_:.3f}, test {search.score(X_test, y_test):.3f} with {search.best_params_}"
    )
    print("samples per candidate:", sorted(search.cv_results_["n_resources"].tolist()))
