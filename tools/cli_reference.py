"""Puts the ``--help`` pages of the commands into docs/cli.md while the site is built (a hook of ``mkdocs.yml``)."""

from __future__ import annotations

import re
from typing import Any

PAGE = "cli.md"

# <!-- help: run --> stands where the page of `xstar run` goes; without a command: that of `xstar` itself.
MARK = re.compile(r"<!-- help:(?P<command>[ a-z]*)-->")


def pages() -> dict[str, str]:
    """Command → its help page; ``""`` is ``xstar`` itself."""
    from typer.main import get_command
    from typer.testing import CliRunner

    from xstar.cli.main import app

    fixed = {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb", "FORCE_COLOR": None}
    found: dict[str, str] = {}
    for command in ["", *getattr(get_command(app), "commands", {})]:
        result = CliRunner().invoke(app, [*command.split(), "--help"], prog_name="xstar", env=fixed)
        if result.exit_code:
            raise SystemExit(f"`xstar {command} --help` ends with {result.exit_code}: {result.output}")
        found[command] = "\n".join(line.rstrip() for line in result.output.strip("\n").splitlines())
    return found


def filled(text: str, found: dict[str, str]) -> str:
    """The text with a help page at every mark; a command without a mark is an error, and so is a mark without a command."""
    wanted = [match["command"].strip() for match in MARK.finditer(text)]
    if sorted(wanted) != sorted(found):
        raise SystemExit(f"docs/{PAGE} has marks for {sorted(wanted)}, but the commands are {sorted(found)}")

    def block(match: re.Match[str]) -> str:
        command = match["command"].strip()
        ask = f"xstar {command} --help".replace("  ", " ")
        return f'??? note "{ask}"\n\n' + _indented(f"```console\n$ {ask}\n{found[command]}\n```")

    return MARK.sub(block, text)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.splitlines())


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by mkdocs for every page."""
    return filled(markdown, pages()) if page.file.src_uri == PAGE else markdown
