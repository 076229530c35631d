"""The pages of the documentation that are made from records: ``python -m benchmarks.pages``.

``docs/results.md`` is made by ``papers.py``. Of ``docs/benchmarks.md`` and ``docs/mobster.md`` the tables between marks are
copied from ``results/``: ``<!-- search.md | search defaults | Among the libraries | search; after 100 -->`` names the file, its
block, the line before the table, and the columns to show, with ``;`` between them (none: all; ``#-1``: the last row alone).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks import papers
from benchmarks.harness.machine import ROOT
from benchmarks.harness.report import FOLDER, table

PAGES = tuple(ROOT / "docs" / name for name in ("benchmarks.md", "mobster.md"))
MARK = re.compile(r"<!-- ((?!end)[^|>]+\.md \|[^>]+) -->")


def tables(lines: Sequence[str]) -> Iterator[list[list[str]]]:
    """The markdown tables among some lines, as rows of cells without the line below the heads."""
    rows: list[list[str]] = []
    for line in (*lines, ""):
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield [rows[0], *rows[2:]]
            rows = []


def table_of(file: str, mark: str, begin: str = "", folder: Path = FOLDER) -> list[list[str]]:
    """The first table of a block of a results file, after a line that begins so."""
    block = (folder / file).read_text(encoding="utf-8").split(f"<!-- {mark} -->")[1].split(f"<!-- end of {mark} -->")[0]
    lines = block.splitlines()
    at = next(i for i, line in enumerate(lines) if line.lstrip("# ").startswith(begin)) if begin else 0
    return next(tables(lines[at:]))


def copied(key: str) -> str:
    """The table that a mark names."""
    file, mark, begin, *rest = (part.strip() for part in key.split("|"))
    heads, *rows = table_of(file, mark, begin)
    wanted = [name.strip() for name in rest[0].split(";")] if rest and rest[0] else heads
    if wanted[-1] == "#-1":
        rows, wanted = rows[-1:], wanted[:-1]
    places = [heads.index(name) for name in wanted]
    lines = table(wanted, [[row[place] if place < len(row) else "" for place in places] for row in rows])
    return "\n" + "\n".join(lines)


def page(text: str) -> str:
    """With each table as it is today, and all else as it is."""

    def block(key: re.Match[str]) -> str:
        return f"<!-- {key[1]} -->\n{copied(key[1])}\n<!-- end of {key[1]} -->"

    emptied = re.sub(r"<!-- end of [^>]+ -->", "<!-- end -->", text)
    return MARK.sub(block, re.sub(rf"({MARK.pattern}).*?<!-- end -->", r"\1", emptied, flags=re.DOTALL))


if __name__ == "__main__":
    papers.PAGE.write_text(papers.page(), encoding="utf-8")
    for file in PAGES:
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
