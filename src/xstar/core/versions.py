"""``xs.show_versions()``: what to paste into a report of a mistake."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from xstar.core.version import VERSION


def show_versions() -> None:
    """Print the versions of xstar, of Python and of the packages that xstar uses, on this machine."""
    lines = {"xstar": VERSION, "python": platform.python_version(), "system": platform.platform(), **_packages()}
    width = max(map(len, lines))
    sys.stdout.write("".join(f"{name:<{width}}  {found}\n" for name, found in lines.items()))


def _packages() -> dict[str, str]:
    """What xstar depends on, and those of its extras that are installed."""
    found: dict[str, str] = {}
    for line in requires("xstar") or ():
        package = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
        extra = re.search(r"extra == ['\"](.+?)['\"]", line)
        if package == "xstar" or (extra is not None and extra[1] == "dev"):
            continue
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            if extra is None:
                found[package] = "missing"
    return found
