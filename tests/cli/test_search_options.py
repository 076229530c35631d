"""The options of ``xstar run`` and a file's settings are those of ``xs.minimize``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import xstar as xs
from xstar.api import options as keywords
from xstar.cli import options
from xstar.cli.main import app
from xstar.errors import InvalidArgument

OWN = {"file", "space", "maximize", "help"}


def parameter(kind: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter("option", inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def test_every_keyword_is_an_option_or_an_exception_by_name() -> None:
    names = {option.name for option in get_command(app).commands["run"].params}  # type: ignore[attr-defined]
    exceptions = {*options.SETTINGS_ONLY, *options.PYTHON_ONLY}
    assert exceptions == {"searcher", "scheduler", "progress", "watch"}
    assert names - OWN == set(keywords()) - exceptions
    assert set(options.FORMS) | set(options.PANELS) | exceptions <= set(keywords())


@pytest.mark.parametrize(
    ("kind", "plain"),
    [(int, int), (int | None, int), (float | None, float), (bool, bool), (str | Path | None, None), (int | str, None)],
)
def test_types_of_a_command_line(kind: Any, plain: type | None) -> None:
    if plain is not None:
        assert options.plain_type(parameter(kind)) is plain
    else:
        with pytest.raises(TypeError, match="entry in FORMS"):
            options.plain_type(parameter(kind))


def test_only_the_first_paragraph_is_help() -> None:
    text = """Sum.

    Parameters
    ----------
    one
        First line
        and second.

        More.
    two
        Another.
    """
    assert options.first_paragraphs(text) == {"one": "First line and second.", "two": "Another."}
    assert set(options.HELP) == set(inspect.signature(xs.minimize).parameters)


def test_constraints_are_read() -> None:
    assert options.read_constraints(["latency=50", "a=b=-1e3"]) == {"latency": 50.0, "a=b": -1000.0}
    assert options.read_constraints(["latency<=50", "accuracy >= 0.9", "size>=1", "size<=2"]) == {
        "latency": 50.0,
        "accuracy": xs.at_least(0.9),
        "size": xs.between(1.0, 2.0),
    }


@pytest.mark.parametrize("texts", [["latency"], ["latency="], ["=50"], ["latency=fast"], ["latency=1", "latency=2"]])
def test_constraints_are_refused(texts: list[str]) -> None:
    with pytest.raises(InvalidArgument, match="--constraint: must "):
        options.read_constraints(texts)


def test_none_in_settings_stands_only_where_it_means_something() -> None:
    settings = {"workers": None, "checkpoints": None, "seed": None, "maximize": None, "trials": 3}
    assert options.file_settings(settings, Path("f.py")) == {"checkpoints": None, "seed": None, "trials": 3}


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("trails", "did you mean 'trials'"), ("watch", ""), ("space", ""), ("colour", "there are trials")],
)
def test_settings_have_no_other_names(name: str, remedy: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"settings in f\.py: may have trials, .*\['{name}'\].*({remedy})"):
        options.file_settings({name: 1, "trials": 3}, Path("f.py"))
