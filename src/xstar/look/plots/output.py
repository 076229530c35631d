"""A figure for a notebook, or as a file: Plotly and, for pictures, kaleido are imported here, at use."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xstar.errors import InvalidArgument, MissingExtra
from xstar.look.plots.figure import Figure

if TYPE_CHECKING:
    import plotly.graph_objects as go

PICTURES = (".svg", ".png", ".pdf")
PAGES = (".html", ".json")
WIDTH, HEIGHT = 900, 500

INSTALL = "pip install '.[plots]' in a checkout of xstar"


def to_plotly(figure: Figure) -> go.Figure:
    """The figure as Plotly's own, which a notebook shows."""
    try:
        import plotly.graph_objects as go
    except ModuleNotFoundError as error:
        raise MissingExtra(f"plots need {error.name}: {INSTALL}") from None
    return go.Figure(figure)


@lru_cache(maxsize=1)
def javascript() -> str:
    """Plotly's JavaScript, from the installed package."""
    return javascript_file().read_text(encoding="utf-8")


def javascript_file() -> Path:
    """The file that holds it."""
    try:
        import plotly
    except ModuleNotFoundError as error:
        raise MissingExtra(f"plots need {error.name}: {INSTALL}") from None
    return Path(plotly.__file__).parent / "package_data" / "plotly.min.js"


def in_script(value: Any) -> str:
    """JSON that may stand inside of a script element: nothing in it can end the element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def page(figure: Figure, title: str) -> str:
    """A page of its own that needs nothing from the network."""
    import html

    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"></head>\n'
        f'<body style="margin:0"><div id="plot" style="min-height:98vh"></div>\n<script>{javascript()}</script>\n'
        f"<script>Plotly.newPlot('plot', {in_script(figure['data'])}, {in_script(figure['layout'])}, "
        "{responsive: true, displaylogo: false});</script>\n</body></html>\n"
    )


def write(figure: Figure, path: str | os.PathLike[str], title: str = "xstar") -> None:
    """Write a figure as ``.html`` (self-contained), ``.json``, or a picture (``.svg``, ``.png``, ``.pdf``)."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (*PAGES, *PICTURES):
        raise InvalidArgument("output", f"must end in one of {', '.join((*PAGES, *PICTURES))}", str(path))
    try:
        if suffix == ".html":
            target.write_text(page(figure, title), encoding="utf-8")
        elif suffix == ".json":
            target.write_text(json.dumps(figure, allow_nan=False), encoding="utf-8")
        else:
            target.write_bytes(_picture(figure, suffix[1:]))
    except OSError as error:
        raise InvalidArgument("output", f"must be a file that can be written ({error.strerror})", str(path)) from None


def _picture(figure: Figure, form: str) -> bytes:
    made = to_plotly(figure)
    made.update_layout(paper_bgcolor="white", width=WIDTH, height=figure["layout"].get("height", HEIGHT))
    try:
        import kaleido  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra(f"a .{form} needs {error.name}, and Chrome or Chromium: {INSTALL}") from None
    try:
        picture: bytes = made.to_image(form)
    except (RuntimeError, ValueError, OSError) as error:
        first = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise MissingExtra(
            f"a .{form} needs Chrome or Chromium, which kaleido did not find or could not start ({first}); "
            "install one (Debian: apt install chromium), or write .html"
        ) from None
    return picture
