"""Ray Tune: ``Searcher``, our searchers inside a Tune experiment.

The searcher is a study that Tune asks and tells. Its journal is saved with the experiment, and the search goes on
from there when the experiment is restored. (To run a search of ours on a Ray cluster, use ``executor=xs.Ray(…)`` instead.)
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument, InvalidSpace, Words
from xstar.integrations import missing
from xstar.integrations.distributions import number_range, one_of
from xstar.journal import MemoryJournal, event_json
from xstar.look.exchange import export_events
from xstar.space import Domain, Parameter, Space
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

    The space is that of the Tuner's ``param_space``. ``Searcher(space, metric="loss", mode="min")`` takes an ``xs.Space``
    instead; the metric is said here, too, since Tune tells it to searchers with the ``param_space`` only, in which there may
    be constants. Trials that a scheduler of Tune stopped count with their last result. Trials are chosen with those that run
    in mind; no ``ConcurrencyLimiter`` is needed for that.

    Several objectives are lists, ``Searcher(metric=["loss", "size"], mode=["min", "min"])``; a ``TuneConfig`` has one metric or
    none, and ``searcher.study.front`` the trade-offs.
    """

    def __init__(
        self,
        space: Space | None = None,
        *,
        method: str | None = None,
        metric: str | Sequence[str] | None = None,
        mode: str | Sequence[str] | None = None,
        seed: int | None = None,
    ) -> None:
        if metric is not None:
            read_goals(metric, mode)
        super().__init__()
        self._metric: Any = metric
        self._mode: Any = mode
        self._space, self._method, self._seed = space, method, seed
        self._paths: dict[str, tuple[Any, ...]] = {}
        self._study: Study | None = None
        self._trials: dict[str, int] = {}
        if space is not None and metric is not None:
            self._begin()

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """What the Tuner says; False: it was said before."""
        if self._study is not None:
            return False
        self._metric = self._metric or metric or DEFAULT_METRIC
        self._mode = self._mode or mode
        if self._space is None:
            self._space, self._paths = from_tune(config)
        self._begin()
        return True

    def _begin(self) -> None:
        self._study = Study(
            self._space, metric=read_goals(self._metric, self._mode), method=self._method, seed=self._seed
        )

    @property
    def study(self) -> Study:
        """The study behind it."""
        if self._study is None and self._space is not None:
            rule = "must be said here, too: Tune tells it to a searcher with a param_space only"
            raise InvalidArgument("metric", rule, None, "Searcher(space, metric='loss', mode='min')")
        if self._study is None:
            raise InvalidArgument("space", "is not known yet", None, "pass param_space= to the Tuner, or space=")
        return self._study

    def suggest(self, trial_id: str) -> Any:
        """The configuration of a new trial; ``None``: not yet."""
        trial = self.study.ask()
        if trial is None:
            return Searcher.FINISHED if self.study.ended is not None else None
        self._trials[trial_id] = trial.number
        suggested: dict[str, Any] = {}
        for name, value in trial.config.items():
            *outer, key = self._paths.get(name, (name,))
            inner = suggested
            for each in outer:
                inner = inner.setdefault(each, {})
            inner[key] = value
        return suggested

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """A trial is over."""
        number = self._trials.pop(trial_id, None)
        if number is None:
            return
        values = {name: (result or {}).get(name) for name in self.study.goals.metrics}
        lacking = [name for name, value in values.items() if value is None or not math.isfinite(value)]
        if error or lacking:
            why = "Tune says that it failed" if error else f"Tune has no finite {' and '.join(lacking)} of it"
            self.study.fail(number, why)
        else:
            self.study.tell(number, values)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float,
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """A configuration that was evaluated before; a pruned one counts with its last value, as in the search."""
        config = {}
        for name in self.study.space:
            found: Any = parameters
            for key in self._paths.get(name, (name,)):
                found = found.get(key) if isinstance(found, dict) else None
            if found is not None:
                config[name] = found
        if not error and value is not None and math.isfinite(value):
            self.study.add(config, value)
            return
        self.study.enqueue(config)
        trial = self.study.ask()
        assert trial is not None
        self.study.fail(trial, "it failed where it was evaluated before")

    # ------------------------------------------------------------ saved with the experiment

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_study": None if self._study is None else list(export_events(self._study))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if state["_study"] is not None:
            journal = MemoryJournal()
            for line in state["_study"]:
                data = json.loads(line)
                journal.append([event_json.load(data["kind"], json.dumps(data["event"]), data["schema"])], 0)
            self._study = Study.from_journal(journal)
            self._space = self._study.space

    def save(self, checkpoint_path: str) -> None:
        """Write the journal, which of its trials are whose of Tune, and where the ``param_space`` has each parameter."""
        state = self.__getstate__()
        saved = {name: state[name] for name in ("_study", "_trials", "_paths")}
        Path(checkpoint_path).write_text(json.dumps(saved), encoding="utf-8")

    def restore(self, checkpoint_path: str) -> None:
        """Go on from what :meth:`save` wrote."""
        self.__setstate__(json.loads(Path(checkpoint_path).read_text(encoding="utf-8")))


