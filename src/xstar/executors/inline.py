"""One trial at a time, in this very process: nothing to pickle, breakpoints work. The default for one worker."""

from __future__ import annotations

import os
import time
from collections.abc import Generator

from xstar.executors.contract import TICK
from xstar.executors.objective import Objective, RunningTrial, check_objective, describe, drive, leave_if_forked
from xstar.executors.orphans import end_orphan
from xstar.trial import Failure, Finished, Job, Outcome, Report, Verdict


class InlineExecutor:
    """Runs the objective between two calls of ``poll``, up to its next report."""

    def __init__(self, objective: Objective, metric: str) -> None:
        check_objective(objective)
        self._objective = objective
        self._metric = metric
        self._job: Job | None = None
        self._owner = os.getpid()
        self._trial: RunningTrial | None = None
        self._error: BaseException | None = None
        self._run: Generator[tuple[int, dict[str, float]], None, None] | None = None

    @property
    def uses_files(self) -> bool:
        return True

    def free(self) -> int:
        return 0 if self._job is not None else 1

    def idle(self) -> bool:
        return self._job is None

    def submit(self, job: Job) -> None:
        assert self._job is None, "submit only while free() > 0"
        if job.attempt:
            end_orphan(job.directory)
        self._job, self._owner = job, os.getpid()
        self._trial = RunningTrial(job)
        self._run = drive(self._objective, self._trial, job, self._metric)

    def poll(self) -> list[Outcome]:
        job, run = self._job, self._run
        if job is None:
            time.sleep(TICK)
            return []
        if run is None:  # ended by a verdict
            self._job, error = None, self._error
            if error is not None:
                return [Failure(job.trial, job.attempt, *describe(error))]
            return [Finished(job.trial, job.attempt)]
        try:
            budget, metrics = next(run)
        except StopIteration:
            leave_if_forked(self._owner)
            self._job = None
            return [Finished(job.trial, job.attempt)]
        except (Exception, SystemExit) as error:  # sys.exit() in an objective ends the trial, not the search
            leave_if_forked(self._owner, error)
            self._job = None
            return [Failure(job.trial, job.attempt, *describe(error))]
        except BaseException:
            leave_if_forked(self._owner)
            raise
        leave_if_forked(self._owner)
        return [Report(job.trial, job.attempt, budget, metrics)]

    def obey(self, report: Report, verdict: Verdict, stop: int | None) -> None:
        if self._trial is None:
            return
        if verdict is Verdict.CONTINUE:
            self._trial.stop = stop
        else:
            self._end_run()

    def close(self) -> None:
        self._end_run()
        self._job = None

    def _end_run(self) -> None:
        if self._run is not None:
            run, self._run, self._error = self._run, None, None
            try:
                run.close()
            except (
                Exception,
                SystemExit,
            ) as error:  # in the objective's own cleanup: the trial's affair, not the search's
                self._error = error
