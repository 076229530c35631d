"""A cluster in virtual time: trials of a :class:`~xstar.testing.problems.Problem` played back on a clock of our own.

A comparison that would take weeks of training takes seconds, with the real searchers, schedulers and study. Events sit in a
heap ordered by (time, order of creation); ``poll`` takes the earliest one and moves the clock there. Losses and
seconds come from the problem; nothing is trained and nothing sleeps.

Runs are exactly reproducible. By default a decision takes no virtual time; with ``count_decisions`` the processor time it took
is added to the clock, as if one program with a core of its own made all decisions while the workers train on.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xstar.core.checks import whole_number
from xstar.core.clock import processor_clock
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument
from xstar.journal.trial import Failure, Finished, Job, Outcome, Report, Verdict

if TYPE_CHECKING:  # only their shape matters here, and `import xstar` should not load every problem
    from xstar.testing.problems import Curve, Problem

METRIC = "loss"
"""Under this name a simulated trial reports."""


@dataclass(slots=True)
class _Run:
    """A job on a simulated worker."""

    job: Job
    curve: Curve
    place: int
    """Which of the problem's budgets it reports next."""
    stop: int | None
    pace: float
    """How much longer than the problem says everything takes on this worker."""
    trained: int
    """How many of these budgets its training has behind it: ``place``, or 0 after it was resumed without a checkpoint."""
    over: bool = False


class Simulator:
    """``workers`` workers on which every run takes as long as the problem says.

    ``stragglers`` is the σ of a log-normal factor on the time of each run (0: none; 0.5: one run in forty takes more than 2.7
    times as long). ``failures`` is the probability per epoch that the worker is lost. Without ``checkpoints``, a trial that is
    promoted, or whose worker was lost, trains again what it had trained.
    """

    uses_files = False

    def __init__(
        self,
        problem: Problem,
        workers: int,
        *,
        seed: int = 0,
        stragglers: float = 0.0,
        failures: float = 0.0,
        checkpoints: bool = True,
        count_decisions: bool = False,
    ) -> None:
        workers = whole_number("workers", workers, least=1)
        if not 0 <= stragglers < math.inf:
            raise InvalidArgument("stragglers", "must be 0 or more", stragglers, "0.5 is a strong effect")
        if not 0 <= failures < 1:
            raise InvalidArgument(
                "failures", "must be a probability below 1", failures, "0.001 per epoch is a bad cluster"
            )
        self.now = 0.0
        self._problem = problem
        self._budgets = problem.budgets
        self._workers = workers
        self._streams = Streams(seed)
        self._stragglers = stragglers
        self._failures = failures
        self._checkpoints = checkpoints
        self._runs: dict[tuple[int, int], _Run] = {}  # by trial and attempt
        self._heap: list[tuple[float, int, _Run, Outcome]] = []
        self._ended: deque[Outcome] = deque()
        self._count = 0
        self._count_decisions = count_decisions
        self._decided_since = processor_clock()

    def free(self) -> int:
        return self._workers - len(self._runs)

    def idle(self) -> bool:
        return not self._runs

    def submit(self, job: Job) -> None:
        self._charge_decision()
        curve = self._problem.curve(job.config, job.trial)
        pace = 1.0
        if self._stragglers:
            rng = self._streams.generator(job.trial, f"stragglers {job.attempt}")
            pace = math.exp(self._stragglers * float(rng.standard_normal()))
        place = bisect_right(self._budgets, job.start)
        run = _Run(job, curve, place, job.stop, pace, trained=place if self._checkpoints else 0)
        self._runs[job.trial, job.attempt] = run
        self._schedule(run)

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        self._charge_decision()
        run = self._runs.get((report.trial, report.attempt))
        if run is None or run.over:
            return
        run.stop = stop
        reached = self._budgets[run.place - 1]
        if verdict is Verdict.CONTINUE and run.place < len(self._budgets) and (stop is None or reached < stop):
            self._schedule(run)
        else:
            self._end(run, Finished(report.trial, report.attempt))

    def poll(self) -> list[Outcome]:
        self._charge_decision()
        found: list[Outcome] = []
        if self._ended:
            found = list(self._ended)
            self._ended.clear()
            for outcome in found:
                del self._runs[outcome.trial, outcome.attempt]
        elif self._heap:
            found = [self._happen()]
            while self._count_decisions and self._heap and self._heap[0][0] <= self.now:
                found.append(self._happen())  # what happened during a decision is heard together, as from real workers
        self._decided_since = processor_clock()
        return found

    def _happen(self) -> Outcome:
        """The earliest event; the clock moves there."""
        at, _, run, outcome = heapq.heappop(self._heap)
        self.now = max(self.now, at)
        if isinstance(outcome, Failure):
            del self._runs[outcome.trial, outcome.attempt]
        else:
            run.place += 1
            run.trained = run.place
        return outcome

    def _charge_decision(self) -> None:
        """Let the clock advance by the time that was really spent since the simulator last had the word."""
        if self._count_decisions:
            since, self._decided_since = self._decided_since, processor_clock()
            self.now += self._decided_since - since

    def close(self) -> None:
        self._runs.clear()
        self._heap.clear()
        self._ended.clear()

    def _schedule(self, run: _Run) -> None:
        """Put the run's next report, or its failure on the way there, on the heap."""
        job, seconds, place = run.job, run.curve.seconds, run.place
        if place >= len(self._budgets):  # resumed after its last report
            self._end(run, Finished(job.trial, job.attempt))
            return
        before, done = (seconds[run.trained - 1], self._budgets[run.trained - 1]) if run.trained else (0.0, 0)
        takes = (seconds[place] - before) * run.pace
        outcome: Outcome
        if self._failures:
            epochs = self._budgets[place] - done
            draw = self._streams.generator(job.trial, f"failure {job.attempt} {place}").random()
            # Lost at epoch k with probability (1 − p)^(k−1) p: invert the geometric distribution.
            lost_at = math.log1p(-draw) / math.log1p(-self._failures)
            if lost_at < epochs:
                at = self.now + takes * lost_at / epochs
                outcome = Failure(job.trial, job.attempt, "killed", "the simulated worker was lost")
                self._push(at, run, outcome)
                return
        at = self.now + takes
        metrics = {METRIC: run.curve.losses[place], **run.curve.others}
        outcome = Report(job.trial, job.attempt, self._budgets[place], metrics)
        self._push(at, run, outcome)

    def _push(self, at: float, run: _Run, outcome: Outcome) -> None:
        self._count += 1
        heapq.heappush(self._heap, (at, self._count, run, outcome))

    def _end(self, run: _Run, outcome: Finished) -> None:
        run.over = True
        self._ended.append(outcome)
