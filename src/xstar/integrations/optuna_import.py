"""``xstar import --optuna sqlite:///…``: a study of Optuna with its distributions, values, intermediate values and states.

The trials are told to a study of ours one by one, as configurations that a user wanted tried, so that the journal is like any
other and its audit comes out clean. A parameter that only some trials have gets the condition that explains it
(``conditions.py``); a study in which none does is refused by name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from xstar.core.clock import wall_clock
from xstar.errors import InvalidArgument, InvalidSpace, UnknownStudy, Words
from xstar.integrations import missing
from xstar.integrations.conditions import when_asked
from xstar.integrations.optuna import objectives, parameter, python_names
from xstar.journal.trial import Trial
from xstar.look.exchange import export_events, import_events
from xstar.space import Space
from xstar.storage.address import masked
from xstar.study import Study
from xstar.study.settings import Settings

try:
    import optuna
    from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
    from optuna.trial import FrozenTrial, TrialState
    from sqlalchemy.exc import SQLAlchemyError  # which comes with it
except ImportError as error:
    raise missing("optuna_import", "optuna") from error


def import_optuna(url: str, source: str | None, name: str, storage: str | os.PathLike[str]) -> None:
    """Make the study ``name`` in ``storage`` of the study ``source`` at Optuna's storage ``url``."""
    with ExitStack() as end:
        found = _load(url, source, end)
        metric, trials = objectives(found), found.get_trials(deepcopy=False)
    distributions = _merged(trials)
    names = python_names(distributions)
    space = Space(_parameters(distributions, trials))
    now = [min((each.datetime_start.timestamp() for each in trials if each.datetime_start), default=wall_clock())]
    with Study._of(Settings(space, metric=metric, method="auto", seed=0), clock=lambda: now[0]) as study:
        for trial in sorted(trials, key=lambda each: each.number):
            _tell(study, trial, names, now)
        import_events(export_events(study), name, storage)


def _load(url: str, source: str | None, end: ExitStack) -> optuna.Study:
    where, rule = masked(url), "must be the URL of a storage of Optuna that exists"
    file = url.removeprefix("sqlite:///")
    if file != url and not Path(file).is_file():  # Optuna would make it
        raise InvalidArgument("--optuna", rule, where, "e.g. sqlite:///optuna.db")
    try:
        storage = optuna.storages.RDBStorage(url)
        end.callback(storage.engine.dispose)
        end.callback(storage.remove_session)
        known = optuna.get_all_study_names(storage)
    except (SQLAlchemyError, ImportError, RuntimeError, ValueError) as error:
        remedy = f"e.g. sqlite:///optuna.db ({type(error).__name__} was raised)"
        raise InvalidArgument("--optuna", rule, where, remedy) from None
    if source is None and len(known) == 1:
        source = known[0]
    if source is None or source not in known:
        shown = ", ".join(known) or "none"
        raise UnknownStudy(
            f"{where} has no study {source!r}; it has {shown}: name one, `xstar import NAME --optuna {where} …`"
        )
    return optuna.load_study(study_name=source, storage=storage)


def _tell(study: Study, trial: FrozenTrial, names: dict[str, str], now: list[float]) -> None:
    """One of Optuna's trials, at the times at which it began and ended."""
    if trial.datetime_start is not None:
        now[0] = max(now[0], trial.datetime_start.timestamp())
    fixed = trial.system_attrs.get("fixed_params", {}) if trial.state == TrialState.WAITING else trial.params
    config = {names[each]: value for each, value in fixed.items() if each in names}
    if trial.state == TrialState.WAITING:
        study.enqueue(config)
        return
    if not study.space.is_complete(study.space.parse_partial(config)):
        return  # it ended before it had asked for all of its parameters: there is no configuration to speak of
    study.enqueue(config)
    made = study.ask()
    assert made is not None
    _note(study, made, trial)
    _report(study, made, trial.intermediate_values)
    if trial.datetime_complete is not None:
        now[0] = max(now[0], trial.datetime_complete.timestamp())
    if trial.state == TrialState.COMPLETE:
        values = dict(zip(study.goals.metrics, trial.values, strict=True))
        if made.reports and made.reports[-1].metrics == values:
            study.complete(made)
        else:
            study.tell(made, values)
    elif trial.state == TrialState.PRUNED:
        study.fail(made, f"pruned by Optuna after {len(trial.intermediate_values)} reports")
    elif trial.state == TrialState.FAIL:
        study.fail(made, f"failed in Optuna: {trial.system_attrs.get('fail_reason', 'no reason on record')}")


def _report(study: Study, made: Trial, values: dict[int, float]) -> None:
    first = min(values, default=1)
    for step, value in sorted(values.items()):
        if value == value and abs(value) != float("inf"):  # a NaN on the way would end the trial here
            study.report(made, value, step + max(0, 1 - first))


def _note(study: Study, made: Trial, trial: FrozenTrial) -> None:
    attrs: dict[str, Any] = {"optuna": trial.number}
    for key, value in trial.user_attrs.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            value = repr(value)
        attrs[key] = value
    study.annotate(made, attrs)


# ---------------------------------------------------------------- the space


def _merged(trials: Sequence[FrozenTrial]) -> dict[str, BaseDistribution]:
    """The distributions by name; one whose range changed has the range of all."""
    found: dict[str, BaseDistribution] = {}
    for trial in trials:
        for name, given in trial.distributions.items():
            found[name] = _both(name, found[name], given) if name in found else given
    if not found:
        raise InvalidSpace("study", "must have a trial with a parameter", f"trials={len(trials)}")
    return found


def _both(name: str, first: Any, second: Any) -> Any:
    if first == second:
        return first
    kinds: tuple[Any, ...] = (FloatDistribution, IntDistribution)
    for kind in kinds:
        if not (isinstance(first, kind) and isinstance(second, kind)):
            continue
        same = (first.log, first.step) == (second.log, second.step)
        if same and first.step in (None, 1):  # grids of other steps may begin at different places
            return kind(min(first.low, second.low), max(first.high, second.high), log=first.log, step=first.step)
    rule, remedy = "must be the same in all trials", "the space of a study of ours does not change"
    raise InvalidSpace(name, rule, f"{first} and then {second}", remedy)


def _parameters(distributions: dict[str, BaseDistribution], trials: Sequence[FrozenTrial]) -> dict[str, Any]:
    """The parameters; those that only some of the trials have with the condition that explains it."""
    whole = [trial.params for trial in trials if trial.state in (TrialState.COMPLETE, TrialState.PRUNED)]
    names = python_names(distributions)
    made: dict[str, Any] = {each: parameter(each, given) for each, given in distributions.items()}
    found: dict[str, Any] = {}
    for each, given in made.items():
        when = when_asked(each, whole, made)
        if when is None:
            rule = "must be in all trials, or where others have certain values"
            count = sum(each in row for row in whole)
            remedy = "the space of a study of ours is declared"
            raise InvalidSpace(each, rule, Words(f"{count} of {len(whole)} trials"), remedy)
        conditions = {names[parent]: condition for parent, condition in when.items()}
        found[names[each]] = replace(given, when=conditions) if conditions else given
    return found
