"""A trial that waits is run again only if nobody reported for it since that was decided."""

from __future__ import annotations

from typing import Any

import xstar as xs
from tests.trials import ask
from xstar.inspect.audit import audit
from xstar.journal import events as ev

SPACE = xs.Space(x=xs.Float(0, 1))


def test_a_holder_that_reports_while_its_trial_is_taken_over_keeps_it(storage: str) -> None:
    """It was stopped for longer than its lease, and goes on at the very moment: a report takes no claim."""
    with (
        xs.Study(SPACE, name="race", storage=storage, method="random", seed=0) as holder,
        xs.Study.open("race", storage=storage) as other,
    ):
        trial = ask(holder)
        other._ledger.settle(lambda: ev.Lost(0, "stopped", other.clock(), 0, may_live=True))
        start, decided = other._next, []

        def interrupted(*about: Any) -> Any:
            made = start(*about)
            decided.append(made)
            if len(decided) == 1:
                assert isinstance(made, ev.Started)
                holder.tell(trial, 0.5)
            return made

        other._next = interrupted  # type: ignore[method-assign,assignment]
        taken = ask(other)
        assert taken.number == 1
        kinds = [type(event).__name__ for event in other.journal.read(0)]
        assert kinds == ["Created", "Asked", "Lost", "Reported", "Asked"]
        other.tell(taken, 0.1)
        assert audit(other).findings == []
