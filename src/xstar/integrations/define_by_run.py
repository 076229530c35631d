"""``xs.from_optuna(objective)``: an objective that asks ``trial.suggest_float(…)`` as one of ours.

Its space is found by dry runs: the objective is called with values of our choosing until it reports or returns, once with the
lower ends and the first options, once with the upper ends and the last. Where the two ask for different things, it is called
once for every value of what has few values, and a parameter that only some runs ask for gets the condition that explains it
(``conditions.py``). What no condition explains is refused by its name, and so is, later, a trial that asks for anything else.
Optuna need not be installed.
"""

from __future__ import annotations

import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

from xstar.errors import InvalidArgument, InvalidSpace, ObjectiveError, Pruned, Words
from xstar.integrations.conditions import conditional, has_few_values, in_words
from xstar.integrations.distributions import identifier, number_range, one_of, python_names
from xstar.space import Parameter, Space

Objective = Callable[[Any], Any]
REMEDY = "declare an xs.Space, with when= for what depends on another parameter, and pass it as space=…"

MOST_RUNS = 100
"""Dry runs: an objective that trains before it returns would take too long."""

log = logging.getLogger("xstar")


class FromOptuna:
    """The objective as a search of ours calls it, and its ``space``."""

    resumable = False
    """Nothing of an Optuna trial keeps a checkpoint, so a paused trial would begin again."""

    def __init__(self, objective: Objective, space: Space, names: Mapping[str, str] | None = None) -> None:
        self._objective = objective
        self._names = names or {}
        self.space = space
        """What the objective asks for."""

    def __call__(self, trial: Any) -> Any:
        asked = Asking(self.space, trial, self._names)
        try:
            returned = self._objective(asked)
        except Exception as error:
            if _is_pruned(error):
                asked.conclude(None)
                raise Pruned(f"trial {trial.number} ends here") from None
            raise
        if left := [name for name in trial.config if name not in asked.asked]:
            raise not_static(left[0], "asked for by every trial", Words(f"trial {trial.number} without it"))
        if isinstance(returned, tuple | list):
            return dict(zip(value_names(len(returned)), returned, strict=True))
        return asked.conclude(returned)


def value_names(count: int) -> list[str]:
    """What the objectives of Optuna are called here where they have no names: ``value_0`` and so on."""
    return [f"value_{place}" for place in range(count)]


def from_optuna(objective: Objective, *, space: Space | None = None) -> FromOptuna:
    """Take an Optuna objective as it is: ``ported = xs.from_optuna(objective)``, ``xs.minimize(ported, ported.space, …)``.

    The objective is called twice to find its space; where these differ, it is called once more for each value of its options
    and small integers. Each call ends at the objective's first report, or when it returns: one that does
    not report is evaluated. A ``space`` of your own spares all of that. Names become Python identifiers: ``lr/max`` is
    ``lr_max``, ``lambda`` is ``lambda_``. Several values that it returns are the metrics ``value_0``, ``value_1`` and so on.
    """
    if space is not None:
        if not isinstance(space, Space):
            raise InvalidArgument("space", "must be an xs.Space", type(space).__name__)
        return FromOptuna(objective, space)
    runs = [_dry_run(objective, place, {}) for place in (0.0, 1.0)]
    if any(set(run.params) != set(runs[0].params) for run in runs):
        _explore(objective, runs)
    found = _same(runs)
    if not found:
        raise InvalidSpace(
            "objective", "must ask for a parameter before it first reports", "no trial.suggest_…=", REMEDY
        )
    names = python_names(found)
    rows = [{names[name]: value for name, value in run.params.items()} for run in runs]
    return FromOptuna(objective, _learned({names[name]: given for name, given in found.items()}, rows), names)


def _dry_run(objective: Objective, place: float, fixed: dict[str, Any]) -> Probe:
    probe = Probe(place, fixed)
    try:
        objective(probe)
    except _EnoughSeen:
        pass
    except Exception as error:
        if not _is_pruned(error):
            raise ObjectiveError(f"the dry run that finds the space failed: {type(error).__name__}: {error}") from error
    return probe


def _explore(objective: Objective, runs: list[Probe]) -> None:
    """One more run for each value of a parameter with few values, the others as in the first run that asked for it.

    A value that another run had counts only where all others were as in the first: of two parameters that differ together,
    either would explain what was asked for.
    """
    seen = set(runs[0].params.items())
    for run in runs:  # it grows meanwhile: further runs may ask for further parameters
        for name, given in run.asked.items():
            if not has_few_values(given):
                continue
            for value in map(given.value_at, range(int(given.size))):
                if (name, value) in seen or value == run.params[name]:
                    continue
                if len(runs) >= MOST_RUNS:
                    rule = f"must show what it asks for within {MOST_RUNS} dry runs"
                    raise InvalidSpace(name, rule, Words(f"{given.size} values, beside those of others"), REMEDY)
                made = _dry_run(objective, 0.0, {**run.params, name: value})
                runs.append(made)
                seen |= set(made.params.items())


def _same(runs: Sequence[Probe]) -> dict[str, Parameter]:
    """What the dry runs asked for, the same wherever it was."""
    for name in dict.fromkeys(name for run in runs for name in run.asked):
        given = [run.asked[name] for run in runs if name in run.asked]
        for other in given[1:]:
            if Space({"x": given[0]}) != Space({"x": other}):
                raise not_static(name, "the same in every trial", Words(f"{given[0]!r} and {other!r}"))
    return {name: given for run in runs for name, given in run.asked.items()}


