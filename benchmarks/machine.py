"""One line that says where figures come from: commit, machine, versions."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version


def describe_machine(*packages: str) -> str:
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    versions = ", ".join(f"{name} {version(name)}" for name in ("xstar", "numpy", "scipy", *packages))
    machine = f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}"
    return f"# commit {commit or 'unknown'}, {machine}, {versions}"
