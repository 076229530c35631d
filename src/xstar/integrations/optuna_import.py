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
from pathlib import Path
from typing import Any

from xstar.core.clock import wall_clock
from xstar.errors import InvalidArgument, InvalidSpace, UnknownStudy, Words
from xstar.integrations import missing
from xstar.integrations.conditions import conditional
from xstar.integrations.distributions import python_names
from xstar.integrations.optuna import LEARNED, Distributions, merge, objectives, parameter
from xstar.journal.trial import Trial
from xstar.look.exchange import export_events, import_events
from xstar.space import Space
from xstar.storage.address import masked
from xstar.study import Study
from xstar.study.settings import Settings

try:
    import optuna
    from optuna.trial import FrozenTrial, TrialState
    from sqlalchemy.exc import SQLAlchemyError  # which comes with it
except ImportError as error:
    raise missing("optuna_import", "optuna") from error


def import_optuna(url: str, source: str | None, name: str, storage: str | os.PathLike[str]) -> None:
    """Make the study ``name`` in ``storage`` of the study ``source`` at Optuna's storage ``url``."""
    with ExitStack() as end:
        found = _load(url, source, end)
        metric, trials = objectives(found), found.get_trials(deepcopy=False)
    space, names = _space(trials)
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
        study.complete(made, pruned=True)
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


def _space(trials: Sequence[FrozenTrial]) -> tuple[Space, dict[str, str]]:
    """The space of the trials, and Optuna's names → ours; what only some of them have has the condition that explains it."""
    distributions: Distributions = {}
    for trial in trials:
        merge(distributions, trial.distributions)
    if not distributions:
        raise InvalidSpace("study", "must have a trial with a parameter", f"trials={len(trials)}")
    names = python_names(distributions)
    rows = [{names[each]: value for each, value in t.params.items()} for t in trials if t.state in LEARNED]
    declared = {names[each]: parameter(each, given) for each, given in distributions.items()}
    found, unexplained = conditional(declared, rows)
    if unexplained:
        rule = "must be in all trials, or where others have certain values"
        count = sum(unexplained[0] in row for row in rows)
        remedy = "the space of a study of ours is declared"
        raise InvalidSpace(unexplained[0], rule, Words(f"{count} of {len(rows)} trials"), remedy)
    return Space(found), names
