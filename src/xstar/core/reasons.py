"""Why a trial failed, in its own words: how much of it is kept, and which line of it is shown."""

from __future__ import annotations

from xstar.core.words import readable

LONGEST_REASON = 20_000
"""Characters of a reason that are kept: a traceback has a few thousand, an exception that prints an array has no end."""

LONGEST_LINE = 1_000
"""Characters of a reason's last line that are shown."""

BY_WHOM = " (by the system for want of memory, which its log then says, or by a user or a program)"
"""Whoever is killed by SIGKILL does not learn by whom."""


def shortened(reason: str) -> str:
    """The reason with its middle left out if it is too long to keep: it begins and ends as before.

    Half of a surrogate pair (Python reads the name of a file that is no UTF-8 so) becomes ``\\udcff``: no page could show it.
    """
    reason = readable(reason)
    cut = len(reason) - LONGEST_REASON
    if cut <= 0:
        return reason
    head = LONGEST_REASON // 4  # the end names the error, so it gets more
    return f"{reason[:head]}\n[… {cut:,} characters left out …]\n{reason[head + cut :]}"


def last_line(reason: str) -> str:
    """The line of a traceback that names the error, without what a terminal would take for a command."""
    lines = readable(reason).strip().splitlines()
    line = "".join(character for character in lines[-1] if character.isprintable()) if lines else ""
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"
