"""A TOML file as a search: ``[program]`` is what to run, ``[space]`` what may be tried, ``[settings]`` how to search.

The keys of ``[program]`` are the fields of :class:`xstar.run.programs.Command`, those of ``[settings]`` the keywords of
``xs.minimize``: neither is listed here. Every error names the file and the line.
"""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from xstar.cli.experiment_space import EXAMPLE, read_parameter, read_threshold
from xstar.cli.load import Program
from xstar.cli.options import FORMS, file_keys
from xstar.core.checks import nearest
from xstar.core.registry import Registry
from xstar.errors import InvalidArgument
from xstar.run.programs import Command
from xstar.run.programs.placeholders import check_names, names_in
from xstar.schedulers import SCHEDULERS
from xstar.searchers import SEARCHERS
from xstar.space import Space

SECTIONS = ("program", "space", "settings")
PARTS: Mapping[str, Registry[Any]] = {"searcher": SEARCHERS, "scheduler": SCHEDULERS}
OF_PROGRAM = [each.name for each in fields(Command) if each.name != "metric"]
COMMAND = 'e.g. command = "python train.py --lr {lr}"'


def load_experiment(path: Path) -> Program:
    """The search that a file describes."""
    return _File(path).program()


class _File:
    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            text = path.read_text(encoding="utf-8")
            self.data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise _broken(path, text, error) from None
        except RecursionError:
            rule = "must not nest lists or tables in hundreds of levels"
            raise InvalidArgument("FILE", rule, str(path), "a value of a parameter may have 50") from None
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidArgument("FILE", f"must be a text file that can be read ({error})", str(path)) from None
        self.lines = key_lines(text)

    def program(self) -> Program:
        self._check_sections()
        with self._at("space"):
            space = self._space()
        command = self._command()
        for place, texts in (("command", command.words()), ("env", list(command.env.values()))):
            with self._at("program", place):
                check_names(texts, list(space))
        lines = {keys[1]: line for keys, line in self.lines.items() if keys[:1] == ("settings",) and len(keys) == 2}
        return Program(self.path, command, space, self._settings(), lines)

    # ------------------------------------------------------------ sections

    def _check_sections(self) -> None:
        for name in self.data:
            if name not in SECTIONS:
                remedy = nearest(name, SECTIONS)
                rule = f"the file may have {', '.join(f'[{section}]' for section in SECTIONS)}"
                raise self._error((name,), rule, f"{name} = …", remedy)
        for name in SECTIONS:
            if not isinstance(self.data.get(name, {}), dict):
                raise self._error((name,), "must be a table", self.data[name], f"write [{name}] on a line of its own")
        for name, remedy in (("program", COMMAND), ("space", EXAMPLE)):
            if not self.data.get(name):
                raise InvalidArgument(str(self.path), f"must have a section [{name}]", sorted(self.data), remedy)

    def _check_keys(self, section: str, allowed: Sequence[str], other: str, theirs: Sequence[str]) -> None:
        for key in self.data.get(section, {}):
            if key not in allowed:
                remedy = nearest(key, allowed)
                if key in theirs:
                    remedy = f"it goes into [{other}]" + (f"; or {remedy}" if "did you mean" in remedy else "")
                raise self._error((section, key), f"may have {', '.join(allowed)}", f"{key} = …", remedy)

    def _space(self) -> Space:
        made = {}
        for name, given in self.data["space"].items():
            with self._at("space", name):
                made[name] = read_parameter(name, given)
        try:
            return Space(made)
        except InvalidArgument as error:  # about one of them: a name, or a condition
            named = [name for name in made if name == error.found or error.argument.split(".")[0] == name]
            raise self._wrapped(error, "space", *named[:1]) from None

    def _command(self) -> Command:
        given = self.data["program"]
        self._check_keys("program", OF_PROGRAM, "settings", file_keys())
        if "command" not in given:
            raise self._error(("program",), "must have a command", sorted(given), COMMAND)
        folder = self.path.absolute().parent / given.get("directory", ".")
        try:
            command = Command(**{**given, "directory": str(folder)})
        except InvalidArgument as error:
            raise self._wrapped(error, "program", error.argument) from None
        if not folder.is_dir():
            raise self._error(("program", "directory"), "must be a folder", str(folder))
        self._check_found(command, folder)
        return command

    def _check_found(self, command: Command, folder: Path) -> None:
        """A program that is not there is noticed before the first trial."""
        first = command.words()[0]
        if command.shell or names_in(first) or "PATH" in command.env:
            return
        local = folder / first if "/" in first else None
        if shutil.which(str(local or first)) is None:
            rule = "must begin with a program that can be run"
            remedy = "check the path" if local is None else f"is {local} there, and executable? (chmod +x)"
            raise self._error(("program", "command"), rule, f"{first!r}", remedy)

    def _settings(self) -> dict[str, Any]:
        made: dict[str, Any] = {}
        self._check_keys("settings", file_keys(), "program", OF_PROGRAM)
        for key, value in self.data.get("settings", {}).items():
            with self._at("settings", key):
                made[key] = _setting(key, value)
        return made

    # ------------------------------------------------------------ errors

    def _error(self, keys: tuple[str, ...], rule: str, found: object, remedy: str = "") -> InvalidArgument:
        return InvalidArgument(located(self.path, self.lines.get(keys), ".".join(keys)), rule, found, remedy)

    def _wrapped(self, error: InvalidArgument, *keys: str) -> InvalidArgument:
        """The same error, with the place where its cause stands."""
        line = next((self.lines[keys[:count]] for count in range(len(keys), 0, -1) if keys[:count] in self.lines), None)
        what = error.argument if keys[-1] in error.argument.split(".") else f"{'.'.join(keys)}: {error.argument}"
        return type(error)(located(self.path, line, what), error.rule, error.found, error.remedy)

    @contextmanager
    def _at(self, *keys: str) -> Iterator[None]:
        try:
            yield
        except InvalidArgument as error:
            if error.argument.startswith(f"{self.path}"):
                raise
            raise self._wrapped(error, *keys) from None


