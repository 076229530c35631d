"""The text of docs/results.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from benchmarks.harness.report import table
from benchmarks.papers import dngo, findings, igo, mobster, nasbot
from benchmarks.papers.entry import BETTER, EQUAL, OTHER, SAME, WORSE, Entry, Paper

COMMAND = "python -m benchmarks.papers --write"
PAPERS: tuple[Paper, ...] = (nasbot.PAPER, dngo.PAPER, mobster.PAPER, igo.PAPER)
HEAD = """# Results

The tables and figures of the four papers behind xstar, one after the other: the paper's number, ours, and what differs in the
conditions. Where the paper draws curves and prints no number, its claim is compared. Losses stand beside wins.

`{command}` makes this page from `benchmarks/records`, and a test checks that it is up to date. Each
table has the command that makes it, its commit, its machine and its seeds. *Records gone* marks tables made before
records were kept: they stand as they are in `benchmarks/results` until their command is run again. Numbers within one percent
of each other count as equal; lower is better. The last column has the commit of the runs. Where there are several, a long
experiment was gathered over several calls: a run on record is not made again. `benchmarks/records` has the commit of each.
"""


def summary() -> Iterator[str]:
    rows = []
    for paper in PAPERS:
        for entry in paper.entries:
            verdicts = [row.verdict for row in entry.compared()]
            counts = [verdicts.count(kind) for kind in (BETTER, EQUAL, WORSE, SAME, OTHER)]
            link = f"[{entry.what}](#{anchor(entry.what)})"
            rows.append(
                (paper.name, link, entry.state, *(str(count) if count else "" for count in counts), made(entry))
            )
    heads = ["paper", "", "", "better", "equal", "worse", "claim holds", "claim fails", "commit"]
    yield from (*table(heads, rows, left=3), "")


def made(entry: Entry) -> str:
    """The commit of its runs, or how many there are."""
    return entry.commits[0] if len(entry.commits) == 1 else f"{len(entry.commits)} commits" if entry.commits else ""


def anchor(title: str) -> str:
    """As Python-Markdown's table of contents makes it."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    ascii_only = kept.encode("ascii", "ignore").decode()
    return "-".join(ascii_only.split())


def lines() -> Iterator[str]:
    yield from HEAD.format(command=COMMAND).splitlines()
    yield from ("", *summary())
    yield from ("## Where the evidence differs from the papers", "")
    yield from (f"* [{title}](findings.md#{anchor(title)})" for title in findings.titles())
    yield ""
    yield from chain.from_iterable(paper.lines() for paper in PAPERS)


def text() -> str:
    return "\n".join(lines()).rstrip() + "\n"
