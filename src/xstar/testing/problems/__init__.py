"""Problems with known optima: what searchers and schedulers are compared on.

Reading order: ``base.py`` (the contract), ``synthetic.py`` (functions) and ``curves.py`` (simulated learning curves).
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from xstar.errors import InvalidArgument
from xstar.testing.problems import curves, synthetic
from xstar.testing.problems.base import Curve as Curve, Problem as Problem

_MAKERS: dict[str, Callable[..., Problem]] = {**synthetic.ENTRIES, **curves.ENTRIES}


def names() -> list[str]:
    """The names of all problems that are registered."""
    return list(_MAKERS)


def get(name: str, **options: Any) -> Problem:
    """The problem of that name.

    >>> get("branin").optimum
    0.3978873577297384
    >>> get("curves-mlp", max_budget=27).budgets[-1]
    27
    """
    make = _MAKERS.get(name)
    if make is None:
        close = difflib.get_close_matches(str(name), _MAKERS, n=3)
        remedy = f"did you mean {' or '.join(close)}?" if close else "see xstar.testing.problems.names()"
        raise InvalidArgument("name", f"must be one of {', '.join(_MAKERS)}", name, remedy)
    known = [p.name for p in inspect.signature(make).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if unknown := sorted(set(options) - set(known)):
        rule = f"{name} takes {', '.join(known)}" if known else f"{name} takes none"
        raise InvalidArgument("options", rule, unknown, "leave them out")
    return make(**options)


def register(name: str, make: Callable[..., Problem]) -> None:
    """Make a problem of your own known under ``name``; its keyword-only parameters become options of ``get``."""
    if name in _MAKERS:
        raise InvalidArgument("name", "must not be taken", name, "choose another one")
    _MAKERS[name] = make
