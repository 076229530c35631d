"""The program ``xstar``: what it can answer before the commands and all they need are loaded, and then the commands."""

from __future__ import annotations

import sys

from xstar.core.version import VERSION


def main() -> None:
    """Run the command line. ``--version`` is asked by scripts and shells that wait for it: it loads nothing."""
    if sys.argv[1:] == ["--version"]:
        print(f"xstar {VERSION}")
        return
    from xstar.cli.main import app

    app()
