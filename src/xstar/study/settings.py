"""What a study is, as opposed to what happened in it: the event that creates it, and whether another call means the same."""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from xstar.core.environment import environment_and_host
from xstar.core.goals import Metric, read_goals
from xstar.core.registry import Registry
from xstar.errors import InvalidArgument, StudyMismatch
from xstar.journal import History
from xstar.journal.events import Created, Event
from xstar.journal.rules import (
    BEST,
    DIRECTIONS,
    check_best,
    check_constraints,
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

LONGEST_NAME = 100
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{LONGEST_NAME - 1}}}")


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller asked for; ``None`` means "as stored", or the default for a new study."""

    space: Space | None = None
    method: str | None = None
    searcher: Searcher | None = None
    scheduler: Scheduler | None = None
    max_budget: int | None = None
    metric: Metric | None = None
    direction: str | None = None
    seed: int | None = None
    retries: int | None = None
    constraints: Constraints | None = None
    best: str | None = None
    program: Mapping[str, Any] | None = None
    """Noted when a study is made; a later call may run it in another way."""
    warm_start: WarmStart | None = None
    directory: str | os.PathLike[str] | None = None
    """Noted when a study is made; a later call may have its files elsewhere."""
    resumable: bool = True
    """Whether a run can go on from a checkpoint: where it cannot, the default method pauses no trial."""

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
        goals = read_goals(self.metric, self.direction)
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
        if self.best is not None:
            check_best(self.best, goals)
        listed(self.warm_start)

    def chosen(self) -> Method:
        """What to search with: what was asked for, or what suits the space and the budget."""
        return resolve(self.method, self.searcher, self.scheduler, self.max_budget, self.space, self.resumable)

    def create(self, name: str | None, at: float) -> Created:
        """The first event of a new study."""
        if self.space is None:
            raise InvalidArgument(
                "space", "is needed for a new study", None, "e.g. xs.Space(lr=xs.Float(1e-4, 1e-1, log=True))"
            )
        goals = read_goals(self.metric, self.direction)
        if self.constraints is not None:
            check_constraints(self.constraints, goals.metrics)
        method = self.chosen()
        if method.why:
            log.info("method %s: %s", method.name, method.why)
        return Created(
            space=self.space.to_json(),
            objectives=[each.to_json() for each in goals],
            seed=secrets.randbits(31) if self.seed is None else self.seed,
            searcher=SEARCHERS.dump(method.searcher),
            scheduler=SCHEDULERS.dump(method.scheduler),
            retries=DEFAULT_RETRIES if self.retries is None else self.retries,
            files=f"{name or 'study'}-{secrets.token_hex(3)}",
            at=at,
            environment=environment_and_host(),
            constraints=_plain(self.constraints),
            method=method.name,
            why=method.why,
            best=self.best or BEST[0],
            program=None if self.program is None else dict(self.program),
        )

    def begin(self, name: str | None, storage: Any, at: float) -> list[Event]:
        """The first events of a new study: its creation, and what it begins with of others (``warm_start``)."""
        created = replace(self.create(name, at), directory=self._root(name, storage))
        assert self.space is not None
        known = (self.space, created.goals, self.chosen().searcher, created.seed)
        return [created, *prior_studies(self.warm_start, *known, storage, at)]

    def _root(self, name: str | None, storage: Any) -> str | None:
        """Where a new study keeps its files, unless that is beside its database."""
        if self.directory is not None:
            return str(Path(self.directory).expanduser().absolute())
        is_file = name is None or storage is None or Address.of(storage).path is not None
        return None if is_file else str(Path(DEFAULT_FOLDER).absolute())

    def parts(self, created: Created) -> tuple[Searcher, Scheduler]:
        """Searcher and scheduler of a stored study; those handed over in this call stand in for what cannot be stored."""
        return (
            _part(SEARCHERS, self.searcher, created.searcher),
            _part(SCHEDULERS, self.scheduler, created.scheduler),
        )

    def check(self, history: History, name: str) -> None:
        """Refuse a stored study that differs from what was asked for, listing every difference."""
        found: list[str] = []
        created = history.stored
        if self.space is not None:
            # Parameters in another order are no other space: the study goes on in its own, and configurations have names.
            known = (history.space, *history.wider_spaces)
            different = [self.space.difference(each, in_order=False) for each in known]
            found += [f"space: {line}" for line in different[0] if all(different)]
        wanted: dict[str, Any] = {key: getattr(self, key) for key in ("seed", "retries", "best")}
        wanted["constraints"] = _plain(self.constraints)
        for key, value in wanted.items():
            if value is not None and value != getattr(created, key):
                found.append(f"{key}: {value!r} here, {getattr(created, key)!r} in the stored study")
        found += self._other_goals(created) + self._other_method(created)
        if self.warm_start is not None and (sources := names(self.warm_start)) != history.sources:
            found.append(f"warm_start: {sources} here, {history.sources} in the stored study")
        if found:
            raise StudyMismatch(
                f"study {name!r} exists and differs from this call:\n  - " + "\n  - ".join(found) + "\n"
                "Leave out what should stay as stored, choose another study name, or delete the stored study first."
                + self._may_widen(history, name)
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

    def _may_widen(self, history: History, name: str) -> str:
        if self.space is None or not is_wider(history.space, self.space):
            return ""
        opened = f"xs.Study.open({name!r}).widen(space)"
        return f"\nThe space here holds the stored one: {opened}, or `xstar widen {name} FILE`, lets the study go on in it."

    def _other_method(self, created: Created) -> list[str]:
        """How the method that was asked for differs from the stored one; what was left out cannot differ."""
        named = ("searcher", "scheduler")
        roles = [role for role in named if self.method is not None or getattr(self, role) is not None]
        found = differences(self.chosen(), created, roles) if roles else []
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
