"""Where what was measured contradicts a paper: the text of docs/findings.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchmarks.papers.findings_cifar import networks
from benchmarks.papers.findings_dngo import intervals, short_trainings
from benchmarks.papers.findings_igo import units
from benchmarks.papers.findings_mobster import electricity, stopping
from benchmarks.papers.findings_nasbot import carries, kernels, naval
from benchmarks.papers.findings_settings import settings
from benchmarks.papers.findings_terms import terms

SECTIONS = (
    kernels,
    terms,
    carries,
    settings,
    networks,
    naval,
    intervals,
    short_trainings,
    electricity,
    stopping,
    units,
)
HEAD = """# Findings

Where the evidence differs from the four papers behind xstar: what a paper says, what was measured here, and how to measure it
again. Like [Results](results.md), which has all of the papers' tables and figures, this page is made from the records by
`python -m benchmarks.papers --write`.
"""


def lines() -> Iterator[str]:
    yield from HEAD.splitlines()
    for section in SECTIONS:
        yield ""
        yield from section()


def titles() -> Iterator[str]:
    """What is found, a heading each."""
    for section in SECTIONS:
        yield next(iter(section())).removeprefix("## ")


def text() -> str:
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines())).rstrip() + "\n"
