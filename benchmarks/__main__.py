"""Lists the experiments, or with a word the methods or the problems: ``python -m benchmarks [methods|problems]``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.harness.machine import installed
from benchmarks.harness.report import table

NO_SPECS = ("papers", "pages")
SPECS = sorted(
    file.stem
    for file in Path(__file__).parent.glob("*.py")
    if not file.stem.startswith("_") and file.stem not in NO_SPECS
)


def experiments() -> None:
    print('python -m benchmarks.NAME --help, or make bench NAME=… ARGS="…"; benchmarks/README.md says more.\n')
    for name in SPECS:
        module = import_module(f"benchmarks.{name}")
        print(f"  {name:<14} {(module.__doc__ or '').splitlines()[0]}")


def methods() -> None:
    from benchmarks.harness.methods import METHODS

    rows = [(name, method.package, installed(method.package) or "not installed") for name, method in METHODS.items()]
    print("\n".join(table(("method", "library", "version"), rows, left=3)))


def all_problems() -> None:
    from benchmarks.harness.problems import facts
    from xstar.testing import problems

    heads = ("problem", "parameters", "configurations", "budgets", "optimum", "unit")
    print("\n".join(table(heads, [(name, *facts(name)) for name in problems.names()])))


if __name__ == "__main__":
    {"": experiments, "methods": methods, "problems": all_problems}[" ".join(sys.argv[1:])]()
