"""Ray Tune: ``Scheduler``, our schedulers inside a Tune experiment, with trials that truly pause and are promoted.

Tune starts every trial that is pending, so the searcher decides when there is a new one. With a ``Searcher`` of ours both are
one study: what it asks for is a new trial, which the searcher hands to Tune, or a paused one, which the scheduler hands back.
With any other search algorithm the scheduler has a study of its own, in which Tune's trials are numbers.
"""

from __future__ import annotations

import math
from typing import Any

from xstar.errors import InvalidArgument, MissingMetric
from xstar.integrations import missing
from xstar.integrations.raytune import DIRECTIONS, Searcher
from xstar.space import Int, Space
from xstar.study import Limits, Study
from xstar.trial import State, Verdict

try:
    from ray.tune.experiment import Trial as TuneTrial
    from ray.tune.schedulers import TrialScheduler
except ImportError as error:
    raise missing("raytune_scheduler", "'ray[tune]'") from error

ALONE = ("asha", "asha-stop", "async-hyperband", "async-hyperband-stop", "median")
"""Methods for the trials of other search algorithms: those that never wait, since Tune starts what it has."""
ACTIONS = {
    Verdict.CONTINUE: TrialScheduler.CONTINUE,
    Verdict.PAUSE: TrialScheduler.PAUSE,
    Verdict.STOP: TrialScheduler.STOP,
}
NUMBERS = Space(trial=Int(0, 2**40))
"""The space of a study whose configurations are Tune's own affair."""


