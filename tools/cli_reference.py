"""Rewrite the ``--help`` pages in docs/cli.md: ``python tools/cli_reference.py``. A test fails while they are out of date."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"

# <!-- help: run --> … <!-- end of help --> ; without a command: the page of `xstar` itself.
BLOCK = re.compile(r"<!-- help:(?P<command>[ a-z]*)-->\n.*?<!-- end of help -->", re.DOTALL)

# What would change the pages from one machine to the next: the width, colours, and variables that typer or rich obey.
LEFT_OUT = {
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "PY_COLORS",
    "TERMINAL_WIDTH",
    "TTY_COMPATIBLE",
    "_TYPER_FORCE_DISABLE_TERMINAL",
}
FIXED = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}

# One process for all pages, since a process takes most of a second to start.
ASK = """
import json, sys
from typer.main import get_command
from typer.testing import CliRunner
from xstar.cli.main import app
found = {}
for command in ["", *get_command(app).commands]:
    result = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="xstar")
    assert result.exit_code == 0, result.output
    found[command] = "\\n".join(line.rstrip() for line in result.output.strip("\\n").splitlines())
sys.stdout.write(json.dumps(found))
"""


def pages() -> dict[str, str]:
    """Command → its help page; ``""`` is ``xstar`` itself."""
    env = {name: value for name, value in os.environ.items() if name not in LEFT_OUT} | FIXED
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=env, capture_output=True, text=True, encoding="utf-8", check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def rewritten(text: str, found: dict[str, str]) -> str:
    """The text with every block renewed; a command without a block is an error, and so is a block without a command."""
    wanted = [match["command"].strip() for match in BLOCK.finditer(text)]
    if sorted(wanted) != sorted(found):
        raise SystemExit(f"docs/cli.md has blocks for {sorted(wanted)}, but the commands are {sorted(found)}")

    def block(match: re.Match[str]) -> str:
        command = match["command"].strip()
        ask = f"xstar {command} --help".replace("  ", " ")
        return f"<!-- help:{match['command']}-->\n```console\n$ {ask}\n{found[command]}\n```\n<!-- end of help -->"

    return BLOCK.sub(block, text)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), pages()), encoding="utf-8")
