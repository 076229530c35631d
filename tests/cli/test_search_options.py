"""The options of ``xstar run`` and a file's settings are those of ``xs.minimize``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import xstar as xs
from xstar.cli import options
from xstar.cli.main import app
from xstar.errors import InvalidArgument

OWN = {"file", "space", "maximize", "help"}


def test_every_keyword_is_an_option_or_an_exception_by_name() -> None:
    names = {option.name for option in get_command(app).commands["run"].params}  # type: ignore[attr-defined]
    exceptions = {*options.SETTINGS_ONLY, *options.PYTHON_ONLY}
    assert exceptions == {"searcher", "scheduler", "progress", "watch"}
    assert names - OWN == set(options.KNOWN) - exceptions
    assert set(options.FORMS) | set(options.PANELS) | exceptions <= set(options.KNOWN)
    of_minimize = set(inspect.signature(xs.minimize).parameters) - {"objective", "space"}
    assert set(options.KNOWN) - of_minimize == {
        "cores",
        "gpus",
        "timeout",
        "retries",
        "grace",
    }  # in executor=xs.Processes(…)


@pytest.mark.parametrize(
    ("kind", "plain"),
    [(int, int), (int | None, int), (float | None, float), (bool, bool), (str | Path | None, None), (int | str, None)],
)
def test_types_of_a_command_line(kind: Any, plain: type | None) -> None:
    if plain is not None:
        assert options.plain_type("option", kind) is plain
    else:
        with pytest.raises(TypeError, match="entry in FORMS"):
            options.plain_type("option", kind)


def test_the_first_paragraph_about_an_option_is_its_help() -> None:
    assert set(options.KNOWN) <= set(options.HELP)
    assert (
        options.HELP["gpus"]
        == "GPUs of each worker: 1, 2, …, or a fraction, as 0.5 for two workers on one; 0 for none."
    )
    assert options.HELP["timeout"] == "Seconds that one run of a trial may take."


def test_the_settings_of_an_executor_stand_beside_the_others() -> None:
    def made(**given: Any) -> Any:
        return options.search_options(lambda trial: 0.0, xs.Space(x=xs.Float(0, 1)), {"trials": 1, **given}).where

    assert made(workers=2) == xs.Processes(2)
    assert made(workers=2, gpus=0, timeout=5) == xs.Processes(2, gpus=0, timeout=5)
    assert made(executor="ray", cores=2, grace=1.0) == xs.Ray(cpus=2, grace=1.0)
    with pytest.raises(InvalidArgument, match="timeout: must be left out beside"):
        made(executor=xs.Processes(2), timeout=5)


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


def test_the_command_line_wins_over_a_part_of_an_executor() -> None:
    found = options.file_settings({"executor": xs.Processes(4, timeout=9), "seed": 1}, Path("f.py"))
    assert found == {"workers": 4, "timeout": 9, "seed": 1}
    with pytest.raises(InvalidArgument, match="workers: must be left out beside"):
        options.file_settings({"executor": xs.Processes(4), "workers": 2}, Path("f.py"))
    ray = xs.Ray(slots=2)
    assert options.file_settings({"executor": ray}, Path("f.py")) == {"executor": ray}


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("trails", "did you mean 'trials'"), ("watch", ""), ("space", ""), ("colour", "there are trials")],
)
def test_settings_have_no_other_names(name: str, remedy: str) -> None:
    with pytest.raises(InvalidArgument, match=rf"settings in f\.py: may have trials, .*\['{name}'\].*({remedy})"):
        options.file_settings({name: 1, "trials": 3}, Path("f.py"))
