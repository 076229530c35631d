"""What a study is, as opposed to what happened in it: the event that creates it, and whether another call means the same."""

from __future__ import annotations

import logging
import math
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from xstar.core.checks import check_path
from xstar.core.environment import environment_and_host
from xstar.core.goals import Goals, Metric, known_functions, read_goals
from xstar.core.registry import Registry
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.journal import History
from xstar.journal.events import Created, Event
from xstar.journal.rules import (
    DIRECTIONS,
    TRIAL_VALUES,
    check_constraints,
    check_trial_value,
    check_word,
    checked_retries,
    checked_seed,
)
from xstar.schedulers import SCHEDULERS, Scheduler
from xstar.searchers import SEARCHERS, Searcher
from xstar.space import Space
from xstar.space.conditions import Threshold
from xstar.storage.address import Address
from xstar.storage.files import DEFAULT_FOLDER
from xstar.study.methods import Method, resolve
from xstar.study.naming import differences
from xstar.study.user_events import is_wider
from xstar.study.warm_start import listed, names, prior_studies

if TYPE_CHECKING:
    from xstar.study.warm_start import WarmStart

T = TypeVar("T")

Constraints = Mapping[str, float | Threshold]
"""Bounds of metrics: a number is the largest allowed value; or ``at_least``, ``at_most``, ``between``."""

log = logging.getLogger("xstar")

DEFAULT_RETRIES = 1
"""A worker that dies once is bad luck (a neighbour's memory, a preempted node); one that dies twice is the trial's doing."""

MOST_COMPARED = 100
"""Trials, spread over the study, whose known objectives are computed again when it goes on: a function may take long."""
SAME = 1e-6
"""Values of a known objective that lie closer together are one: processors round differently."""

LONGEST_NAME = 100
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")


