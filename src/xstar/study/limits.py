"""When a study ends: stop rules as functions of the history and the clock, and the one that ends it with an error."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path

from xstar.core.checks import check_counts, unwrap
from xstar.core.words import last_line, plural
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.journal.trial import State

FIRST_FAILURES = 5
"""Bad luck seldom makes the first five trials fail; a mistake in the code or a machine that is not set up always does."""

REASONS_SHOWN = 3

_OURS = str(Path(__file__).parents[1]) + os.sep
_FRAME = re.compile(r'^ *File "(.+)", line (\d+)', re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Stop rules; whichever is met first ends the study. Running trials are always allowed to finish.

    Parameters
    ----------
    trials
        Total trials, earlier runs included.

        Observations added by hand do not count.
    seconds
        Wall-clock time of this run.
    target
        Stop when a complete trial is this good.
    patience
        Stop after this many trials in a row without a new best.
    max_failures
        Stop with an error when this many trials have failed before any has succeeded.

        ``xs.Infeasible`` is no failure. A search that ends without any value because trials failed ends with an error, too.
        ``None`` switches both off.
    """

    trials: int | None = None
    seconds: float | None = None
    target: float | None = None
    patience: int | None = None
    max_failures: int | None = FIRST_FAILURES

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

    def over(self, history: History, elapsed: float) -> str | None:
        """Why nothing at all should be started any more, or ``None``."""
        if self.seconds is not None and elapsed >= self.seconds:
            return f"the time limit of {self.seconds:g} s is reached"
        best = history.best
        if (
            self.target is not None
            and best is not None
            and best.state is State.COMPLETE
            and best.scores[0] <= history.goals.signs[0] * self.target
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


class Fuse:
    """Ends a search whose trials fail before any of them has succeeded, for whatever reasons."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._reasons: list[str] = []
        self.seen_whole = False
        """An objective has come to its own end, and what it returned was in order."""

    def succeeded(self) -> None:
        """A trial has come to a result: later failures are those of configurations."""
        self._most = None

    def failed(self, reason: str) -> str | None:
        """A trial failed. Once there are enough: how many did, and of what."""
        if self._most is None:
            return None
        self._reasons.append(reason)
        count = len(self._reasons)
        if count < self._most:
            return None
        groups: dict[object, list[str]] = {}
        for each in self._reasons:
            groups.setdefault(raised_at(each) or last_line(each), []).append(each)
        most = sorted(groups.values(), key=len, reverse=True)
        if len(most) == 1:
            how = "" if count == 1 else " in the same way"
            return f"{plural(count, 'trial')} failed{how}, and none succeeded: {_in_a_line(reason)}"
        shown = "; ".join(f"{len(group)} × {_in_a_line(group[-1])}" for group in most[:REASONS_SHOWN])
        more = f"; and {len(most) - REASONS_SHOWN} other reasons" if len(most) > REASONS_SHOWN else ""
        return f"{count} trials failed, and none succeeded: {shown}{more}"


def _in_a_line(reason: str) -> str:
    """Where and what. A line of ours is no place to look for the mistake, and a program that wrote nothing has none."""
    last, raised = last_line(reason), raised_at(reason)
    if raised is None or raised[0].startswith(_OURS) or last.startswith(raised[0]):
        return last
    return f"{raised[0]}, {last}"


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
