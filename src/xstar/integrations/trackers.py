"""Experiment trackers as watchers of a study: ``xs.minimize(…, watch=TensorBoard("runs"))``.

A tracker reads the history and writes what it has not written yet. So it may be attached late, or again after a crash, and
writes what it missed; a tracker that fails is named once in the log and dropped, and the search goes on without it.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np

from xstar.core.pareto import hypervolume
from xstar.errors import InvalidArgument
from xstar.integrations import missing
from xstar.journal import History
from xstar.journal.trial import Reading, State, Trial, losses_of
from xstar.study import Study

log = logging.getLogger("xstar")


class Tracker(ABC):
    """Calls ``begin``, ``report`` and ``end`` once for each trial and report that is new since the last look."""

    def __init__(self) -> None:
        self.broken: str | None = None
        """Why nothing is written any more; ``None``: all is well."""
        self._reported: dict[int, int] = {}
        """Trial → how many of its reports were written; ``begin`` may set it to what an earlier tracker left."""
        self._ended: set[int] = set()
        self._places = (0, 0, 0)
        """How far the trials, observations and ends of the history were looked at: a look costs what is new."""

    def __call__(self, study: Study) -> None:
        """Write what is new: what ``watch=`` calls."""
        if self.broken is not None:
            return
        try:
            for number in self._changed(study.history):
                if number not in self._ended:
                    self._follow(study, study.history.trials[number])
        except Exception as error:  # whatever a tracker does, a search must not end of it
            self.broken = f"{type(error).__name__}: {error}"
            log.warning("%s failed and is dropped; the search goes on: %s", type(self).__name__, self.broken)

    def replay(self, study: Study) -> None:
        """Write all of a study that it has not written yet, whoever ran it; then ``close``."""
        study.refresh()
        self(study)
        self.close()

    def _changed(self, history: History) -> list[int]:
        """The trials that began, reported or ended since the last look."""
        begun, observed, ended = self._places
        self._places = len(history.trials), len(history.observed), len(history.ended)
        reported = (number for number, *_ in history.observed[observed:])
        return sorted({*range(begun, len(history.trials)), *reported, *history.ended[ended:]})

    def _follow(self, study: Study, trial: Trial) -> None:
        done = self._reported.get(trial.number)
        if done is None:
            self.begin(study, trial)
            done = self._reported.setdefault(trial.number, 0)
        for reading in trial.reports[done:]:
            self.report(study, trial, reading)
            self._reported[trial.number] += 1
        if trial.state.over and trial.number not in self._ended:
            self.end(study, trial)
            self._ended.add(trial.number)

    @abstractmethod
    def begin(self, study: Study, trial: Trial) -> None:
        """A trial is seen for the first time."""

    @abstractmethod
    def report(self, study: Study, trial: Trial, reading: Reading) -> None:
        """A report of a trial."""

    @abstractmethod
    def end(self, study: Study, trial: Trial) -> None:
        """A trial is over."""

    def close(self) -> None:
        """Nothing more will come."""
        return


def hypervolume_at_end(history: History, trial: Trial) -> dict[str, float]:
    """Of several objectives: the hypervolume of the front when a trial ended, and up to which reference point; else nothing.

    A function of what had happened by then, so that a tracker that is attached later writes the same.
    """
    goals, ended = history.goals, trial.runs.ended_at or 0.0
    losses = [losses_of(step.trial) for step in history.fronts.steps if step.at <= ended] if goals.several else []
    if not losses:
        return {}
    r = goals.reference(losses)
    upto = zip(goals.metrics, goals.signs, r.tolist(), strict=True)
    volume = hypervolume(np.array(losses), r)
    return {"hypervolume": volume, **{f"hypervolume_up_to.{name}": sign * value for name, sign, value in upto}}


class TensorBoard(Tracker):
    """One run per trial below ``folder``: its metrics over budgets, its configuration and its origin as text."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__()
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            try:
                from tensorboardX import SummaryWriter
            except ImportError as error:
                raise missing("trackers", "tensorboardX") from error
        self._make: Any = SummaryWriter
        self._folder = Path(folder)
        self._writers: dict[int, Any] = {}

    def begin(self, study: Study, trial: Trial) -> None:
        if self._mark(trial).exists():
            mark = json.loads(self._mark(trial).read_text())
            if mark["study"] != study.history.created.files:
                rule, remedy = "must not hold the runs of another study", "give each study a folder of its own"
                raise InvalidArgument("folder", rule, str(self._folder), remedy)
            self._reported[trial.number] = mark["reports"]
            if mark["ended"]:
                self._ended.add(trial.number)
            return
        writer = self._writer(trial)
        writer.add_text("config", json.dumps(study.space.dump(trial.config), indent=1))
        writer.add_text("origin", str(trial.origin))
        self._leave_mark(study, trial, 0)

    def report(self, study: Study, trial: Trial, reading: Reading) -> None:
        writer = self._writer(trial)
        for name, value in reading.metrics.items():
            writer.add_scalar(name, value, reading.budget, walltime=reading.at)
        writer.flush()
        self._leave_mark(study, trial, self._reported[trial.number] + 1)

    def end(self, study: Study, trial: Trial) -> None:
        writer = self._writer(trial)
        for name, value in hypervolume_at_end(study.history, trial).items():
            writer.add_scalar(name, value, trial.budget, walltime=trial.runs.ended_at)
        if trial.reason:
            writer.add_text("reason", trial.reason)
        self._writers.pop(trial.number).close()
        self._leave_mark(study, trial, self._reported[trial.number], ended=True)

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()

    def _run(self, trial: Trial) -> Path:
        return self._folder / f"trial-{trial.number:04d}"

    def _mark(self, trial: Trial) -> Path:
        """A file that says how much of a trial is written, and of which study."""
        return self._run(trial) / "xstar-written.json"

    def _leave_mark(self, study: Study, trial: Trial, reports: int, *, ended: bool = False) -> None:
        mark = {"study": study.history.created.files, "reports": reports, "ended": ended}
        self._mark(trial).write_text(json.dumps(mark))

    def _writer(self, trial: Trial) -> Any:
        if trial.number not in self._writers:
            # Without a suffix, a file of the same second would be written over.
            self._writers[trial.number] = self._make(str(self._run(trial)), filename_suffix=f".{secrets.token_hex(4)}")
        return self._writers[trial.number]