class Scheduler(TrialScheduler):
    """``tune.TuneConfig(search_alg=Searcher(method="mobster", max_budget=27), scheduler=Scheduler(), …)``.

    Or, with any search algorithm of Tune, ``Scheduler(max_budget=27)``, which is asynchronous successive halving; ``method``
    names another one. ``time_attr`` is the budget: the field of a result that counts epochs. A training function has to report
    a checkpoint with each result in order to go on from it; without one, a promoted trial begins again.
    """

    def __init__(
        self, max_budget: int | None = None, *, method: str = "asha", time_attr: str = "training_iteration"
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        if method not in ALONE:
            rule = f"must be one of {', '.join(ALONE)} with a search algorithm of Tune's"
            raise InvalidArgument("method", rule, method, "give other methods to Searcher(method=…, max_budget=…)")
        self._max_budget, self._method, self._time = max_budget, method, time_attr
        self._mode = "min"
        self._searcher: Searcher | None = None
        self._own: Study | None = None
        self._own_trials: dict[str, int] = {}
        self._own_promoted: list[int] = []
        self._names: dict[int, str] = {}

    def set_search_properties(self, metric: str | None, mode: str | None, **spec: Any) -> bool:
        """What the Tuner says."""
        self._mode = mode or self._mode
        return bool(super().set_search_properties(metric, mode, **spec))

    # ------------------------------------------------------------ one study

    def _begin(self, controller: Any) -> None:
        found = getattr(controller.search_alg, "searcher", None)
        while found is not None and not isinstance(found, Searcher):
            found = getattr(found, "searcher", None)  # within a ConcurrencyLimiter
        if found is not None and found.max_budget is not None:
            if self._max_budget not in (None, found.max_budget):
                raise InvalidArgument("max_budget", "is that of the Searcher", self._max_budget, "leave it out")
            self._searcher = found
        elif self._max_budget is None:
            remedy = "Searcher(method='mobster', max_budget=27), or Scheduler(max_budget=27)"
            raise InvalidArgument("max_budget", "is needed: how long is a full training?", None, remedy)
        else:
            direction = DIRECTIONS[self._mode]
            self._own = Study(NUMBERS, method=self._method, max_budget=self._max_budget, direction=direction, seed=0)

    @property
    def study(self) -> Study:
        """The study behind it."""
        if self._searcher is not None:
            return self._searcher.study
        assert self._own is not None
        return self._own

    @property
    def _trials(self) -> dict[str, int]:
        return self._own_trials if self._searcher is None else self._searcher.trials

    @property
    def _promoted(self) -> list[int]:
        return self._own_promoted if self._searcher is None else self._searcher.promoted

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """A trial of Tune's is new: pending, or, where an experiment is restored, in any state."""
        if self._searcher is None and self._own is None:
            self._begin(tune_controller)
        if trial.is_finished():
            return
        if self._own is not None and trial.trial_id not in self._trials:
            self._adopt(trial)
        number = self._trials[trial.trial_id]
        self._names[number] = trial.trial_id
        if trial.status == TuneTrial.PAUSED and self.study.trials[number].state is State.RUNNING:
            self._promoted.append(number)  # it was, before the experiment was restored

    def _adopt(self, trial: Any) -> None:
        """Have the study of numbers know a trial that another search algorithm made."""
        asked = self.study.ask()
        while asked is not None and asked.attempt > 0:  # paused ones that could go on: after this one
            self._promoted.append(asked.number)
            asked = self.study.ask()
        assert asked is not None, "an asynchronous scheduler never waits"
        self._trials[trial.trial_id] = asked.number
        if trial.status == TuneTrial.PAUSED and self._metric in trial.last_result:  # of a restored experiment
            self.study.report(asked.number, float(trial.last_result[self._metric]), asked.target)

    # ------------------------------------------------------------ results

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Report it and hear what the trial shall do."""
        metric = str(self._metric)
        for name in (metric, self._time):
            if name not in result:
                raise MissingMetric(name, "must be in every result", sorted(result)[:20], "report it")
        number, value = self._trials[trial.trial_id], float(result[metric])
        known, budget = self.study.trials[number], int(result[self._time])
        if known.state.over:
            return str(TrialScheduler.STOP)
        if known.target is not None:
            budget = min(budget, known.target)  # where results are seldom, the first one past a rung counts there
        if budget <= known.budget:
            return str(TrialScheduler.CONTINUE)  # it began again, without a checkpoint: this much is on record
        if not math.isfinite(value):
            self.study.fail(number, f"{metric} is {value}")
            return str(TrialScheduler.STOP)
        verdict = self.study.report(number, value, budget)
        return str(TrialScheduler.STOP if known.state.over else ACTIONS[verdict])  # complete: no need to train on

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """The training ended by itself, or was told to."""
        number = self._trials.get(trial.trial_id)
        if self._own is not None and number is not None and self._own.trials[number].state is State.RUNNING:
            self._own.complete(number)

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """It failed for good."""
        number = self._trials.get(trial.trial_id)
        if self._own is not None and number is not None and self._own.trials[number].state is State.RUNNING:
            self._own.fail(number, "Tune says that it failed")

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """It was stopped while it paused: its last report stands."""

    # ------------------------------------------------------------ what next

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """A promoted trial, or a pending one; ``None``: none is ready."""
        trials = {trial.trial_id: trial for trial in tune_controller.get_trials()}
        while self._promoted:
            number = self._promoted[0]
            first = trials[self._names[number]]
            if first.status == TuneTrial.PAUSED and self.study.trials[number].state is State.RUNNING:
                return first
            self._promoted.pop(0)  # Tune has started it, and perhaps it pauses again already
        for trial in trials.values():
            if trial.status == TuneTrial.PENDING:
                return trial
        if not trials or not tune_controller.search_alg.is_finished():
            return None
        asked = self.study.ask(Limits(trials=len(self.study.trials)))  # no new ones: only promotions
        if asked is not None:
            self._promoted.append(asked.number)
            return trials[self._names[asked.number]]
        if not any(trial.status == TuneTrial.RUNNING for trial in trials.values()):
            for trial in trials.values():
                if trial.status == TuneTrial.PAUSED:  # none of them will be promoted: their last results stand
                    tune_controller.stop_trial(trial)
        return None

    def debug_string(self) -> str:
        """A line for Tune's status."""
        if self._searcher is None and self._own is None:
            return "xstar: not begun"
        history = self.study.history
        return f"xstar: {len(history.running)} running, {len(history.paused)} paused, rungs {list(history.levels)}"
