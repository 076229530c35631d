"""What cannot be beaten by far: hundreds of random configurations, all of them trained at once and to the end.

A search with a few workers that reached a loss as soon would have to start with one of the best of so many. Where even this
takes long, as where a loss is only low at the end of a training, no method of search can be quick.
"""

from __future__ import annotations

import time

from benchmarks.harness.problems import full_training
from benchmarks.harness.records import Found, Task, improvements, significant
from benchmarks.harness.simulated import TIMES
from xstar import problems
from xstar.core.randomness import Streams

AT_ONCE = "random-500-at-once"
CONFIGURATIONS = 500


def run_at_once(task: Task) -> Found:
    """One run; ``seconds`` is that of the searches beside it, however many workers they have."""
    problem, begun = problems.get(task.problem), time.process_time()
    seconds, rng = full_training(task.problem) * task["trainings"], Streams(task.seed).generator(0, AT_ONCE)
    curves = [problem.curve(problem.space.sample(rng), number) for number in range(CONFIGURATIONS)]
    reports = sorted(pair for curve in curves for pair in zip(curve.seconds, curve.losses, strict=True))
    steps = improvements(loss for _, loss in reports)
    return {
        "best": [
            (significant(reports[place - 1][0], TIMES), loss)
            for place, loss in steps
            if reports[place - 1][0] <= seconds
        ],
        "seconds": seconds,
        "trials": CONFIGURATIONS,
        "complete": CONFIGURATIONS,
        "first": min(curve.seconds[-1] for curve in curves),
        "processor": significant(time.process_time() - begun),
    }
