"""Ray Tune: ``Scheduler``, our schedulers inside a Tune experiment, with trials that truly pause and are promoted.

Tune starts every trial that is pending, so the searcher decides when there is a new one. A ``Searcher`` of ours and the
scheduler are one study: what it asks for is a new trial, which the searcher hands to Tune, or a paused one, which the
scheduler hands back.
"""

from __future__ import annotations

from typing import Any

from xstar.errors import InvalidArgument, MissingMetric
from xstar.integrations import missing
from xstar.integrations.raytune import Searcher
from xstar.journal.trial import State, Verdict
from xstar.study import Limits, Study

try:
    from ray.tune.experiment import Trial as TuneTrial
    from ray.tune.schedulers import TrialScheduler
except ImportError as error:
    raise missing("raytune_scheduler", "'ray[tune]'") from error

ACTIONS = {
    Verdict.CONTINUE: TrialScheduler.CONTINUE,
    Verdict.PAUSE: TrialScheduler.PAUSE,
    Verdict.STOP: TrialScheduler.STOP,
}


class Scheduler(TrialScheduler):
    """``tune.TuneConfig(search_alg=Searcher(method="mobster", max_budget=27), scheduler=Scheduler(), …)``.

    ``time_attr`` is the budget: the field of a result that counts epochs. A training function has to report a checkpoint with
    each result in order to go on from it; without one, a promoted trial begins again.
    """

    def __init__(self, *, time_attr: str = "training_iteration") -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._time = time_attr
        self._searcher: Searcher | None = None
        self._names: dict[int, str] = {}

    # ------------------------------------------------------------ one study

    def _begin(self, controller: Any) -> Searcher:
        found = getattr(controller.search_alg, "searcher", None)
        while found is not None and not isinstance(found, Searcher):
            found = getattr(found, "searcher", None)  # within a ConcurrencyLimiter
        if found is None or found.max_budget is None:
            rule = "must be a Searcher of xstar that knows how long a full training is"
            raise InvalidArgument("search_alg", rule, found, "Searcher(method='mobster', max_budget=27)")
        return found

    @property
    def _known(self) -> Searcher:
        assert self._searcher is not None
        return self._searcher

    @property
    def study(self) -> Study:
        """The study behind it."""
        return self._known.study

    def on_trial_add(self, tune_controller: Any, trial: Any) -> None:
        """A trial of Tune's is new: pending, or, where an experiment is restored, in any state."""
        if self._searcher is None:
            self._searcher = self._begin(tune_controller)
        if trial.is_finished():
            return
        number = self._known.trials[trial.trial_id]
        self._names[number] = trial.trial_id
        if trial.status == TuneTrial.PAUSED and self.study.trials[number].state is State.RUNNING:
            self._known.promoted.append(number)  # it was, before the experiment was restored

    # ------------------------------------------------------------ results

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Report it and hear what the trial shall do."""
        metrics = self.study.goals.metrics
        for name in (*metrics, self._time):
            if name not in result:
                raise MissingMetric(name, "must be in every result", sorted(result)[:20], "report it")
        number, values = self._known.trials[trial.trial_id], {name: float(result[name]) for name in metrics}
        known, budget = self.study.trials[number], int(result[self._time])
        if known.state.over:
            return str(TrialScheduler.STOP)
        if known.target is not None:
            budget = min(budget, known.target)  # where results are seldom, the first one past a rung counts there
        if budget <= known.budget:
            return str(TrialScheduler.CONTINUE)  # it began again, without a checkpoint: this much is on record
        if wrong := self.study.goals.unusable(values):
            self.study.fail(number, wrong)
            return str(TrialScheduler.STOP)
        verdict = self.study.report(number, values, budget)
        return str(TrialScheduler.STOP if known.state.over else ACTIONS[verdict])  # complete: no need to train on

    def on_trial_complete(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> None:
        """The training ended; the searcher hears of it, too."""

    def on_trial_error(self, tune_controller: Any, trial: Any) -> None:
        """It failed for good; the searcher hears of it, too."""

    def on_trial_remove(self, tune_controller: Any, trial: Any) -> None:
        """It was stopped while it paused: its last report stands."""

    # ------------------------------------------------------------ what next

    def choose_trial_to_run(self, tune_controller: Any) -> Any:
        """A promoted trial, or a pending one; ``None``: none is ready."""
        trials = {trial.trial_id: trial for trial in tune_controller.get_trials()}
        promoted = self._known.promoted if self._searcher is not None else []
        while promoted:
            number = promoted[0]
            first = trials[self._names[number]]
            if first.status == TuneTrial.PAUSED and self.study.trials[number].state is State.RUNNING:
                return first
            promoted.pop(0)  # Tune has started it, and perhaps it pauses again already
        for trial in trials.values():
            if trial.status == TuneTrial.PENDING:
                return trial
        if not trials or not tune_controller.search_alg.is_finished():
            return None
        asked = self.study.ask(Limits(trials=len(self.study.trials)))  # no new ones: only promotions
        if asked is not None:
            promoted.append(asked.number)
            return trials[self._names[asked.number]]
        if not any(trial.status == TuneTrial.RUNNING for trial in trials.values()):
            for trial in trials.values():
                if trial.status == TuneTrial.PAUSED:  # none of them will be promoted: their last results stand
                    tune_controller.stop_trial(trial)
        return None

    def debug_string(self) -> str:
        """A line for Tune's status."""
        if self._searcher is None:
            return "xstar: not begun"
        history = self.study.history
        return f"xstar: {len(history.running)} running, {len(history.paused)} paused, rungs {list(history.levels)}"
