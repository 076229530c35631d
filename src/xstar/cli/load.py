"""A file as a search: its objective, its space, its settings. A Python file is run; a TOML file is read (``experiment.py``)."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from xstar.errors import InvalidArgument, ObjectiveError
from xstar.run import Objective
from xstar.space import Space

DEFAULT_SPACE = "space"
OBJECTIVES = ("objective", "train")
"""What an objective may be called so that it need not be named."""
OTHERS = "check the path; what runs a program in any language is a TOML file, and `xstar init` writes one"


@dataclass(frozen=True, slots=True)
class Program:
    """What a file says about a search."""

    path: Path
    objective: Objective
    space: Space
    settings: Mapping[str, Any]
    """The file's ``settings = {…}``: defaults for what the command line leaves open."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """On which line a setting stands, where that is known."""
    names: tuple[str | None, str | None] = (None, None)
    """What the objective and the space are called in the file, where they were chosen by name."""

    def note(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """What the journal keeps, so that other programs can join: where the file is, and how it was called."""
        objective, space = self.names
        noted = {"file": str(self.path.absolute()), "objective": objective, "space": space, "options": dict(options)}
        return {name: value for name, value in noted.items() if value}


def load(target: str, space: str) -> Program:
    """Run the file of ``FILE[:objective]`` and take its parts."""
    path, name = _split(target)
    if path.suffix == ".toml" and name is None:
        from xstar.cli.experiment import load_experiment  # which needs this module

        return load_experiment(path)
    module = _module(path)
    settings = getattr(module, "settings", {})
    if not isinstance(settings, Mapping):
        raise InvalidArgument(
            f"settings in {path}", "must be a dictionary", settings, 'e.g. settings = {"trials": 100}'
        )
    found = _objective(module, path, name), _space(module, path, space)
    return Program(path, *found, settings, names=(name, space if space != DEFAULT_SPACE else None))


def _split(target: str) -> tuple[Path, str | None]:
    path, name = Path(target), None
    if not path.exists() and ":" in target:
        before, _, name = target.rpartition(":")
        path = Path(before)
    if not path.is_file():
        raise InvalidArgument("FILE", "must be a Python file, FILE:objective, or a TOML file", target, OTHERS)
    return path, name


def _module(path: Path) -> ModuleType:
    """The file as a module that worker processes need not import: it is sent to them by value."""
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python FILE` does; workers get the same sys.path
    name = path.stem
    if not name.isidentifier() or name in sys.modules or name in sys.stdlib_module_names:
        name = "xstar_file_" + re.sub(r"\W", "_", name)  # not to stand in the way of a module that others import
    spec = importlib.util.spec_from_file_location(name, path.absolute())
    if spec is None or spec.loader is None:
        raise InvalidArgument("FILE", "must be a Python file (its name ends in .py) or a TOML file", str(path), OTHERS)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise ObjectiveError(f"{path} cannot be loaded:\n{_trace(error, path)}") from error
    cloudpickle.register_pickle_by_value(module)
    return module


def _trace(error: BaseException, path: Path) -> str:
    """The traceback from the user's file on: what happened before that is our business."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != str(path.absolute()):
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace)
    if isinstance(error, SystemExit):
        lines.append('(put what shall not run here under `if __name__ == "__main__":`)')
    return "".join(lines).strip()


def _objective(module: ModuleType, path: Path, name: str | None) -> Objective:
    if name is not None:
        named: Objective | None = getattr(module, name, None)
        if not callable(named):
            raise ObjectiveError(f"{path} has no function {name!r}; it has: {_functions(module)}")
        return named
    candidates = [name for name in OBJECTIVES if callable(getattr(module, name, None))]
    if len(candidates) == 1:
        only: Objective = getattr(module, candidates[0])
        return only
    if candidates:
        raise ObjectiveError(f"{path} has {' and '.join(candidates)}; say which: {path}:{candidates[0]}")
    raise ObjectiveError(
        f"{path} has no function called {' or '.join(OBJECTIVES)}; name yours, as in {path}:NAME; it has: {_functions(module)}"
    )


def _functions(module: ModuleType) -> str:
    own = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    return ", ".join(own) or "no functions"


def _space(module: ModuleType, path: Path, name: str) -> Space:
    found = getattr(module, name, None)
    if isinstance(found, Space):
        return found
    others = [other for other, value in vars(module).items() if isinstance(value, Space)]
    remedy = f"pass --space {others[0]}" if others else f"write {name} = xs.Space(lr=xs.Float(1e-4, 1e-1, log=True))"
    shown = "nothing of that name" if found is None else type(found).__name__
    raise InvalidArgument(f"{name} in {path}", "must be an xs.Space", shown, remedy)
