"""``Sampler``: our searchers inside an Optuna study, define-by-run; and what Optuna's distributions are called here.

Optuna asks at once for all parameters that a trial may need (the relative search space), and one by one for others. The former
are those of all trials so far. Which trials have which is learned from them (``conditions.py``), so that a searcher reads a
history over one space with conditions, and models a loop or a branch as it does in a study of ours.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any

from xstar.core.checks import whole_number
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument, InvalidConfig, InvalidSpace
from xstar.integrations import missing
from xstar.integrations.conditions import conditional
from xstar.integrations.define_by_run import value_names
from xstar.integrations.distributions import number_range, one_of
from xstar.journal import History, events as ev
from xstar.journal.trial import Done, New, Origin, Suggestion
from xstar.searchers import Auto, Searcher
from xstar.searchers.base import of_several
from xstar.space import Config, Parameter, Space
from xstar.study.methods import METHODS
from xstar.study.settings import Settings

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler
    from optuna.study import Study as OptunaStudy, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise missing("optuna", "optuna") from error

Distributions = dict[str, BaseDistribution]

ATTRIBUTE = "xstar"
"""The system attribute of a trial with what was suggested and its origin, for other threads, other programs, and restarts."""
FULL = 1
"""The only budget: a history with a rung there keeps what was reported before a failure."""
PRIOR_POINTS = 3
"""Two or three points tell little of a correlation. Not tuned: with 0, ``layers`` under successive halving ended at 0.1275
instead of 0.1273 and ``noisy`` under Hyperband at 0.044 instead of 0.050 (``benchmarks/adapters.py``, six seeds)."""
LEARNED = (TrialState.COMPLETE, TrialState.PRUNED)


class Sampler(BaseSampler):
    """A searcher of xstar as a sampler of Optuna: ``optuna.create_study(sampler=Sampler("gp", seed=0))``.

    ``method`` is the name of a method (its searcher is used; pruning is Optuna's part) or a searcher. From a pruned trial it
    learns what it would have come to (``Curves``), and to look where trials are not pruned.
    """

    def __init__(self, method: str | Searcher | None = None, *, seed: int | None = None) -> None:
        self._searcher = _searcher(method)
        self._seed = secrets.randbits(31) if seed is None else whole_number("seed", seed, least=0)
        self.__setstate__({})

    def __getstate__(self) -> dict[str, Any]:
        return {"_searcher": self._searcher, "_seed": self._seed}  # all else follows from the trials

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()  # study.optimize(n_jobs=…) has threads
        self._mirror: Mirror | None = None

    def reseed_rng(self) -> None:
        """Nothing to do: the numbers drawn depend on the trial's number, which no two processes share."""

    def infer_relative_search_space(self, study: OptunaStudy, trial: FrozenTrial) -> Distributions:
        """Every parameter that a trial had."""
        with self._lock:
            return dict(self._read(study)[0].search_space)

    def sample_relative(self, study: OptunaStudy, trial: FrozenTrial, search_space: Distributions) -> dict[str, Any]:
        """What the searcher suggests, having seen the trials so far."""
        if not search_space:
            return {}
        with self._lock:
            mirror, trials = self._read(study)
            mirror.follow(trials, search_space)
            found, shared = mirror.suggest(trial)
            study._storage.set_trial_system_attr(trial._trial_id, ATTRIBUTE, shared)
        return found

    def sample_independent(
        self, study: OptunaStudy, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A parameter that was not expected, at random."""
        rng = Streams(self._seed).generator(trial.number, param_name)
        return value_at(param_distribution, Space(x=inside(param_name, param_distribution)).sample(rng)["x"])

    def _read(self, study: OptunaStudy) -> tuple[Mirror, Sequence[FrozenTrial]]:
        study = getattr(study, "_study", study)  # HyperbandPruner hands over a study with the trials of one bracket
        trials = study.get_trials(deepcopy=False)
        if self._mirror is None or not self._mirror.is_of(study, trials):
            self._mirror = Mirror(study, self._searcher, self._seed)
        self._mirror.read(trials)
        return self._mirror, trials


class Changes:
    """The trials of a study that are new since the last look, or had not ended then."""

    def __init__(self) -> None:
        self._count = 0
        self._open: list[int] = []

    def of(self, trials: Sequence[FrozenTrial]) -> list[FrozenTrial]:
        found = [trials[number] for number in (*self._open, *range(self._count, len(trials)))]
        self._count, self._open = len(trials), [each.number for each in found if not each.state.is_finished()]
        return found


class Curves:
    """What pruned trials would have come to, as those that are complete tell: at each step, a line from the value there to the
    value in the end."""

    def __init__(self) -> None:
        self._lines: dict[int, Line] = {}

    def values(self, trial: FrozenTrial) -> list[float] | None:
        """The values of a complete trial, or what a pruned one would have come to; ``None`` if it told nothing."""
        curve = {step: value for step, value in trial.intermediate_values.items() if math.isfinite(value)}
        if trial.state == TrialState.COMPLETE and all(map(math.isfinite, trial.values)):
            for step, value in curve.items():
                self._lines[step] = self._lines.get(step, Line()).through(value, trial.values[0])
            return list(trial.values)
        if trial.state != TrialState.PRUNED or not curve:
            return None
        step = max(curve)
        return [self._lines.get(step, Line()).at(curve[step])]


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points (x, y), of which it keeps the means and the sums of squares about them."""

    count: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    xy: float = 0.0
    yy: float = 0.0

    def through(self, x: float, y: float) -> Line:
        """With one more point."""
        count, dx, dy = self.count + 1, x - self.x, y - self.y
        mean_x, mean_y = self.x + dx / count, self.y + dy / count
        sums = self.xx + dx * (x - mean_x), self.xy + dx * (y - mean_y), self.yy + dy * (y - mean_y)
        return Line(count, mean_x, mean_y, *sums)

    def at(self, x: float) -> float:
        """Its height. The slope is ρ times the ratio of the standard deviations, with the correlation ρ of the points and of
        ``PRIOR_POINTS`` on a rising line; 1 while nothing tells the ratio."""
        slope = 1.0
        if self.xx > 0.0 and self.yy > 0.0:
            ratio = math.sqrt(self.yy / self.xx)
            correlation = max(0.0, self.xy / self.xx / ratio)
            slope = ratio * (self.count * correlation + PRIOR_POINTS) / (self.count + PRIOR_POINTS)
        return self.y + slope * (x - self.x)


class Mirror:
    """An Optuna study as a history over one space: what a searcher reads.

    Trials are folded one by one. When one has other parameters than earlier ones with such values, the history begins anew with
    all of them.
    """

    def __init__(self, study: OptunaStudy, searcher: Searcher, seed: int) -> None:
        self.search_space: Distributions = {}
        """Every parameter of the trials that ended with something to learn from."""
        self._storage, self._id, self._objectives = study._storage, study._study_id, objectives(study)
        self._searcher, self._streams, self._seed = searcher, Streams(seed), seed
        self._unread = Changes()
        self._first: FrozenTrial | None = None
        self._space: Distributions = {}

    def is_of(self, study: OptunaStudy, trials: Sequence[FrozenTrial]) -> bool:
        """Whether it is of this study, and not of a deleted one with the same number."""
        same = self._storage is study._storage and self._id == study._study_id
        return same and (self._first is None or self._first in trials[self._first.number : self._first.number + 1])

    def read(self, trials: Sequence[FrozenTrial]) -> None:
        """Which parameters there are."""
        for trial in self._unread.of(trials):
            if trial.state in LEARNED:
                self._first = self._first or trial
                merge(self.search_space, {k: each for k, each in trial.distributions.items() if not each.single()})

    def follow(self, trials: Sequence[FrozenTrial], search_space: Distributions) -> None:
        """Fold what happened since."""
        if self._space != search_space or not all(map(self._fold, self._unfolded.of(trials))):
            self._begin(trials, dict(search_space))

    def _begin(self, trials: Sequence[FrozenTrial], search_space: Distributions) -> None:
        self._space = search_space
        self._names = {name: f"p{place}" for place, name in enumerate(search_space)}  # any name will do in Optuna
        declared = {self._names[name]: inside(name, given) for name, given in search_space.items()}
        rows = [self._inside(trial.params) for trial in trials if trial.state in LEARNED]
        found, unexplained = conditional(declared, rows)
        self._always = {name: found[name].quantile([0.5] * found[name].draws) for name in unexplained}
        settings = Settings(Space(found), searcher=self._searcher, metric=self._objectives, seed=self._seed)
        self.history = History(rungs=(FULL,))
        self.history.fold(settings.create(0.0))
        self._numbers: dict[int, int] = {}
        self._unfolded, self._curves = Changes(), Curves()
        for trial in self._unfolded.of(trials):
            self._fold(trial)

    def _inside(self, params: Mapping[str, Any]) -> Config:
        """Some values of Optuna's by our names."""
        return {self._names[k]: index_of(self._space[k], value) for k, value in params.items() if k in self._space}

    def _fold(self, trial: FrozenTrial) -> bool:
        """Fold what became of a trial; ``False`` if it has other parameters than expected."""
        if trial.state == TrialState.WAITING:
            return True
        history, learned = self.history, trial.state in LEARNED
        suggested, origin = trial.system_attrs.get(ATTRIBUTE, ({}, None))
        expected = {self._names[name]: value for name, value in suggested.items() if name in self._names}
        asked = self._inside(trial.params)
        open_ = self._names.values() if trial.state == TrialState.RUNNING else self._always
        made = self._always | {name: expected[name] for name in open_ if name in expected} | asked
        activity = history.space.structure.activity
        if any((name in made) != (name not in activity or activity[name](made)) for name in self._names.values()):
            return not learned
        try:
            config = history.space.parse(made)
        except InvalidConfig:  # beyond a range of the search space
            return True
        number = self._numbers.setdefault(trial.number, len(history.trials))
        if number == len(history.trials):
            ours = origin is not None and asked.items() <= expected.items()
            by = Origin(origin[0], origin[1], **origin[2]) if ours else Origin("optuna")
            history.fold(ev.Asked(number, history.space.dump(config), by, history.seen, 0.0))
        elif learned and any(history.trials[number].config.get(name) != config[name] for name in asked):
            return False
        if trial.state.is_finished():
            self._end(number, trial)
        return True

    def _end(self, number: int, trial: FrozenTrial) -> None:
        """Fold the values, or what a pruned trial would have come to: that is observed, and then the trial failed."""
        history, values = self.history, self._curves.values(trial)
        if values is not None:
            metrics = dict(zip(history.goals.metrics, values, strict=True))
            final = trial.state == TrialState.COMPLETE
            history.fold(ev.Reported(number, FULL, metrics, 0.0, history.seen, final=final))
        if not history.trials[number].state.over:
            history.fold(ev.Failed(number, "infeasible", f"{trial.state.name} in Optuna", 0.0))

    def suggest(self, trial: FrozenTrial) -> tuple[dict[str, Any], list[Any]]:
        """What to try next, and what others are told of it (``ATTRIBUTE``)."""
        space, rng = self.history.space, self._streams.generator(trial.number, "suggest")
        found = of_several(self._searcher, self.history, New(), rng)
        if isinstance(found, Done):  # Optuna goes on when a finite space is exhausted
            found = Suggestion(space.sample(rng), Origin("random", found.reason))
        origin = Origin.of(found.origin)
        config = space.dump(found.config)
        by_name = {name: config[mine] for name, mine in self._names.items() if mine in config}
        params = {name: value_at(self._space[name], value) for name, value in by_name.items()}
        return params, [by_name, [origin.method, origin.detail, dict(origin.numbers)]]


def _searcher(method: str | Searcher | None) -> Searcher:
    if method is None:
        return Auto()
    if isinstance(method, str):
        if method not in METHODS:
            raise InvalidArgument("method", f"must be one of {', '.join(METHODS)}, or a searcher", method)
        return METHODS[method][0]()
    if not callable(getattr(method, "suggest", None)):
        raise InvalidArgument("method", "must be the name of a method, or a searcher", method, 'e.g. Sampler("gp")')
    return method


def objectives(study: OptunaStudy) -> dict[str, str]:
    """The objectives by name, with their directions; without names, ``value`` is the only one and ``value_0`` the first."""
    count, names = len(study.directions), study.metric_names
    if names is None or len(set(names)) < count:  # Optuna takes one name twice
        names = ["value"] if count == 1 else value_names(count)
    ways = ["max" if each == StudyDirection.MAXIMIZE else "min" for each in study.directions]
    return dict(zip(names, ways, strict=True))


# ---------------------------------------------------------------- distributions


def inside(name: str, given: BaseDistribution) -> Parameter:
    """One of Optuna's distributions as a parameter; options by their places, as they may be anything in Optuna."""
    return one_of(range(len(given.choices))) if isinstance(given, CategoricalDistribution) else parameter(name, given)


def index_of(given: BaseDistribution, value: Any) -> Any:
    """A value as that parameter has it."""
    return int(given.to_internal_repr(value)) if isinstance(given, CategoricalDistribution) else value


def value_at(given: BaseDistribution, value: Any) -> Any:
    """The inverse of ``index_of``."""
    return given.choices[value] if isinstance(given, CategoricalDistribution) else value


def parameter(name: str, given: BaseDistribution) -> Parameter:
    """The parameter with the values of one of Optuna's distributions."""
    if isinstance(given, CategoricalDistribution):
        return one_of(given.choices)
    if isinstance(given, FloatDistribution | IntDistribution):
        whole = isinstance(given, IntDistribution)
        high = given.low if given.single() else given.high
        return number_range(given.low, high, whole=whole, log=given.log, step=given.step)
    raise InvalidSpace(name, "must be a float, an int or a categorical one", given)


def merge(known: Distributions, more: Distributions) -> None:
    """Add distributions by name; one whose range changed has the range of all, without steps that begin elsewhere."""
    for name, given in more.items():
        first: Any = known.setdefault(name, given)
        second: Any = given
        if first == second:
            continue
        if type(first) is not type(second) or isinstance(first, CategoricalDistribution) or first.log != second.log:
            rule, remedy = "must be the same in all trials", "the space of a study of ours does not change"
            raise InvalidSpace(name, rule, f"{first} and then {second}", remedy)
        steps = {"step": first.step} if (first.step, first.low) == (second.step, second.low) else {}
        known[name] = type(first)(min(first.low, second.low), max(first.high, second.high), log=first.log, **steps)
