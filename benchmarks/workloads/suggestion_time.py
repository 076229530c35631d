"""The time of a suggestion after many observations, amortised over the schedule of trainings, and the memory it takes."""

from __future__ import annotations

import resource
import statistics

import numpy as np

from benchmarks import tables as problems
from benchmarks.harness.methods import METHODS, Informed, decide, made
from benchmarks.harness.records import Found, significant
from xstar.searchers.auto import SWITCH
from xstar.searchers.dngo.fit import Sizes, last_training

PROBLEM = "hartmann6"


def suggestion_time(method: str, n: int, seed: int = 0) -> Found:
    """Seconds of a suggestion after ``n`` observations, and the most memory of this process."""
    problem, rng = problems.get(PROBLEM), np.random.default_rng(seed)
    dngo = method == "xstar-dngo" or (method == "xstar-auto" and n >= SWITCH)
    count = last_training(n, Sizes()) if dngo else n
    with made(method, problem.space, seed, 10**6) as optimiser:
        assert isinstance(optimiser, Informed)
        for known in range(1, count):
            config = problem.space.sample(rng)
            optimiser.know(config, problem.loss(config))
            if known == 12:
                optimiser.tell(optimiser.ask(), 0.0)  # imports, and whatever else happens once
        times = [decide(optimiser, problem).processor for _ in range(asked(dngo, METHODS[method].ours, n, count))]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if not dngo:
        return significant({"seconds": statistics.mean(times), "megabytes": memory})
    until = next(later for later in range(count + 1, 2 * count + 2) if last_training(later, Sizes()) == later) - count
    usual = statistics.mean(times[1:])
    training = max(0.0, times[0] - usual)
    found = {"seconds": usual + training / until, "usual": usual, "training": training, "megabytes": memory}
    return significant(found)


def asked(dngo: bool, ours: bool, n: int, count: int) -> int:
    """How many suggestions are timed."""
    if dngo:
        return 1 + min(30, count // 5)
    if ours:
        return min(count // 10, 9) + 1 if n >= 1000 else count // 10 + 1
    return 10 if n <= 1000 else 3