@dataclass(frozen=True)
class Settings:
    """What a caller asked for; ``None`` means "as stored", or the default for a new study.

    Parameters
    ----------
    space
        What may be tried.
    metric
        Which metric counts, if the objective gives several; or the metrics that count, up to five.

        The only number of a dictionary counts without being named. Several are a list of names, or names and directions:
        ``{"accuracy": "max", "latency": ("min", 40)}``, where beyond a threshold nothing is of interest. Such a search
        looks for the best trade-offs, ``result.front``. ``xs.Known(function)`` instead of a direction is an objective that the
        configuration alone decides.
    trial_value
        Which report of a trial is its value when trials are compared for the best: last or best.

        By default, the last one. It changes ``best``, ``trial.value``, ``target``, ``patience`` and whose checkpoints are kept;
        schedulers and searchers compare and learn from the reports at each budget, whatever it says.
    constraints
        Bounds of other metrics. A trial that ends beyond one is infeasible: never the best, but learned from.

        E.g. ``{"latency": 50.0, "accuracy": xs.at_least(0.9)}``: a number is the largest allowed value. A configuration that
        cannot be evaluated at all raises ``xs.Infeasible``.
    method
        How to search, by name. By default what suits the space and the budget.

        That is ``mobster`` with ``max_budget`` (``mobster-stop`` for an objective of Optuna), else ``auto``, or ``pbil`` for
        many switches; the choice and its reason are shown first and stay in the journal.
    searcher
        How to choose configurations, instead of the method's searcher.
    scheduler
        How to allot budgets, instead of the method's scheduler.
    max_budget
        Epochs of a full training: what trial.epochs() counts to.
    seed
        Makes the search repeatable.
    warm_start
        A study whose observations a new one begins with: of a related problem, or of another space.

        The name of one in the same storage, a :class:`Study`, or a list of these. Parameters that it did not have are
        taken to be at the median of their prior; trials with a value outside of this space are left out. What is brought
        along is copied into the journal; it counts as no trial and is never the best.
    study
        The study's name: it is stored under this name, or resumed if it exists.

        Without a name it lives in memory.
    storage
        Where studies are kept: a SQLite file, or a PostgreSQL URL.

        By default, the file ``xstar.db``. A URL may leave its password to ``PGPASSWORD`` or ``~/.pgpass``.
    directory
        Where trials keep checkpoints and output.

        By default, a folder beside the storage. A study that exists has them where it was created.
    retries
        How often a trial whose worker died is run again.

        By default, once.
    direction
        Which way is better: minimize or maximize.
    """

    space: Space | None = None
    _: KW_ONLY
    metric: Metric | None = None
    trial_value: str | None = None
    constraints: Constraints | None = None
    method: str | None = None
    searcher: Searcher | None = None
    scheduler: Scheduler | None = None
    max_budget: int | None = None
    seed: int | None = None
    warm_start: WarmStart | None = None
    study: str | None = None
    storage: str | os.PathLike[str] | None = None
    directory: str | os.PathLike[str] | None = None
    retries: int | None = None
    direction: str | None = None

    def __post_init__(self) -> None:
        if self.space is not None and not isinstance(self.space, Space):
            remedy = "e.g. xs.Space(lr=xs.Float(0, 1))"
            if isinstance(self.space, Mapping):
                remedy = f"wrap it, xs.Space({{…}}), with a parameter for each name, {remedy}"
            elif callable(self.space):
                remedy = f"the objective comes first and the space second, {remedy}"
            raise InvalidArgument("space", "must be an xs.Space", type(self.space).__name__, remedy)
        if self.direction is not None:
            check_word("direction", self.direction, DIRECTIONS)
        goals = self.goals
        for name, member, example in (("searcher", "suggest", "GP()"), ("scheduler", "judge", "ASHA(27)")):
            part = getattr(self, name)
            if part is not None and (isinstance(part, type) or not callable(getattr(part, member, None))):
                remedy = f"e.g. {name}={example}; a name goes into method"
                raise InvalidArgument(name, f"must be a {name}, not a class or a name", part, remedy)
        if self.seed is not None:
            object.__setattr__(self, "seed", checked_seed(self.seed))
        if self.retries is not None:
            object.__setattr__(self, "retries", checked_retries(self.retries))
        if self.constraints is not None:
            check_constraints(self.constraints, goals.metrics if self.metric is not None else ())
        if self.trial_value is not None:
            check_trial_value(self.trial_value, goals)
        listed(self.warm_start)
        check_path("storage", self.storage, "e.g. storage='xstar.db'")
        check_path("directory", self.directory, "e.g. directory='runs'")
        if self.study is not None:
            check_name(self.study)
        elif self.storage is not None:
            remedy = "e.g. study='digits', or leave out storage"
            raise InvalidArgument("study", "a stored study needs a name", None, remedy)

    @property
    def resumable(self) -> bool:
        """Whether a run can go on from a checkpoint: where it cannot, the default method pauses no trial."""
        return True

    @cached_property
    def goals(self) -> Goals:
        """What is minimised or maximised."""
        return read_goals(self.metric, self.direction)

    @cached_property
    def chosen(self) -> Method:
        """What to search with: what was asked for, or what suits the space and the budget."""
        return resolve(self.method, self.searcher, self.scheduler, self.max_budget, self.space, self.resumable)

    def create(self, at: float, program: Mapping[str, Any] | None = None) -> Created:
        """The first event of a new study; ``program`` is a note of how it was begun, for programs that join."""
        if self.space is None:
            raise InvalidArgument(
                "space", "is needed for a new study", None, "e.g. xs.Space(lr=xs.Float(1e-4, 1e-1, log=True))"
            )
        if self.constraints is not None:
            check_constraints(self.constraints, self.goals.metrics)
        method = self.chosen
        if method.why:
            log.info("method %s: %s", method.name, method.why)
        return Created(
            space=self.space.to_json(),
            objectives=[each.to_json() for each in self.goals],
            seed=secrets.randbits(31) if self.seed is None else self.seed,
            searcher=SEARCHERS.dump(method.searcher),
            scheduler=SCHEDULERS.dump(method.scheduler),
            retries=DEFAULT_RETRIES if self.retries is None else self.retries,
            files=f"{self.study or 'study'}-{secrets.token_hex(3)}",
            at=at,
            environment=environment_and_host(),
            constraints=_plain(self.constraints),
            method=method.name,
            why=method.why,
            trial_value=self.trial_value or TRIAL_VALUES[0],
            program=None if program is None else dict(program),
            directory=self._root(),
        )

    def begin(self, at: float, program: Mapping[str, Any] | None = None) -> list[Event]:
        """The first events of a new study: its creation, and what it begins with of others (``warm_start``)."""
        created = self.create(at, program)
        assert self.space is not None
        known = (self.space, self.goals, self.chosen.searcher, created.seed)
        return [created, *prior_studies(self.warm_start, *known, self.storage, at)]

    def _root(self) -> str | None:
        """Where a new study keeps its files, unless that is beside its database."""
        if self.directory is not None:
            return str(Path(self.directory).expanduser().absolute())
        is_file = self.storage is None or Address.of(self.storage).path is not None
        return None if is_file else str(Path(DEFAULT_FOLDER).absolute())

    def parts(self, created: Created) -> tuple[Searcher, Scheduler]:
        """Searcher and scheduler of a stored study; those handed over in this call stand in for what cannot be stored."""
        return (
            _part(SEARCHERS, self.searcher, created.searcher),
            _part(SCHEDULERS, self.scheduler, created.scheduler),
        )

    def check(self, history: History) -> None:
        """Refuse a stored study that differs from what was asked for, listing every difference."""
        found: list[str] = []
        created = history.stored
        if self.space is not None:
            # Parameters in another order are no other space: the study goes on in its own, and configurations have names.
            known = (history.space, *history.wider_spaces)
            different = [self.space.difference(each, in_order=False) for each in known]
            found += [f"space: {line}" for line in different[0] if all(different)]
        wanted: dict[str, Any] = {key: getattr(self, key) for key in ("seed", "retries", "trial_value")}
        wanted["constraints"] = _plain(self.constraints)
        for key, value in wanted.items():
            if value is not None and value != getattr(created, key):
                found.append(f"{key}: {value!r} here, {getattr(created, key)!r} in the stored study")
        found += self._other_goals(created) + self._other_values(history) + self._other_method(created)
        if self.warm_start is not None and (sources := names(self.warm_start)) != history.sources:
            found.append(f"warm_start: {sources} here, {history.sources} in the stored study")
        if found:
            raise StudyMismatch(
                f"study {self.study!r} exists and differs from this call:\n  - " + "\n  - ".join(found) + "\n"
                "Leave out what should stay as stored, choose another study name, or delete the stored study first."
                + self._may_widen(history)
            )

    def _other_goals(self, created: Created) -> list[str]:
        """How what is searched for differs from the stored study; what was left out cannot differ."""
        stored = created.goals
        if self.metric is not None:
            wanted = read_goals(self.metric, self.direction or (stored[0].direction if not stored.several else None))
            return (
                []
                if list(wanted) == list(stored)
                else [f"metric: {wanted.goal!r} here, {stored.goal!r} in the stored study"]
            )
        if self.direction is not None and not stored.several and self.direction != stored[0].direction:
            return [f"direction: {self.direction!r} here, {stored[0].direction!r} in the stored study"]
        return []

    def _other_values(self, history: History) -> list[str]:
        """The first trial whose known objective has another value now: the function has changed."""
        known, functions = history.known_objectives, known_functions(self.metric)
        if known is None:
            return []
        trials = [trial for trial in history.trials if trial.known]
        for trial in trials[:: len(trials) // MOST_COMPARED + 1]:
            for metric in set(trial.known) & set(functions):
                value = known.value(metric, trial.config)
                if not math.isclose(value, trial.known[metric], rel_tol=SAME, abs_tol=SAME):
                    where = f"metric: xs.Known of {metric!r} gives {value:g} for trial {trial.number} here"
                    return [f"{where}, {trial.known[metric]:g} in the stored study"]
        return []

    def _may_widen(self, history: History) -> str:
        if self.space is None or not is_wider(history.space, self.space):
            return ""
        opened = f"xs.Study.open({self.study!r}).widen(space), or `xstar widen {self.study} FILE`"
        return f"\nThe space here holds the stored one: {opened}, lets the study go on in it."

    def _other_method(self, created: Created) -> list[str]:
        """How the method that was asked for differs from the stored one; what was left out cannot differ."""
        named = ("searcher", "scheduler")
        roles = [role for role in named if self.method is not None or getattr(self, role) is not None]
        found = differences(self.chosen, created, roles) if roles else []
        stored = created.scheduler.get("max_budget")
        if self.max_budget is not None and "scheduler" not in roles and self.max_budget != stored:
            found.append(f"max_budget: {self.max_budget} here, {stored} in the stored study")
        return found


def _part(registry: Registry[T], given: T | None, stored: Mapping[str, Any]) -> T:
    """The part that was given, if it is what was stored (it may be of a class of the user's own); else the stored one."""
    if given is not None and registry.dump(given) == registry.completed(stored):
        return given
    return registry.load(stored)


def _plain(constraints: Constraints | None) -> dict[str, Any] | None:
    """The constraints as the journal keeps them: a number is the largest allowed value."""
    made: dict[str, Any] = {}
    for name, bound in (constraints or {}).items():
        sides = {"at_least": bound.low, "at_most": bound.high} if isinstance(bound, Threshold) else {"at_most": bound}
        given = {side: float(limit) for side, limit in sides.items() if limit is not None}
        made[name] = given["at_most"] if list(given) == ["at_most"] else given
    return made or None


def check_name(name: str) -> str:
    """A study's name is also the name of a folder and a word on the command line."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidArgument(
            "study",
            f"a name has 1 to {LONGEST_NAME} letters, digits, '.', '_' or '-', and begins with a letter or digit",
            name,
            "e.g. study='digits-mlp'",
        )
    return name
