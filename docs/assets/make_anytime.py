"""Draw anytime.svg and anytime-weak.svg: the mean rank of six methods after every number of trials, over all validation
problems and over those of weak global structure, where a peer is ahead.

    python docs/assets/make_anytime.py

From the records of ``python -m benchmarks.generality --part validation``. Ranks are averaged over the seeds of a problem; the
bands are one standard error over problems each way.
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.generality import USUAL  # noqa: E402
from benchmarks.harness import validation  # noqa: E402
from benchmarks.harness.class_ranks import by_problem  # noqa: E402
from benchmarks.harness.records import FOLDER, Store  # noqa: E402
from tools.svg import Series, line_chart  # noqa: E402

TRIALS, WEAK = 200, "bbob weak structure"
COUNTS = (*range(5, 50, 5), *range(50, TRIALS + 1, 10))
NAMES = ("xstar", "Optuna TPE", "nevergrad", "hyperopt", "cmaes", "random")
"""Those of ``USUAL``, as drawn."""


def searches():
    """(Problem, seed) → what each method found, where all were run."""
    pairs = {}
    for task, record in Store(FOLDER / "generality.jsonl").read().items():
        if task.method in USUAL and (task["set"], task["evaluations"]) == ("validation", TRIALS):
            pairs.setdefault((task.problem, task.seed), {})[task.method] = record.found
    return {pair: found for pair, found in pairs.items() if len(found) == len(USUAL)}


def draw(pairs, title):
    ranks = np.array(
        [list(by_problem(pairs, USUAL, count).values()) for count in COUNTS]
    )  # (counts, problems, methods)
    mean, error = ranks.mean(axis=1), ranks.std(axis=1, ddof=1) / np.sqrt(ranks.shape[1])
    lines = [
        Series(name, COUNTS, mean[:, place], mean[:, place] - error[:, place], mean[:, place] + error[:, place])
        for place, name in enumerate(NAMES)
    ]
    return line_chart(
        lines,
        title=f"{title}, {ranks.shape[1]} problems",
        subtitle="mean rank among six methods ± standard error over problems; lower is better",
        x_label="trials",
        y_range=(1.0, 6.0),
    )


def pictures():
    """File → the picture."""
    pairs, kinds = searches(), validation.names()
    weak = {pair: found for pair, found in pairs.items() if kinds.get(pair[0]) == WEAK}
    return {
        "anytime.svg": draw(pairs, "All validation problems"),
        "anytime-weak.svg": draw(weak, "Weak global structure"),
    }


if __name__ == "__main__":
    for file, text in pictures().items():
        (HERE / file).write_text(text, encoding="utf-8")
