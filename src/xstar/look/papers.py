"""The papers behind the parts of a study: what a report that uses it should cite, as text and as BibTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from xstar.core.version import VERSION
from xstar.journal.events import Created
from xstar.searchers import GP, SEARCHERS, Auto
from xstar.searchers.base import HandlesGoals

SOFTWARE = f"""@software{{xstar,
  author = {{{{the xstar authors}}}},
  title = {{xstar}},
  version = {{{VERSION}}},
  year = {{2026}},
}}"""


_ENTRY = re.compile(r"^@\w+\{([\w-]+),\n.*?^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (\w+) = \{+(.*?)\}+,$", re.MULTILINE)
MOST_AUTHORS = 6
"""In a line of text; BibTeX names all."""


@dataclass(frozen=True, slots=True)
class Paper:
    """An entry of ``papers.bib``."""

    bibtex: str
    """As it stands there, which LaTeX's programs read as UTF-8."""

    @property
    def text(self) -> str:
        """One line for a list of references."""
        field = dict(_FIELD.findall(self.bibtex))
        authors = field["author"].replace("{", "").replace("}", "").split(" and ")
        names = ", ".join(authors) if len(authors) <= MOST_AUTHORS else f"{authors[0]} et al."
        venue = field.get("journal") or field["booktitle"]
        return f"{names}{'' if names.endswith('.') else '.'} {field['title']}. {venue}, {field['year']}."


FILE = Path(__file__).with_name("papers.bib")
PAPERS = {found[1]: Paper(found[0]) for found in _ENTRY.finditer(FILE.read_text(encoding="utf-8"))}

OF_SEARCHERS = {
    "gp": ("gp", "logei"),
    "auto": ("gp", "logei", "dngo"),
    "mobster-paper": ("mobster",),
    "dngo": ("dngo",),
    "dngo-paper": ("dngo",),
    "nasbot": ("nasbot",),
    "nasbot-paper": ("nasbot",),
    "nasbot-random": ("nasbot",),
    "pbil": ("pbil", "igo"),
    "tpe": ("tpe",),
    "forest": ("forest",),
    "cma": ("cma", "margin"),
    "evolution": ("nasbot",),
    "regularised-evolution": ("evolution",),
    "nsga2": ("nsga2",),
    "random": ("random",),
    "treebo": ("treebo",),
    "boca": ("boca",),
}
OF_SCHEDULERS = {"asha": ("asha",), "asha-stop": ("asha",), "hyperband": ("hyperband",), "median": ("median",)}


def papers_of(created: Created) -> dict[str, Paper]:
    """The papers of a study's method, and of what its report shows, by key."""
    searcher, scheduler = str(created.searcher.get("name")), str(created.scheduler.get("name"))
    keys = [*OF_SEARCHERS.get(searcher, ()), *OF_SCHEDULERS.get(scheduler, ())]
    if searcher == "gp" and scheduler.startswith("asha"):
        keys.append("mobster")
    if searcher == "gp" and created.searcher.get("acquisition") == "thompson":
        keys.append("thompson")
    if searcher == "tpe" and scheduler in ("asha", "hyperband"):
        keys.append("bohb")
    if created.goals.several:
        keys += [*_of_fronts(created), *(["mo-asha"] if scheduler.startswith("asha") else [])]
    return {key: PAPERS[key] for key in dict.fromkeys([*keys, "anova"])}


def _of_fronts(created: Created) -> list[str]:
    """How the searcher chooses with several objectives: by the hypervolume, by a weighted sum, or by a way of its own."""
    if SEARCHERS.get(str(created.searcher.get("name"))) is None:
        return []
    searcher = SEARCHERS.load(created.searcher)
    if isinstance(searcher, Auto):  # a GP first, DNGO later
        return ["ehvi", "parego"]
    if not (isinstance(searcher, HandlesGoals) and searcher.handles(created.goals)):
        return ["parego"]
    return ["ehvi"] if isinstance(searcher, GP) else []


def cited(created: Created) -> list[str]:
    """The same as lines of a list."""
    return [paper.text for paper in papers_of(created).values()]


def bibtex(created: Created) -> str:
    """The same as BibTeX, the software first."""
    return "\n\n".join([SOFTWARE, *(paper.bibtex for paper in papers_of(created).values())])
