"""What a trial is doing."""

from __future__ import annotations

from enum import Enum


class State(Enum):
    """What a trial is doing. ``RUNNING``, ``PAUSED`` and ``WAITING`` trials may still change; the others are over."""

    RUNNING = "running"
    PAUSED = "paused"  # at a rung, checkpoint kept, until the scheduler promotes it
    WAITING = "waiting"  # its worker or its program died; it will be run again from its checkpoint
    COMPLETE = "complete"
    STOPPED = "stopped"  # ended early by the scheduler; its reports count
    FAILED = "failed"
    INFEASIBLE = "infeasible"  # the objective said that it cannot be evaluated, or a constraint is violated

    # Members are unique objects. Enum's own hash is Python code and took a tenth of the time of an in-memory trial.
    __hash__ = object.__hash__

    @property
    def over(self) -> bool:
        """No further report can change the trial."""
        return self in _OVER


_OVER = frozenset({State.COMPLETE, State.STOPPED, State.FAILED, State.INFEASIBLE})

LIVE = frozenset({State.RUNNING, State.WAITING})
"""A run of a trial in one of these states may report: it runs, or was given up and may prove to be alive after all."""
