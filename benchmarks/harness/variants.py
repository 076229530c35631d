"""A method in another form: with a constant of the library changed, or as another checkout of the library has it.

    xstar-gp~searchers.gp.fit:SAFE=0.5    with that value (JSON) of a constant of ``xstar.searchers.gp.fit``
    mobster@023aeac                          as the checkout at that commit decides, in a process of its own (``--baseline``)

The searches themselves are not told: a spec's ``run`` gets the plain name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness import machine
from benchmarks.harness.records import Found, Task

Run = Callable[[Task, Namespace], Found]


def plain(method: str) -> str:
    """The name without what differs.

    >>> plain("mobster@023aeac"), plain("xstar-gp~models.priors:NOISE=0.1"), plain("asha")
    ('mobster', 'xstar-gp', 'asha')
    """
    return method.partition("@")[0].partition("~")[0]


def carried_out(run: Run, task: Task, options: Namespace) -> Found:
    """A run of the method in its form."""
    name, _, commit = task.method.partition("@")
    name, _, change = name.partition("~")
    bare = replace(task, method=name)
    if commit:
        if options.baseline is None:
            raise SystemExit(f"{task.method}: --baseline PATH says where that commit is checked out")
        return elsewhere(run, bare, options.baseline)
    with changed(change):
        return run(bare, options)


@contextmanager
def changed(change: str) -> Iterator[None]:
    """With another value of a constant: ``module:NAME=value``, the module as seen from ``xstar``."""
    if not change:
        yield
        return
    place, _, text = change.partition("=")
    module, _, name = place.partition(":")
    owner = import_module(f"xstar.{module}")
    usual = getattr(owner, name)
    setattr(owner, name, json.loads(text))
    try:
        yield
    finally:
        setattr(owner, name, usual)


# ---------------------------------------------------------------- another checkout


def source(checkout: Path) -> Path:
    """The folder to import from: that of a checkout, or its ``src`` itself."""
    found = next((each for each in (checkout / "src", checkout) if (each / "xstar").is_dir()), None)
    if found is None:
        raise SystemExit(f"--baseline: no xstar in {checkout}; give a checkout of the repository")
    return found.resolve()


def label(checkout: Path) -> str:
    """The commit of a checkout."""
    return machine.git("rev-parse", "--short=7", "HEAD", root=source(checkout)) or "baseline"


def elsewhere(run: Run, task: Task, checkout: Path) -> Found:
    """The same run with the library of another checkout; the benchmark is that of this tree."""
    src, module = source(checkout), run.__globals__["__spec__"].name  # its __module__ may be __main__
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(src), module, run.__name__, json.dumps(task.to_json())],
        capture_output=True,
        text=True,
        cwd=machine.ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(src), str(machine.ROOT)))},
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{task} failed with the library of {checkout}:\n{done.stderr}")
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def main(src: str, module: str, name: str, task: str) -> None:
    import xstar

    if not Path(xstar.__file__).is_relative_to(src):
        raise SystemExit(f"xstar comes from {xstar.__file__}, not from {src}")
    run: Any = getattr(import_module(module), name)
    print(json.dumps(run(Task.from_json(json.loads(task)), Namespace())))


if __name__ == "__main__":
    main(*sys.argv[1:])
