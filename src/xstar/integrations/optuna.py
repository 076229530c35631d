"""``Sampler``: our searchers inside an Optuna study, define-by-run; and what Optuna's distributions are called here.

Optuna asks at once for all parameters that every trial so far had (the relative search space), and one by one for others. The
former are handed to the searcher, with a history of the trials over that space; the latter are drawn at random.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xstar.core.checks import whole_number
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument, InvalidSpace
from xstar.integrations import missing
from xstar.integrations.define_by_run import value_names
from xstar.integrations.distributions import number_range, one_of
from xstar.journal import History, events as ev
from xstar.journal.trial import Done, New
from xstar.searchers import Auto, Searcher
from xstar.searchers.scalarised import of_several
from xstar.space import Float, Parameter, Space
from xstar.study.methods import METHODS
from xstar.study.settings import Settings

try:
    from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
    from optuna.samplers import BaseSampler
    from optuna.search_space import IntersectionSearchSpace
    from optuna.study import Study as OptunaStudy, StudyDirection
    from optuna.trial import FrozenTrial, TrialState
except ImportError as error:
    raise missing("optuna", "optuna") from error

ENDED = (TrialState.COMPLETE, TrialState.FAIL)


class Sampler(BaseSampler):
    """A searcher of xstar as a sampler of Optuna: ``optuna.create_study(sampler=Sampler("gp", seed=0))``.

    ``method`` is the name of a method (its searcher is used; pruning is Optuna's part) or a searcher. Trials that Optuna pruned
    are left out of what is learned from, as in Optuna's own Gaussian process; those that failed are not.
    """

    def __init__(self, method: str | Searcher | None = None, *, seed: int | None = None) -> None:
        self._searcher = _searcher(method)
        self._streams = Streams(secrets.randbits(31) if seed is None else whole_number("seed", seed, least=0))
        self._common: dict[str, IntersectionSearchSpace] = {}
        self._mirrors: dict[tuple[str, str], Mirror] = {}

    def reseed_rng(self) -> None:
        """Nothing to do: the numbers drawn depend on the trial's number, which no two processes share."""

    def infer_relative_search_space(self, study: OptunaStudy, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters that all finished trials had."""
        common = self._common.setdefault(study.study_name, IntersectionSearchSpace(include_pruned=True))
        return {name: each for name, each in common.calculate(study).items() if not each.single()}

    def sample_relative(
        self, study: OptunaStudy, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """What the searcher suggests, having seen the trials so far."""
        if not search_space:
            return {}
        mirror = self._mirror(study, search_space)
        mirror.catch_up(study.get_trials(deepcopy=False))
        return mirror.suggest(self._searcher, self._streams, trial.number)

    def sample_independent(
        self, study: OptunaStudy, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A parameter that not every trial had, at random."""
        drawn = Space(x=parameter(param_name, param_distribution)).sample(
            self._streams.generator(trial.number, param_name)
        )
        return drawn["x"]

    def _mirror(self, study: OptunaStudy, search_space: dict[str, BaseDistribution]) -> Mirror:
        space, names = as_space(search_space)
        key = (study.study_name, repr(search_space))
        if key not in self._mirrors:
            settings = Settings(space, searcher=self._searcher, metric=objectives(study), seed=0)
            history = History()
            history.extend([settings.create(0.0)])
            self._mirrors[key] = Mirror(history, names)
        return self._mirrors[key]


@dataclass
class Mirror:
    """An Optuna study as a history over one space: what a searcher reads."""

    history: History
    names: dict[str, str]
    """Optuna's names of the parameters → ours."""
    numbers: dict[int, int] = field(default_factory=dict)
    """Optuna's number of a trial → ours."""
    settled: int = 0
    """How many trials, from the first on, have ended and need no second look."""

    def catch_up(self, trials: Sequence[FrozenTrial]) -> None:
        """Fold what happened since."""
        while self.settled < len(trials) and trials[self.settled].state.is_finished():
            self._follow(trials[self.settled])
            self.settled += 1
        for trial in trials[self.settled :]:
            self._follow(trial)

    def _follow(self, trial: FrozenTrial) -> None:
        mine = self.numbers.get(trial.number)
        if mine is not None and trial.state == TrialState.PRUNED:  # seen while it ran: pending no more
            self.history.fold(ev.Completed(mine, 0.0))
        if (mine is not None and self.history.trials[mine].state.over) or not self._belongs(trial):
            return
        if mine is None:
            mine = self.numbers[trial.number] = len(self.history.trials)
            config = {self.names[name]: trial.params[name] for name in self.names}
            data = self.history.space.dump(self.history.space.parse(config))
            self.history.fold(ev.Asked(mine, data, "optuna", self.history.seen, 0.0))
        if trial.state == TrialState.COMPLETE and all(map(math.isfinite, trial.values)):
            values = dict(zip(self.history.goals.metrics, trial.values, strict=True))
            self.history.fold(ev.Reported(mine, 1, values, 0.0, self.history.seen, final=True))
        elif trial.state in ENDED:
            self.history.fold(ev.Failed(mine, "exception", "it failed in Optuna", 0.0))

    def _belongs(self, trial: FrozenTrial) -> bool:
        """Whether it is pending, or ended with something to learn from, and has every parameter of the space."""
        live = trial.state in (TrialState.RUNNING, *ENDED)
        return live and all(name in trial.params for name in self.names)

    def suggest(self, searcher: Searcher, streams: Streams, number: int) -> dict[str, Any]:
        """What to try next, by Optuna's names."""
        found = of_several(searcher, self.history, New(), streams.generator(number, "suggest"))
        if isinstance(found, Done):  # Optuna goes on when a finite space is exhausted
            config = self.history.space.sample(streams.generator(number, "repeat"))
        else:
            config = found.config
        return {name: config[mine] for name, mine in self.names.items()}


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


def parameter(name: str, given: BaseDistribution) -> Parameter:
    """The parameter with the values of one of Optuna's distributions."""
    if isinstance(given, CategoricalDistribution):
        return one_of(given.choices)
    if isinstance(given, FloatDistribution | IntDistribution):
        whole = isinstance(given, IntDistribution)
        high = given.low if given.single() else given.high
        return number_range(given.low, high, whole=whole, log=given.log, step=given.step)
    raise InvalidSpace(name, "must be a float, an int or a categorical one", given)


def as_space(distributions: Mapping[str, BaseDistribution]) -> tuple[Space, dict[str, str]]:
    """The space of some distributions, and Optuna's names → ours, which are Python identifiers."""
    names = python_names(distributions)
    return Space({names[name]: parameter(name, given) for name, given in distributions.items()}), names


def python_names(given: Iterable[str]) -> dict[str, str]:
    """Each name as a Python identifier, all of them different: ``lr/max`` is ``lr_max``."""
    names: dict[str, str] = {}
    for name in given:
        made = re.sub(r"\W", "_", name) or "_"
        made = f"p_{made}" if made[0].isdigit() else made
        try:
            Space({made: Float(0, 1)})
        except InvalidSpace:  # a keyword
            made += "_"
        while made in names.values():
            made += "_"
        names[name] = made
    return names