def _broken(path: Path, text: str, error: tomllib.TOMLDecodeError) -> InvalidArgument:
    lines = text.splitlines() or [""]
    named = re.search(r" \(at line (\d+), .*\)$", str(error))
    line = int(named[1]) if named else len(lines)
    what = str(error).removesuffix(named[0]) if named else str(error)
    return InvalidArgument(
        located(path, line, "syntax"), f"must be TOML ({what})", lines[line - 1], "see https://toml.io"
    )


def located(path: Path, line: int | None, what: str) -> str:
    """``experiment.toml, line 7: settings.trials``."""
    return f"{path}, line {line}: {what}" if line is not None else f"{path}: {what}"


def _setting(key: str, value: Any) -> Any:
    """What TOML cannot write as Python does: ``None``, bounds, searchers and schedulers."""
    if key == "constraints" and isinstance(value, Mapping):
        return {metric: _bound(metric, bound) for metric, bound in value.items()}
    if key in PARTS:
        named = {"name": value} if isinstance(value, str) else value
        if not isinstance(named, Mapping) or not isinstance(named.get("name"), str):
            names = ", ".join(PARTS[key].names())
            raise InvalidArgument(key, f"must be one of {names}, or a table with a name", value, 'e.g. {name = "gp"}')
        return PARTS[key].load(dict(named))
    form = FORMS.get(key)
    if form is not None and form.read is not None and isinstance(value, str | list):
        return form.read(value)
    return value


def _bound(metric: str, bound: Any) -> Any:
    if not isinstance(bound, Mapping):
        return bound
    if (threshold := read_threshold(bound)) is None:
        rule = f"the bound of {metric!r} must be a number, or have at_least and at_most"
        raise InvalidArgument("constraints", rule, dict(bound), "e.g. accuracy = {at_least = 0.9}")
    return threshold


Keys = tuple[str, ...]

_PART = re.compile(r"""[\w-]+|"[^"\n]*"|'[^'\n]*'""")
_LINE = re.compile(rf"\s*\[*\s*((?:{_PART.pattern})(?:\s*\.\s*(?:{_PART.pattern}))*)\s*([]=])")
"""A header of a table, or a key with what follows it."""


def key_lines(text: str) -> Mapping[Keys, int]:
    """Key, as a path from the root → number of the line that begins with it; keys within a value have none.

    >>> key_lines("[space]\\nlr = {float = [1, 2]}")[("space", "lr")]
    2
    """
    found: dict[Keys, int] = {}
    table: Keys = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if (match := _LINE.match(line)) is None:
            continue
        key = tuple(part.strip("\"'") for part in _PART.findall(match[1]))
        if match[2] == "]":
            table = key
        else:
            key = (*table, *key)
        for count in range(1, len(key) + 1):
            found.setdefault(key[:count], number)
    return found
