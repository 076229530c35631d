"""The explanation of a trial: what was known, what was compared, what was decided; as text and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from xstar.core.words import number, short_config
from xstar.plots.figure import plain


@dataclass(frozen=True)
class Candidate:
    """A configuration that was compared with others."""

    config: dict[str, Any]
    acquisition: float | None
    mean: float | None
    """What the surrogate expected there, in the user's own direction."""
    low: float | None
    high: float | None
    """Its 95 % interval."""
    chosen: bool = False


@dataclass(frozen=True)
class Turn:
    """What was decided about a trial at some moment."""

    event: int
    """The number of the event that records it."""
    what: str
    why: str


@dataclass
class Why:
    """The explanation of one trial."""

    trial: int
    origin: str
    seen: int
    known: str
    """What the searcher knew, in words."""
    choice: str = ""
    """How it chose, in words."""
    acquisition: str = ""
    """The name of the acquisition function; empty where there was none."""
    candidates: list[Candidate] = field(default_factory=list)
    """The chosen configuration and the runners-up."""
    turns: list[Turn] = field(default_factory=list)
    recomputed: str = ""
    """Whether the decision came out alike when it was made again."""

    def to_json(self) -> dict[str, Any]:
        """For the dashboard."""
        made: dict[str, Any] = plain(asdict(self))
        return made

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """For a terminal."""
        made = [f"trial {self.trial}: {self.origin}", "", self.known, *([self.choice] if self.choice else [])]
        if self.recomputed:
            made.append(self.recomputed)
        for each in self.candidates:
            mark = "chosen   " if each.chosen else "runner-up"
            value = f"{self.acquisition} {number(each.acquisition, 4)}" if each.acquisition is not None else ""
            interval = f"({number(each.low, 4)} to {number(each.high, 4)})"
            mean = f"expected {number(each.mean, 4)} {interval}" if each.mean is not None else ""
            made.append("  ".join(part for part in (f"  {mark}", value, mean, short_config(each.config)) if part))
        if self.turns:
            made.append("")
        return made + [f"event {turn.event}: " + "; ".join(filter(None, (turn.what, turn.why))) for turn in self.turns]
