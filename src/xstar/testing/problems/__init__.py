"""Problems with known optima: what searchers and schedulers are compared on.

Reading order: ``base.py`` (the contract), ``synthetic.py`` and ``curves.py`` (no file needed), ``tabular.py`` (how a table
answers), then one module per data set. Tables are read when a problem is made, once per process.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from xstar.errors import InvalidArgument
from xstar.testing.problems import curves, data, electricity, hpolib, klein, lcbench, nasbench201, synthetic
from xstar.testing.problems.base import Curve as Curve, Entry as Entry, Problem as Problem

_ENTRIES: dict[str, Entry] = {
    **synthetic.ENTRIES,
    **curves.ENTRIES,
    **nasbench201.ENTRIES,
    **lcbench.ENTRIES,
    **klein.ENTRIES,
    **electricity.ENTRIES,
    **hpolib.ENTRIES,
}


def names() -> list[str]:
    """The names of all problems, whether their data is here or not."""
    return list(_ENTRIES)


def get(name: str, **options: Any) -> Problem:
    """The problem of that name.

    >>> get("branin").optimum
    0.3978873577297384
    >>> get("curves-mlp", max_budget=27).budgets[-1]
    27
    """
    make = _entry(name).make
    known = [p.name for p in inspect.signature(make).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if unknown := sorted(set(options) - set(known)):
        rule = f"{name} takes {', '.join(known)}" if known else f"{name} takes none"
        raise InvalidArgument("options", rule, unknown, "leave them out")
    return make(**options)


def missing(name: str) -> str:
    """What keeps a problem from being made here, in words; empty where nothing does."""
    entry = _entry(name)
    files = [file for file in entry.files if not data.present(file)]
    packages = [package for package in entry.packages if find_spec(package) is None]
    parts = [f"no {', '.join(files)} in {data.folder()} (set {data.VARIABLE})"] if files else []
    parts += [f"{', '.join(packages)} not installed (pip install '.[benchmarks]')"] if packages else []
    return "; ".join(parts)


def available(name: str) -> bool:
    """Whether the data of a problem, and what it takes to read it, is here."""
    return not missing(name)


def register(name: str, make: Callable[..., Problem], files: Sequence[str] = ()) -> None:
    """Make a problem of your own known under ``name``; its keyword-only parameters become options of ``get``."""
    if name in _ENTRIES:
        raise InvalidArgument("name", "must not be taken", name, "choose another one")
    _ENTRIES[name] = Entry(make, tuple(files))


def _entry(name: str) -> Entry:
    entry = _ENTRIES.get(name)
    if entry is None:
        close = difflib.get_close_matches(str(name), _ENTRIES, n=3)
        remedy = f"did you mean {' or '.join(close)}?" if close else "see xstar.testing.problems.names()"
        raise InvalidArgument("name", f"must be one of {', '.join(_ENTRIES)}", name, remedy)
    return entry
