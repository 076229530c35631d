"""When a study ends: stop rules as functions of the history and the clock, and the one that ends it with an error."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from xstar.core.checks import check_counts
from xstar.core.reasons import last_line
from xstar.core.values import unwrap
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import State

FIRST_FAILURES = 5
"""Bad luck seldom makes the first five trials fail on one line with one exception; a typing error always does."""

_OURS = str(Path(__file__).parents[1]) + os.sep
_FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Limits:
    """Stop rules; whichever is met first ends the study. Running trials are always allowed to finish."""

    trials: int | None = None
    """Total number of trials of the study, earlier sessions included; observations added by hand do not count."""
    seconds: float | None = None
    """Wall-clock time of this call."""
    target: float | None = None
    """Stop as soon as a complete trial is at least this good."""
    patience: int | None = None
    """Stop when this many trials in a row ended without a new best."""
    max_failures: int | None = FIRST_FAILURES
    """End with an ``ObjectiveError`` when the first trials, this many, all raise the same exception on the same line.

    Before any trial has succeeded, only; ``None``: never.
    """

    def __post_init__(self) -> None:
        for name in ("seconds", "target"):
            object.__setattr__(self, name, unwrap(getattr(self, name)))
        check_counts(
            self,
            {"trials": 0, "patience": 1, "max_failures": 1},
            ("trials", "patience", "max_failures"),
            {
                "trials": "it counts all trials of the study, those of earlier calls included",
                "patience": "it is a number of trials; None switches it off",
                "max_failures": "None switches it off",
            },
        )
        for name in ("seconds", "target"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value)
            ):
                raise InvalidArgument(name, "must be a number", value)
        if self.seconds is not None and not self.seconds > 0:
            raise InvalidArgument("seconds", "must be above 0", self.seconds)

    @property
    def endless(self) -> bool:
        """Whether none of the stop rules is set."""
        return all(rule is None for rule in (self.trials, self.seconds, self.target, self.patience))

    @property
    def by_results(self) -> bool:
        """Whether one of the stop rules looks at what trials found."""
        return self.target is not None or self.patience is not None

    def over(self, history: History, elapsed: float) -> str | None:
        """Why nothing at all should be started any more, or ``None``."""
        if self.seconds is not None and elapsed >= self.seconds:
            return f"the time limit of {self.seconds:g} s is reached"
        best = history.best
        if (
            self.target is not None
            and best is not None
            and best.state is State.COMPLETE
            and best.score <= history.goals.signs[0] * self.target
        ):
            return f"the target {self.target:g} is reached"
        if self.patience is not None and history.since_best >= self.patience:
            return f"{history.since_best} trials in a row brought no improvement"
        return None

    def full(self, history: History) -> str | None:
        """Why no *new* trial should be started (lost and paused ones may still go on), or ``None``."""
        if self.trials is not None and history.next_number - history.added >= self.trials:
            return f"all {self.trials} trials are done"
        return None


NO_LIMITS = Limits()


class SameFailure:
    """Watches the first trials of a search: do they all fail alike?"""

    def __init__(self, most: int | None) -> None:
        self._left = most
        self._first: tuple[str, str] | None = None
        self.seen_whole = False
        """An objective has come to its own end, and what it returned was in order."""

    def seen_other(self) -> None:
        """A trial reported, or ended in another way: this is no typing error."""
        self._left = None

    def again(self, reason: str) -> str | None:
        """A trial raised an exception. Once enough of them have raised the same: where and what it is."""
        raised = raised_at(reason)
        if self._left is None or raised is None or self._first not in (None, raised):
            self.seen_other()
            return None
        self._first = raised
        self._left -= 1
        if self._left > 0:
            return None
        # A line of ours is no place to look for the mistake, and a program that wrote nothing has none.
        place, last = raised[0], last_line(reason)
        return last if place.startswith(_OURS) or last.startswith(place) else f"{place}, {last}"


def raised_at(reason: str) -> tuple[str, str] | None:
    """(place, type) of the exception that a traceback ends with; ``None`` if it is no traceback.

    Of a program that wrote none: how it ended and its last line.
    """
    frames = list(_FRAME.finditer(reason))
    if not frames:
        first = reason.partition("\n")[0]
        return (first.partition(";")[0], last_line(reason)) if first.startswith("the program ") else None
    # The user's line rather than the one in xstar that it called. There is none where what the objective returned is refused.
    theirs = [found for found in frames if not found[1].startswith(_OURS)]
    file, line = (theirs or frames)[-1].groups()
    # Below the last place stand its lines of code, indented, and then the exception; its message may have several lines.
    below = reason[frames[-1].end() :].splitlines()[1:]
    named = next((text for text in below if text and not text[0].isspace()), "")
    return f"{file}, line {line}", named.partition(":")[0]
