"""The text of docs/results.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from benchmarks.harness.report import table
from benchmarks.papers import dngo, findings, igo, mobster, nasbot
from benchmarks.papers.entry import BETTER, EQUAL, OTHER, SAME, WORSE, Entry, Paper, folded
from benchmarks.papers.sources import OnRecord

COMMAND = "python -m benchmarks.papers --write"
PAPERS: tuple[Paper, ...] = (nasbot.PAPER, dngo.PAPER, mobster.PAPER, igo.PAPER)
HEAD = """# Results

The tables and figures of the four papers behind xstar, one after the other: the paper's number, ours, and what differs in the
conditions. Where the paper draws curves and prints no number, its claim is compared. Losses stand beside wins.

`{command}` makes this page from `benchmarks/records`, and a test checks that it is up to date. Each
table has the command that makes it, its commit, its machine and its seeds. Numbers within one
percent of each other count as equal; lower is better. The last column has the commit of the runs;
[below](#which-tables-are-of-one-commit) is what several of them mean.
"""
SEVERAL = """A run on record is not made again, and a run names the commit it was made at. So a table of one commit is one state
of the code; one of several was gathered over several calls, as GPU time came in half-hours, or was extended by methods and
seeds later, and its rows may be of different states of the code. A search that went on from call to call kept the settings it
was begun with. Whoever wants a table at one commit runs its command with `--again`."""


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


def tables() -> Iterator[tuple[str, OnRecord]]:
    """The tables of the page with the names of their papers; one that several entries show counts once."""
    known: set[tuple[str, str, tuple[str, ...]]] = set()
    for paper in PAPERS:
        for source in chain.from_iterable(entry.here for entry in paper.entries):
            if source.told and (key := (source.spec, source.part, source.given)) not in known:
                known.add(key)
                yield paper.name, source


def commits() -> Iterator[str]:
    """Which tables are of one commit, and of how many the others are."""
    found = list(tables())
    alone = sum(len(source.commits) == 1 for _, source in found)
    yield from ("## Which tables are of one commit", "", *SEVERAL.splitlines())
    yield f"Of the {len(found)} tables on this page {alone} are of one commit."
    rows = [
        (paper, f"`{source.command.removesuffix(' --write')}`", str(len(source.found)), ", ".join(source.commits))
        for paper, source in sorted(found, key=lambda pair: len(pair[1].commits))
    ]
    yield from ("", *folded([*table(["paper", "table", "runs", "commits"], rows, left=2)]), "")


def anchor(title: str) -> str:
    """As Python-Markdown's table of contents makes it."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    ascii_only = kept.encode("ascii", "ignore").decode()
    return "-".join(ascii_only.split())


def lines() -> Iterator[str]:
    yield from HEAD.format(command=COMMAND).splitlines()
    yield from ("", *summary())
    yield from commits()
    yield from ("## Where the evidence differs from the papers", "")
    yield from (f"* [{title}](findings.md#{anchor(title)})" for title in findings.titles())
    yield ""
    yield from chain.from_iterable(paper.lines() for paper in PAPERS)


def text() -> str:
    return "\n".join(lines()).rstrip() + "\n"