def read_goals(metric: str | Sequence[str], mode: str | Sequence[str] | None) -> dict[str, str]:
    """Metrics and modes as Tune's search algorithms take them, by name."""
    names = [metric] if isinstance(metric, str) else list(metric)
    modes = [mode or "min"] * len(names) if mode is None or isinstance(mode, str) else list(mode)
    if len(modes) != len(names) or not set(modes) <= {"min", "max"}:
        raise InvalidArgument("mode", "must be 'min' or 'max', one of them for each metric", mode)
    return dict(zip(names, modes, strict=True))


def from_tune(config: dict[str, Any]) -> tuple[Space, dict[str, tuple[Any, ...]]]:
    """The space of what a ``param_space`` leaves open, and where it has each parameter; Tune keeps the constants itself."""
    parameters: dict[str, Any] = {}
    paths: dict[str, tuple[Any, ...]] = {}
    for path, given in _searched(config):
        key = "/".join(map(str, path))
        name = re.sub(r"\W+", "__", key)
        if not name.isidentifier() or iskeyword(name):
            name = f"p_{name}"
        if name in parameters:
            raise InvalidSpace(key, "must differ from others in letters or digits", name, "rename one")
        parameters[name], paths[name] = _parameter(key, given), path
    return Space(parameters), paths


def _searched(given: dict[Any, Any], path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    for key, value in given.items():
        place = (*path, key)
        if isinstance(value, dict) and "grid_search" not in value:
            yield from _searched(value, place)
        elif isinstance(value, TuneDomain | Parameter | Domain | dict):
            yield place, value
        elif isinstance(value, list | tuple) and any(_searched(dict(enumerate(value)))):
            raise InvalidSpace(
                "/".join(map(str, place)), "must not be searched within a list", value, "use a dictionary"
            )


def _parameter(name: str, given: Any) -> Any:
    if isinstance(given, Parameter | Domain):
        return given
    if isinstance(given, Categorical):
        return one_of(given.categories)
    sampler = given.get_sampler() if isinstance(given, TuneDomain) else None  # type: ignore[no-untyped-call]
    step: Any = None
    if isinstance(sampler, Quantized):
        step, sampler = sampler.q, sampler.get_sampler()  # type: ignore[no-untyped-call]
    kind = type(sampler).__name__
    log = "LogUniform" in kind
    bounded = math.isfinite(getattr(given, "lower", math.inf)) and math.isfinite(getattr(given, "upper", math.inf))
    if bounded and "Uniform" in kind and not (log and step):
        if isinstance(given, TuneFloat):
            return number_range(given.lower, given.upper, whole=False, log=log, step=step)
        if isinstance(given, TuneInteger):  # Tune leaves the upper end out
            upper = given.upper - (1 if step in (None, 1) else 0)
            return number_range(given.lower, upper, whole=True, log=log, step=step)
    remedy = "uniform, loguniform, quniform, randint, lograndint and choice can be converted; or pass an xs.Space"
    raise InvalidSpace(name, "must be a distribution that xstar has, too", Words(type(given).__name__), remedy)