def _learned(found: dict[str, Parameter], rows: list[dict[str, Any]]) -> Space:
    """The space with the conditions that explain which runs asked for what; it says which these are."""
    made, unexplained = conditional(found, rows)
    if unexplained:
        found_in = Words(f"{sum(unexplained[0] in row for row in rows)} of {len(rows)} dry runs did")
        raise not_static(unexplained[0], "asked for by every trial, or where others have certain values", found_in)
    told = [in_words(name, given.when) for name, given in made.items() if given.when]
    if told:
        log.warning(
            "from %d dry runs, xs.from_optuna takes it that the objective asks for %s", len(rows), "; ".join(told)
        )
    return Space(made)


def not_static(name: str, rule: str, found: str) -> InvalidSpace:
    """What is said of an objective whose space is not the same in every trial."""
    return InvalidSpace(name, f"must be {rule}", found, REMEDY)


def _is_pruned(error: Exception) -> bool:
    """Whether it is Optuna's ``TrialPruned``; whoever raises it has imported Optuna."""
    optuna = sys.modules.get("optuna")
    return optuna is not None and isinstance(error, optuna.TrialPruned)


class _EnoughSeen(BaseException):
    """Ends a dry run; no ``Exception``, so that no objective catches it by accident."""


class _Suggests(ABC):
    """The ``suggest_…`` of an Optuna trial (abstract)."""

    params: dict[str, Any]

    @abstractmethod
    def _value(self, name: str, parameter: Parameter) -> Any:
        """What the objective gets for a parameter that it asks for."""

    def suggest_float(
        self, name: str, low: float, high: float, *, step: float | None = None, log: bool = False
    ) -> float:
        return float(self._value(name, number_range(low, high, whole=False, log=log, step=step)))

    def suggest_int(self, name: str, low: int, high: int, *, step: int = 1, log: bool = False) -> int:
        return int(self._value(name, number_range(low, high, whole=True, log=log, step=step)))

    def suggest_categorical(self, name: str, choices: Sequence[Any]) -> Any:
        return self._value(name, one_of(choices))

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ObjectiveError(f"trial.{name} of Optuna has no counterpart; rewrite this line for xstar")


class Probe(_Suggests):
    """What an objective is handed in a dry run."""

    def __init__(self, place: float, fixed: dict[str, Any]) -> None:
        self.asked: dict[str, Parameter] = {}
        self.params = {}
        self.number = 0
        self.user_attrs: dict[str, Any] = {}
        self._place = place
        self._fixed = fixed

    def _value(self, name: str, parameter: Parameter) -> Any:
        if name not in self.params:
            self.asked[name] = parameter
            cells = [self._place * (1 - 1e-9)] * max(1, parameter.draws)
            drawn = parameter.drawer(0)(cells)
            fixed = self._fixed.get(name, drawn)
            self.params[name] = fixed if parameter.contains(fixed) else drawn
        return self.params[name]

    def report(self, value: float, step: int) -> NoReturn:
        raise _EnoughSeen

    def should_prune(self) -> NoReturn:
        raise _EnoughSeen

    def set_user_attr(self, key: str, value: Any) -> None:
        self.user_attrs[key] = value


class Asking(_Suggests):
    """What an objective is handed in a search: one of our trials with the methods of Optuna's."""

    def __init__(self, space: Space, trial: Any, names: Mapping[str, str]) -> None:
        self.params = {}
        self.asked: set[str] = set()
        """What was asked for, by our names."""
        self._names = names
        self.number = trial.number
        self.user_attrs: dict[str, Any] = {}
        self._space, self._trial, self._ended = space, trial, False
        self._count, self._held = 0, False
        self._last: Any = None

    def _value(self, name: str, parameter: Parameter) -> Any:
        ours = self._names.get(name, identifier(name))
        if ours not in self._trial.config:
            raise not_static(
                name, "asked for by every trial", Words(f"trial {self.number} asks for it, and no dry run like it did")
            )
        if Space({"x": parameter}) != Space({"x": replace(self._space[ours], when=None)}):  # type: ignore[type-var]
            raise not_static(name, "the same in every trial", Words(f"{parameter!r} in trial {self.number}"))
        self.asked.add(ours)
        self.params[name] = self._trial[ours]
        return self.params[name]

    def report(self, value: float, step: int) -> None:
        """Reports are counted: each is one unit of budget, whatever its step is called.

        The one at full budget is held back until the objective returns its value, or reports again.
        """
        if self._ended:
            return
        try:
            if self._held:
                self._send(self._last)
            self._count, self._last = self._count + 1, value
            self._held = self._trial.start + self._count == self._trial.max_budget
            if not self._held:
                self._send(value)
        except Pruned:
            self._ended = True  # should_prune says so, and the objective raises TrialPruned

    def _send(self, value: Any) -> None:
        self._held = False
        self._trial.report(value)

    def conclude(self, returned: Any) -> Any:
        """What the objective returned is the trial's value, as in Optuna, and what is left to return here.

        It takes the place of the report at full budget; below that, unless it was reported last, it is one more report. After
        the end it counts no more.
        """
        if not self._count:
            return returned
        if self._held:
            self._send(self._last if returned is None else returned)
        elif not self._ended and returned is not None and returned != self._last:
            self._send(returned)
        return None

    def should_prune(self) -> bool:
        return self._ended

    def set_user_attr(self, key: str, value: Any) -> None:
        self.user_attrs[key] = value
        self._trial.note(key, value)
