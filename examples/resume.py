"""A study that goes on: stored under a name, interrupted, resumed, checked, and used to warm up another one.

python examples/resume.py [TRIALS]              # a few seconds; makes resume.db in the current folder
"""

import sys

import xstar as xs
from xstar.look.audit import audit

space = xs.Space(x=xs.Float(-5, 5), y=xs.Float(-5, 5))


def objective(trial):
    return (trial["x"] - 1) ** 2 + (trial["y"] + 2) ** 2


def shifted(trial):
    return (trial["x"] - 1.2) ** 2 + (trial["y"] + 2.1) ** 2


def main(trials):
    where = {"study": "first", "storage": "resume.db"}
    half = xs.minimize(objective, space, trials=trials // 2, seed=1, **where)
    print(f"after {len(half.study.trials)} trials: {half.value:.4f}; the program could end here, or be killed")
    half.study.close()

    result = xs.minimize(objective, space, trials=trials, **where)  # the total; method and seed are as stored
    print(f"after {len(result.study.trials)} trials: {result.value:.4f}")
    found = audit(result.study)
    print(f"{found.decisions} decisions made again, {len(found.findings)} came out differently")

    study = xs.Study(space, seed=2)  # a similar task: what was learned here helps there
    best = sorted(result.study.trials, key=lambda trial: trial.value)[:3]
    for trial in best:
        study.enqueue(trial.config)
    for _ in range(len(best) + trials // 4):
        trial = study.ask()
        study.tell(trial, shifted(trial))
    print(f"the similar task: {study.best.value:.4f} after {len(study.trials)} trials")
    result.study.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
