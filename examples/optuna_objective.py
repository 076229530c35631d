"""One objective, written for Optuna: with Optuna's sampler, with ours in Optuna, and in a search of xstar.

python examples/optuna_objective.py [TRIALS]    # some seconds; needs Optuna
"""

import sys

import optuna

import xstar as xs
from xstar.integrations.optuna import Sampler


def objective(trial):
    x = trial.suggest_float("x", -5, 10)
    y = trial.suggest_float("y", 0, 15)
    return (y - 0.129 * x**2 + 1.592 * x - 6) ** 2 + 9.6 * (1 - x / 30)  # much like Branin's function


if __name__ == "__main__":
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for name, sampler in (
        ("TPE of Optuna", optuna.samplers.TPESampler(seed=0)),
        ("GP of xstar", Sampler("gp", seed=0)),
    ):
        study = optuna.create_study(sampler=sampler)
        study.optimize(objective, n_trials=trials)
        print(f"{name} in Optuna: {study.best_value:.3f}")
    ported = xs.from_optuna(objective)
    result = xs.minimize(ported, ported.space, trials=trials, seed=0)
    print(f"in xstar: {result.value:.3f} by {result.study.history.created.method}")
