"""What the results page says of one table or figure of a paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from benchmarks.harness.report import table
from benchmarks.papers.sources import OnRecord, pictures

CLOSE = 0.01
"""Numbers that differ by less than this share count as equal."""
BETTER, EQUAL, WORSE, SAME, OTHER = "better", "equal", "worse", "as there", "differs"
LONG = 24
"""Lines of a table from which on it is folded."""


@dataclass(frozen=True)
class Row:
    """The paper's number or claim, and ours."""

    what: str
    paper: str
    ours: str
    verdict: str
    """``better``, ``equal`` or ``worse`` of numbers, ``as there`` or ``differs`` of claims."""


def compare(what: str, paper: float, ours: float, form: str = "{:.4g}") -> Row:
    """Of two numbers, lower is better."""
    apart = (ours - paper) / abs(paper)
    verdict = EQUAL if abs(apart) < CLOSE else BETTER if apart < 0 else WORSE
    return Row(what, form.format(paper), form.format(ours), verdict)


def claim(paper: str, ours: str, holds: bool) -> Row:
    return Row("claim", paper, ours, SAME if holds else OTHER)


@dataclass(frozen=True)
class Entry:
    """A table or a figure of a paper."""

    what: str
    shows: str
    """What the paper shows there, in a sentence."""
    differs: str
    """What differs in the conditions."""
    sources: tuple[OnRecord, ...] = ()
    rows: Callable[[], Iterable[Row]] = lambda: ()
    missing: str = ""
    """Why there is nothing to run."""
    pictures: tuple[tuple[str, str], ...] = ()
    """(file in docs/assets/results, what it shows) of pictures made from the records."""

    @property
    def here(self) -> list[OnRecord]:
        return [source for source in self.sources if source.found]

    @property
    def state(self) -> str:
        if not self.here:
            return "not run" if self.missing or self.sources else "a definition"
        return "on record"

    @property
    def commits(self) -> list[str]:
        """Of the runs on record, in the order of the tables."""
        each = (source.commits for source in self.here)
        return list(dict.fromkeys(chain.from_iterable(each)))

    def compared(self) -> list[Row]:
        return list(self.rows()) if self.here else []

    def lines(self) -> Iterator[str]:
        yield from (f"### {self.what}", "", f"{self.shows} *Conditions:* {self.differs}", "")
        if rows := self.compared():
            cells = [(row.what, row.paper, row.ours, row.verdict) for row in rows]
            yield from (*table(["", "the paper", "here", ""], cells), "")
        for file, text in self.pictures if self.here else ():
            yield from (f"![{text}](assets/results/{file})", "")
        for source in self.here:
            yield from (f"`{source.command}`: {source.about()}", "", *folded(source.lines()), "")
        for source in self.sources:
            if not source.found:
                yield from (f"Not run yet: `{source.command}`.", "")
        if self.missing:
            yield from (f"Not run: {self.missing}", "")


def folded(lines: list[str]) -> list[str]:
    if len(lines) < LONG:
        return lines
    return ['??? note "The table"', "", *(f"    {line}".rstrip() for line in lines)]


@dataclass(frozen=True)
class Paper:
    """A paper, by its tables and figures."""

    name: str
    reference: str
    entries: tuple[Entry, ...]
    page: str
    """Of the documentation, about the method."""

    def lines(self) -> Iterator[str]:
        yield from (f"## {self.name}", "", f"{self.reference} [How it is done here]({self.page}).", "")
        for entry in self.entries:
            yield from entry.lines()

    def shown(self) -> Iterator[str]:
        """The pictures of results/ that are shown."""
        for entry in self.entries:
            for source in entry.here:
                yield from map(str, pictures(source.lines()))
