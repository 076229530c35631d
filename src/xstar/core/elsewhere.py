"""Options by the names that they have elsewhere: in other libraries, or in another part of xstar."""

from __future__ import annotations

ELSEWHERE = {
    "direction": "xs.minimize looks for the lowest value, xs.maximize for the highest",
    "min_budget": "it is the scheduler's, e.g. scheduler=xs.schedulers.ASHA(81, min_budget=3)",
    "eta": "it is the scheduler's, e.g. scheduler=xs.schedulers.ASHA(81, eta=4)",
    "n_jobs": "did you mean 'workers'?",
    "num_samples": "did you mean 'trials'?",
    "max_evals": "did you mean 'trials'?",
    "max_t": "did you mean 'max_budget'?",
    "max_epochs": "did you mean 'max_budget'?",
    "epochs": "did you mean 'max_budget'?",
    "name": "did you mean 'study'?",
    "study_name": "did you mean 'study'?",
    "load_if_exists": "leave it out: a study that exists is resumed",
    "sampler": "did you mean 'searcher'?",
    "pruner": "did you mean 'scheduler'?",
    "random_state": "did you mean 'seed'?",
    "n_startup_trials": "it is the searcher's, e.g. searcher=xs.searchers.GP(initial=10)",
}
"""What other libraries, or our own parts, call an option: the remedy where a like spelling would lead astray."""
