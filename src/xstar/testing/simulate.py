"""Methods compared in simulated time: a study of a problem on a cluster that exists on paper only.

``simulate`` runs the real searcher, scheduler, study and loop; only the training is played back
(:mod:`xstar.testing.simulator`).
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

from xstar.core.goals import Metric
from xstar.errors import InvalidArgument
from xstar.journal.trial import Job, Outcome, Report, Verdict
from xstar.schedulers import Scheduler, SearcherBudget
from xstar.schedulers.rungs import OnRungs
from xstar.searchers import Searcher
from xstar.study import loop
from xstar.study.limits import Limits
from xstar.study.methods import check_end, resolve
from xstar.study.settings import Settings
from xstar.study.study import Study
from xstar.testing.problems import Problem
from xstar.testing.simulator import METRIC, Simulator

TIME_IS_OVER = "the simulated time was over"


def simulate(
    problem: Problem,
    method: str | None = None,
    *,
    searcher: Searcher | None = None,
    scheduler: Scheduler | None = None,
    workers: int = 1,
    seconds: float | None = None,
    trials: int | None = None,
    seed: int = 0,
    stragglers: float = 0.0,
    failures: float = 0.0,
    checkpoints: bool = True,
    count_decisions: bool = False,
    metric: Metric = METRIC,
) -> Study:
    """The study that ``method`` would have made of ``problem`` on ``workers`` workers.

    It ends when ``seconds`` of simulated time have passed, whatever still runs then, or when ``trials`` trials are over.
    Without ``checkpoints`` a trial that is resumed trains again from the start, which takes time and reports nothing new. The
    same arguments give the same study, unless ``count_decisions`` adds the real time that decisions take. ``metric`` may name
    further objectives that the curves of the problem have beside their loss.

    >>> from xstar.testing import problems
    >>> study = simulate(problems.get("curves-mlp", max_budget=9), "asha", workers=4, trials=30)
    >>> len(study.history.trials), study.best.budget
    (30, 9)
    """
    limits = Limits(trials=trials, seconds=seconds)
    max_budget = problem.budgets[-1] if scheduler is None else None
    chosen = resolve(method, searcher, scheduler, max_budget, problem.space)
    found, ladder = chosen.searcher, chosen.scheduler
    check_end(limits, problem.space, found)
    if scheduler is None:
        ladder = fitted(ladder, problem.budgets)
    _check(ladder, problem)
    simulator = Simulator(
        problem,
        workers,
        seed=seed,
        stragglers=stragglers,
        failures=failures,
        checkpoints=checkpoints,
        count_decisions=count_decisions,
    )
    settings = Settings(problem.space, searcher=found, scheduler=ladder, metric=metric, seed=seed)
    study = Study._of(settings, clock=lambda: simulator.now)
    loop.run(study, _Until(simulator, study, math.inf if seconds is None else seconds), limits)
    return study


def regret_over_time(study: Study, problem: Problem, times: Iterable[float]) -> list[float]:
    """At each of ``times``, the *immediate regret* of the MOBSTER paper (Section 4): the lowest loss reported by then, at any
    budget, less the problem's optimum.

    Never below 0: one noisy report may lie under the expected loss of the best configuration. ``inf`` before the first report.
    """
    history = study.history
    reports = sorted((report.at, history.goals.loss(report.metrics)) for t in history.trials for report in t.reports)
    lowest = list(accumulate((loss for _, loss in reports), min))
    places = (bisect_right(reports, time, key=lambda report: report[0]) for time in times)
    return [max(0.0, lowest[place - 1] - problem.optimum) if place else math.inf for place in places]


def rungs_at(budgets: Sequence[int], eta: int) -> tuple[int, ...]:
    """A ladder whose rungs are all budgets of a problem: each is the first at least ``eta`` times as high as the one below.

    >>> rungs_at([5, 10, 20, 40, 80, 160], 3)
    (5, 20, 80, 160)
    >>> rungs_at([12, 200], 3)
    (12, 200)
    """
    rungs = [budgets[0]]
    for budget in budgets[1:]:
        if budget >= eta * rungs[-1]:
            rungs.append(budget)
    if rungs[-1] != budgets[-1]:
        rungs.append(budgets[-1])
    return tuple(rungs)


def fitted(scheduler: Scheduler, budgets: Sequence[int]) -> Scheduler:
    """The scheduler of a method, with rungs at budgets that the problem has."""
    if not isinstance(scheduler, OnRungs | SearcherBudget) or set(scheduler.rungs) <= set(budgets):
        return scheduler
    return dataclasses.replace(scheduler, min_budget=None, rung_levels=rungs_at(budgets, scheduler.eta))


# ---------------------------------------------------------------- the parts of a simulation


class _Until:
    """A simulator that is switched off at a point in time.

    The loop would let running trials finish, as one should with real ones. Here they are given up: nothing is lost, and a
    run on a thousand workers would else be played on for a thousand trials whose reports nobody counts.
    """

    uses_files = False

    def __init__(self, simulator: Simulator, study: Study, end: float) -> None:
        self._simulator = simulator
        self._study = study
        self._end = end

    def free(self) -> int:
        return self._simulator.free()

    def idle(self) -> bool:
        return self._simulator.idle()

    def submit(self, job: Job) -> None:
        self._simulator.submit(job)

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        self._simulator.obey(report, verdict, stop)

    def poll(self) -> list[Outcome]:
        found = self._simulator.poll()
        if self._simulator.now <= self._end:
            return found
        self._simulator.close()
        self._simulator.now = self._end
        self._study.leases.release(TIME_IS_OVER)
        return []

    def close(self) -> None:
        self._simulator.close()


def _check(scheduler: Scheduler, problem: Problem) -> None:
    """Refuse rungs at which nothing is ever reported: trials would run past them uncompared."""
    budgets, top = set(problem.budgets), scheduler.max_budget
    unknown = sorted({*scheduler.rungs, *([] if top is None else [top])} - budgets)
    if unknown:
        shown = ", ".join(map(str, problem.budgets[:8])) + (", …" if len(budgets) > 8 else "")
        rule = f"must compare at budgets of {problem.name}, which are {shown}"
        eta = scheduler.eta if isinstance(scheduler, OnRungs) else 3
        remedy = f"e.g. max_budget={problem.budgets[-1]}, rung_levels={list(rungs_at(problem.budgets, eta))}"
        raise InvalidArgument("scheduler", rule, unknown, remedy)
