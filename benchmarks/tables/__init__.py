"""Tables of real trainings as problems, beside those that need no file (``xstar.testing.problems``): one module per data set.

``data`` says where the files are (``XSTAR_DATA``), ``tabular`` how a table answers. A table is read when a problem is made,
once per process.
"""

from __future__ import annotations

from importlib.util import find_spec

from benchmarks.tables import data, electricity, hpolib, klein, lcbench, nasbench201
from benchmarks.tables.data import Entry
from xstar.testing import problems
from xstar.testing.problems import Problem as Problem, get as get, names as names

ENTRIES: dict[str, Entry] = {
    **nasbench201.ENTRIES,
    **lcbench.ENTRIES,
    **klein.ENTRIES,
    **electricity.ENTRIES,
    **hpolib.ENTRIES,
}
for _name, _entry in ENTRIES.items():
    problems.register(_name, _entry.make)


def missing(name: str) -> str:
    """What keeps a problem from being made here, in words; empty where nothing does."""
    entry = ENTRIES.get(name)
    if entry is None:
        return "" if name in names() else f"there is no problem {name!r}"
    files = [file for file in entry.files if not data.present(file)]
    packages = [package for package in entry.packages if find_spec(package) is None]
    parts = [f"no {', '.join(files)} in {data.folder()} (set {data.VARIABLE})"] if files else []
    parts += [f"{', '.join(packages)} not installed (pip install onnxruntime)"] if packages else []
    return "; ".join(parts)
