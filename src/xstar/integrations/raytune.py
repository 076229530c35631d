"""Ray Tune: ``Searcher``, our searchers inside a Tune experiment; ``raytune_scheduler.py`` has our schedulers.

The searcher is a study that Tune asks and tells. It is saved with the experiment, as the journal's own JSON lines, and goes on
from there when the experiment is restored. (To run a search of ours on a Ray cluster, use ``executor=xs.Ray(…)`` instead.)
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument, InvalidSpace, Words
from xstar.integrations import missing
from xstar.integrations.distributions import number_range, one_of
from xstar.journal import MemoryJournal, event_json
from xstar.journal.trial import State
from xstar.look.exchange import export_events
from xstar.space import Constant, Domain, Parameter, Space
from xstar.study import Study

try:
    from ray.tune.result import DEFAULT_METRIC
    from ray.tune.search import Searcher as TuneSearcher
    from ray.tune.search.sample import (
        Categorical,
        Domain as TuneDomain,
        Float as TuneFloat,
        Integer as TuneInteger,
        Quantized,
    )
except ImportError as error:
    raise missing("raytune", "'ray[tune]'") from error


class Searcher(TuneSearcher):
    """``tune.TuneConfig(search_alg=Searcher(method="gp", seed=0), metric="loss", mode="min")``.

    The space is that of the Tuner's ``param_space``, or an ``xs.Space``. Trials that a scheduler of Tune stopped count with
    their last result. Trials are chosen with those that run in mind; no ``ConcurrencyLimiter`` is needed for that.

    Several objectives are lists, ``Searcher(metric=["loss", "size"], mode=["min", "min"])``; a ``TuneConfig`` has one metric or
    none, and ``searcher.study.front`` the trade-offs.

    With ``max_budget`` the study has a scheduler of ours, too: add ``scheduler=Scheduler()`` to the ``TuneConfig``.
    """

    def __init__(
        self,
        space: Space | None = None,
        *,
        method: str | None = None,
        max_budget: int | None = None,
        metric: str | Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        if metric is not None:
            goals(metric, mode)
        super().__init__()
        self._metric: Any = metric
        self._mode: Any = mode
        self._space, self._method, self._seed = space, method, seed
        self.max_budget = max_budget
        self._study: Study | None = None
        self._trials: dict[str, int] = {}
        self.promoted: list[int] = []
        """Paused trials that the study wants to go on, for the scheduler to start."""
        if space is not None and metric is not None:
            self._begin()

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """What the Tuner says; False: it was said before."""
        if self._study is not None:
            return False
        if self._metric is None:
            self._metric = metric
        if self._mode is None:
            self._mode = mode
        if self._space is None:
            self._space = from_tune(config)
        self._begin()
        return True

    def _begin(self) -> None:
        given: dict[str, Any] = {"method": self._method, "max_budget": self.max_budget, "seed": self._seed}
        self._study = Study(self._space, metric=goals(self._metric or DEFAULT_METRIC, self._mode), **given)

    @property
    def study(self) -> Study:
        """The study behind it."""
        if self._study is None:
            raise InvalidArgument("space", "is not known yet", None, "pass param_space= to the Tuner, or space=")
        return self._study

    @property
    def trials(self) -> dict[str, int]:
        """Trials of Tune that are not over, and which of ours they are."""
        return self._trials

    def suggest(self, trial_id: str) -> Any:
        """The configuration of a new trial; ``None``: not yet."""
        if self.promoted:
            return None  # it is their turn
        trial = self.study.ask()
        if trial is None:
            return Searcher.FINISHED if self.study.ended is not None else None
        if trial.attempt > 0:
            self.promoted.append(trial.number)
            return None
        self._trials[trial_id] = trial.number
        return trial.config

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """A trial is over."""
        number = self._trials.pop(trial_id, None)
        if number is None or self._study is None or self._study.trials[number].state is not State.RUNNING:
            return  # a scheduler of ours has ended it, or it pauses for good
        if self._study.trials[number].reports and not error:
            self._study.complete(number)
            return
        values = {name: (result or {}).get(name) for name in self._study.goals.metrics}
        lacking = [name for name, value in values.items() if value is None or not math.isfinite(value)]
        if error or lacking:
            why = "Tune says that it failed" if error else f"Tune has no finite {' and '.join(lacking)} of it"
            self._study.fail(number, why)
        else:
            self._study.tell(number, values)

    def save(self, checkpoint_path: str) -> None:
        """Write the journal, one event per line, and which trial of Tune is which of ours."""
        assert self._study is not None
        lines = [*export_events(self._study), *(f"{number} {name}" for name, number in self._trials.items())]
        Path(checkpoint_path).write_text("\n".join(lines), encoding="utf-8")

    def restore(self, checkpoint_path: str) -> None:
        """Go on from what :meth:`save` wrote."""
        journal, self._trials = MemoryJournal(), {}
        for line in Path(checkpoint_path).read_text(encoding="utf-8").splitlines():
            if line.startswith("{"):
                data = json.loads(line)
                journal.append([event_json.load(data["kind"], json.dumps(data["event"]), data["schema"])], 0)
            else:
                number, _, name = line.partition(" ")
                self._trials[name] = int(number)
        self._study = Study.from_journal(journal)
        self._space = self._study.space
        if self._study.scheduler.max_budget is not None:
            self.max_budget = self._study.scheduler.max_budget


def goals(metric: str | Sequence[str], mode: str | Sequence[str] | None) -> dict[str, str]:
    """Metrics and modes as Tune's search algorithms take them, by name."""
    names = [metric] if isinstance(metric, str) else list(metric)
    modes = [mode or "min"] * len(names) if mode is None or isinstance(mode, str) else list(mode)
    if len(modes) != len(names) or not set(modes) <= {"min", "max"}:
        raise InvalidArgument("mode", "must be 'min' or 'max', one of them for each metric", mode)
    return dict(zip(names, modes, strict=True))


def from_tune(config: dict[str, Any]) -> Space:
    """The space that a ``param_space`` describes; nested dictionaries and unbounded distributions are refused by name."""
    return Space({name: _parameter(name, given) for name, given in config.items()})


def _parameter(name: str, given: Any) -> Any:
    if isinstance(given, Parameter | Domain):
        return given
    if isinstance(given, Categorical):
        return one_of(given.categories)
    if isinstance(given, TuneDomain):
        untyped: Any = given
        sampler: Any = untyped.get_sampler()
        step: Any = None
        if isinstance(sampler, Quantized):
            quantized: Any = sampler
            step, sampler = quantized.q, quantized.get_sampler()
        log, kind = "LogUniform" in type(sampler).__name__, type(sampler).__name__
        bounded = math.isfinite(getattr(given, "lower", math.inf)) and math.isfinite(getattr(given, "upper", math.inf))
        if bounded and "Uniform" in kind and not (log and step):
            if isinstance(given, TuneFloat):
                return number_range(given.lower, given.upper, whole=False, log=log, step=step)
            if isinstance(given, TuneInteger):  # Tune leaves the upper end out
                upper = given.upper - (1 if step in (None, 1) else 0)
                return number_range(given.lower, upper, whole=True, log=log, step=step)
    elif not isinstance(given, dict):
        return Constant(given)
    remedy = "uniform, loguniform, quniform, randint, lograndint and choice can be converted; or pass an xs.Space"
    raise InvalidSpace(name, "must be a distribution that xstar has, too", Words(type(given).__name__), remedy)
