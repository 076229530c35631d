"""xstar finds x★: the hyperparameters and the architecture of a model, with as few, short and parallel runs as possible.

A name is loaded when it is first asked for, so that ``import xstar`` costs next to nothing: programs that only define an
objective, and every worker process, import it, too.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xstar.core.version import VERSION

if TYPE_CHECKING:  # what editors and type checkers see; a test compares it with what follows
    from xstar import (
        errors as errors,
        igo as igo,
        nets as nets,
        registry as registry,
        run as run,
        schedulers as schedulers,
        searchers as searchers,
        testing as testing,
    )
    from xstar.api import maximize as maximize, minimize as minimize
    from xstar.core.environment import show_versions as show_versions
    from xstar.core.goals import Known as Known
    from xstar.errors import Infeasible as Infeasible, Pruned as Pruned, XstarError as XstarError
    from xstar.integrations.define_by_run import from_optuna as from_optuna
    from xstar.journal.trial import State as State, Trial as Trial, Verdict as Verdict
    from xstar.run.programs import Command as Command
    from xstar.run.ray import Ray as Ray
    from xstar.run.running import RunningTrial as RunningTrial
    from xstar.run.settings import Processes as Processes
    from xstar.space import (
        Bits as Bits,
        Bool as Bool,
        Choice as Choice,
        Constant as Constant,
        Domain as Domain,
        Float as Float,
        Int as Int,
        Normal as Normal,
        Ordinal as Ordinal,
        Space as Space,
        at_least as at_least,
        at_most as at_most,
        between as between,
    )
    from xstar.study import Limits as Limits, Study as Study
    from xstar.study.result import Result as Result

__version__ = VERSION

_MODULES = ("errors", "igo", "nets", "registry", "run", "schedulers", "searchers", "testing")
_HOMES = {
    "xstar.api": ("maximize", "minimize"),
    "xstar.core.environment": ("show_versions",),
    "xstar.core.goals": ("Known",),
    "xstar.errors": ("Infeasible", "Pruned", "XstarError"),
    "xstar.run.running": ("RunningTrial",),
    "xstar.run.ray": ("Ray",),
    "xstar.run.settings": ("Processes",),
    "xstar.integrations.define_by_run": ("from_optuna",),
    "xstar.run.programs": ("Command",),
    "xstar.space": (
        *("Bits", "Bool", "Choice", "Constant", "Domain", "Float", "Int", "Normal", "Ordinal", "Space"),
        *("at_least", "at_most", "between"),
    ),
    "xstar.study": ("Limits", "Study"),
    "xstar.study.result": ("Result",),
    "xstar.journal.trial": ("State", "Trial", "Verdict"),
}
_ELSEWHERE = {
    "SearchCV": "xstar.integrations.sklearn",
    "Sampler": "xstar.integrations.optuna",
    "Distributed": "xstar.integrations.distributed",
}
"""What is looked for here, and needs a library of its own."""
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [*_MODULES, *_HOME]

if not TYPE_CHECKING:  # to a type checker it would mean that every name exists

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"xstar.{name}")
        if name not in _HOME:
            there = f"; from {_ELSEWHERE[name]} import {name}" if name in _ELSEWHERE else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{there}")
        found = globals()[name] = getattr(import_module(_HOME[name]), name)
        return found

    def __dir__() -> list[str]:
        return sorted([*__all__, "__version__"])