class MLflow(Tracker):
    """One run per trial, in the experiment ``experiment`` (by default, the study's name) at ``uri``.

    A run is found again by its tags, so a tracker attached later goes on with the runs that are there.
    """

    ENDS = {State.COMPLETE: "FINISHED", State.STOPPED: "FINISHED"}  # noqa: RUF012  (read only)

    def __init__(self, uri: str | None = None, experiment: str | None = None) -> None:
        super().__init__()
        try:
            from mlflow import MlflowClient
        except ImportError as error:
            raise missing("trackers", "mlflow-skinny") from error
        self._client: Any = MlflowClient(uri)
        self._experiment = experiment
        self._runs: dict[int, str] = {}

    def begin(self, study: Study, trial: Trial) -> None:
        client, name = self._client, self._experiment or study.name or "xstar"
        known = client.get_experiment_by_name(name)
        where = known.experiment_id if known is not None else client.create_experiment(name)
        key = f"{study.history.created.files}/{trial.number}"
        there = client.search_runs([where], f"tags.`xstar.trial` = '{key}'")
        if there:
            self._runs[trial.number] = there[0].info.run_id
            self._reported[trial.number] = int(there[0].data.tags.get("xstar.reported", 0))
            return
        run = client.create_run(where, int(trial.runs.asked_at * 1000), {"xstar.trial": key}, f"trial-{trial.number}")
        self._runs[trial.number] = run.info.run_id
        for each, value in study.space.dump(trial.config).items():
            client.log_param(run.info.run_id, each, value)

    def report(self, study: Study, trial: Trial, reading: Reading) -> None:
        run = self._runs[trial.number]
        for name, value in reading.metrics.items():
            self._client.log_metric(run, name, value, int(reading.at * 1000), reading.budget)
        self._client.set_tag(run, "xstar.reported", self._reported[trial.number] + 1)

    def end(self, study: Study, trial: Trial) -> None:
        run, status, at = (
            self._runs[trial.number],
            self.ENDS.get(trial.state, "FAILED"),
            (trial.runs.ended_at or 0) * 1000,
        )
        for name, value in hypervolume_at_end(study.history, trial).items():
            self._client.log_metric(run, name, value, int(at), trial.budget)
        self._client.set_terminated(run, status, int(at))


class WandB(Tracker):
    """One run per trial in ``project`` (by default, the study's name); ``mode="offline"`` writes to ``folder`` alone.

    Runs of several trials are open at once where several run at once.
    """

    def __init__(self, project: str | None = None, *, mode: str = "online", folder: str | None = None) -> None:
        super().__init__()
        try:
            import wandb
        except ImportError as error:
            raise missing("trackers", "wandb") from error
        self._wandb: Any = wandb
        self._project, self._mode, self._folder = project, mode, folder
        self._runs: dict[int, Any] = {}

    def begin(self, study: Study, trial: Trial) -> None:
        self._runs[trial.number] = self._wandb.init(
            project=self._project or study.name or "xstar",
            id=f"{study.history.created.files}-{trial.number}",
            name=f"trial-{trial.number}",
            config=study.space.dump(trial.config),
            mode=self._mode,
            dir=self._folder,
            resume="allow",
            reinit="create_new",
        )

    def report(self, study: Study, trial: Trial, reading: Reading) -> None:
        self._runs[trial.number].log(dict(reading.metrics), step=reading.budget)

    def end(self, study: Study, trial: Trial) -> None:
        run = self._runs.pop(trial.number)
        run.summary.update(hypervolume_at_end(study.history, trial))
        run.finish(0 if trial.state in (State.COMPLETE, State.STOPPED) else 1)

    def close(self) -> None:
        for run in self._runs.values():
            run.finish()
        self._runs.clear()
