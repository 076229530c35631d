"""Figures as files: self-contained pages, pictures where there is a browser, and clear words where something is missing."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.look.plots.studies import edge
from xstar.errors import InvalidArgument, MissingExtra
from xstar.look.plots.kinds import KINDS
from xstar.look.plots.output import in_script, page, to_plotly, write


def test_a_page_needs_nothing_and_is_not_broken_by_a_study(tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plots need their extra")
    made = page(KINDS["failures"].figure(edge("hostile")), "</title><script>alert(1)</script>")
    assert "<script>alert" not in made
    own = made.rpartition("<script>")[2]
    assert own.count("</script>") == 1
    assert "//cdn" not in own
    write(KINDS["history"].figure(edge("plain")), tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["data"]


def test_json_in_a_script_cannot_end_it() -> None:
    text = in_script({"a": "</script><!-- & -->"})
    assert not set(text) & set("<>&")
    assert json.loads(text) == {"a": "</script><!-- & -->"}


def test_what_is_missing_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figure = KINDS["history"].figure(edge("plain"))
    with pytest.raises(InvalidArgument, match=r"must end in one of \.html"):
        write(figure, tmp_path / "x.doc")
    with pytest.raises(InvalidArgument, match="can be written"):
        write(figure, tmp_path / "none" / "x.json")
    monkeypatch.setitem(sys.modules, "kaleido", None)
    if "plotly" in sys.modules:
        with pytest.raises(MissingExtra, match=r"pip install '\.\[plots\]'"):
            write(figure, tmp_path / "x.svg")
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[plots\]'"):
        to_plotly(figure)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[plots\]'"):
        edge("plain").plot.history()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="a picture needs Chromium: apt install chromium")
def test_a_picture_is_made_by_chromium(tmp_path: Path) -> None:
    pytest.importorskip("kaleido", reason="pictures need kaleido")
    write(KINDS["history"].figure(edge("plain")), tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text(encoding="utf-8").startswith("<svg")
