"""Where figures come from: the commit, the machine, the versions of the libraries; and whether the tree is that commit."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MEASURED = ("src", "benchmarks", "pyproject.toml", "constraints.txt")
"""What can change a figure. The documentation may be edited while a benchmark runs."""
OUTPUT = (":!benchmarks/records", ":!benchmarks/results")
COMMIT = "XSTAR_COMMIT"
"""The environment variable that names the commit where a copy of the tree has no repository."""
BASE = ("xstar", "numpy", "scipy")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def git(*words: str, root: Path = ROOT) -> str | None:
    """What git prints; None where it fails."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=root)
    except FileNotFoundError:
        return None
    return done.stdout.rstrip() if done.returncode == 0 else None


def commit(root: Path = ROOT) -> str | None:
    return git("rev-parse", "--short", "HEAD", root=root) or os.environ.get(COMMIT)


@cache
def same_source(commit: str, root: Path = ROOT) -> bool:
    """Whether ``src`` of a commit is that of today's."""
    ours, theirs = (git("rev-parse", f"{each}:src", root=root) for each in ("HEAD", commit))
    return ours is not None and ours == theirs


def changes(root: Path = ROOT) -> list[str]:
    """Why figures of this tree are not those of a commit: the changed or untracked files, or that there is no commit."""
    if git("rev-parse", "HEAD", root=root) is None:
        return [] if os.environ.get(COMMIT) else [f"no git commit here, and {COMMIT} is not set"]
    here = [path for path in MEASURED if (root / path).exists()]
    status = git("status", "--porcelain", "--", *here, *OUTPUT, root=root) or ""
    return [line[3:] for line in status.splitlines()]


def installed(package: str) -> str | None:
    """The version of a distribution; None where it is not installed. Ours is that of this tree: it is what is measured."""
    if package == BASE[0]:
        return str(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peer(module: str, package: str | None = None) -> Any:
    """A library that is compared with, imported at use."""
    try:
        return import_module(module)
    except ImportError as error:
        name = package or module.partition(".")[0]
        raise SystemExit(
            f"{name} cannot be imported ({error}). `make bench-peers` makes .venv-peers with all peers; or leave the methods "
            "of this library out (--methods, --peers)."
        ) from None


def provenance(packages: Iterable[str]) -> dict[str, Any]:
    """What every record says of where it was made."""
    found = {name: installed(name) for name in dict.fromkeys((*BASE, *packages))}
    return {
        "commit": (commit() or "unknown") + ("-dirty" if changes() else ""),
        "machine": f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}",
        "versions": {name: number for name, number in found.items() if number is not None},
    }


def describe(made: Sequence[Mapping[str, Any]]) -> str:
    """One line about the records of a table: their commits, machines and versions."""
    if not made:
        return "No runs on record."
    commits = ", ".join(dict.fromkeys(each["commit"] for each in made))
    machines = "; ".join(dict.fromkeys(each["machine"] for each in made))
    versions = dict.fromkeys(f"{name} {number}" for each in made for name, number in each["versions"].items())
    return f"Runs of commit {commits}; {machines}; {', '.join(versions)}."


def one_thread() -> None:
    """BLAS computes on one thread in the processes that are started from now on: it reads these when it is loaded."""
    for name in THREADS:
        os.environ[name] = "1"
