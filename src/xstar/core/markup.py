"""Small pieces of HTML: for reports, and for notebooks, which bring their own style."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from xstar.core.words import readable

LONGEST = 200
"""Characters of a value: an architecture written out would hide all else."""


LEFT = 'style="text-align: left"'
"""Of each cell, because notebooks set words to the right, and cell by cell."""


def escaped(text: object) -> str:
    """Text that is nothing but text, and can be written."""
    return html.escape(readable(str(text)))


def value(given: object) -> str:
    """A parameter's value for reading: six digits, and not without end."""
    text = f"{given:.6g}" if isinstance(given, float) else str(given)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table of texts. An empty ``head`` is left out."""
    top = "".join(f"<th {LEFT}>{escaped(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td {LEFT}>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{top}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
