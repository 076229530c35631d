"""The program ``xstar``: what it can answer before the commands and all they need are loaded, and then the commands."""

from __future__ import annotations

import io
import sys

from xstar.core.version import VERSION


def main() -> None:
    """Run the command line. ``--version`` is asked by scripts and shells that wait for it: it loads nothing."""
    if sys.argv[1:] == ["--version"]:
        print(f"xstar {VERSION}")
        return
    # A terminal that knows few letters (LANG=C), or half of a surrogate pair in a file's name: shown as \u2026, not an error.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    from xstar.cli.main import app

    app()
