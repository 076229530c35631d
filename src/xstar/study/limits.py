"""When a study ends: stop rules as functions of the history and the clock."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xstar.core.checks import check_counts
from xstar.core.values import unwrap
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.trial import State


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

    def __post_init__(self) -> None:
        for name in ("seconds", "target"):
            object.__setattr__(self, name, unwrap(getattr(self, name)))
        check_counts(self, {"trials": 0, "patience": 1}, ("trials", "patience"), {})
        for name in ("seconds", "target"):
            value = getattr(self, name)
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value)
            ):
                raise InvalidArgument(name, "must be a number", value)
        if self.seconds is not None and not self.seconds > 0:
            raise InvalidArgument("seconds", "must be above 0", self.seconds)

    def over(self, history: History, elapsed: float) -> str | None:
        """Why nothing at all should be started any more, or ``None``."""
        if self.seconds is not None and elapsed >= self.seconds:
            return f"the time limit of {self.seconds:g} s is reached"
        best = history.best
        if (
            self.target is not None
            and best is not None
            and best.state is State.COMPLETE
            and best.known_loss <= history.sign * self.target
        ):
            return f"the target {self.target:g} is reached"
        if self.patience is not None and history.since_best >= self.patience:
            return f"{history.since_best} trials in a row brought no improvement"
        return None

    def full(self, history: History) -> str | None:
        """Why no *new* trial should be started (lost and paused ones may still go on), or ``None``."""
        if self.trials is not None and len(history.trials) - history.added >= self.trials:
            return f"all {self.trials} trials are done"
        return None


NO_LIMITS = Limits()
