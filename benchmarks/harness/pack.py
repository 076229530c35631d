"""Packs the records of an experiment: ``python -m benchmarks.harness.pack budgets [generality …]``.

Of two lines for one task the later one stays. Of a curve the last point before each of ``SHARES`` of a simulated time stays, or
before each count that ``generality`` tells of; what is kept is as exact as it was.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.harness.records import FOLDER, Found, Record, Store, Task, Trajectory

SHARES = [0.005 * 1.11**step for step in range(51)] + [1.0]
"""Of the time, evenly on a logarithmic scale: the share of a time until a regret is known within 5 %."""
COUNTS = (1, 5, 10, 15, 25, 35, 50, 70, 100, 140, 200)


def thinned(steps: Trajectory, ends: Sequence[float]) -> list[list[float]]:
    """The steps that are the last by one of the ends.

    >>> thinned([(1, 9.0), (3, 8.0), (4, 7.0), (9, 6.0)], (5, 10))
    [[4, 7.0], [9, 6.0]]
    """
    last = {max((i for i, (at, _) in enumerate(steps) if at <= end), default=-1) for end in ends}
    return [list(step) for place, step in enumerate(steps) if place in last]


def brief(task: Task, found: Found) -> Found:
    kept = dict(found)
    if "incumbents" in found:
        kept["incumbents"] = thinned(found["incumbents"], COUNTS)
    if task.get("trainings") is not None and "best" in found:
        ends = [share * found["seconds"] for share in SHARES]
        kept |= {name: thinned(found[name], ends) for name in ("best", "full") if name in found}
    return kept


def pack(store: Store) -> None:
    records = sorted(store.read().values(), key=lambda record: json.dumps(record.task.to_json(), sort_keys=True))
    text = "".join(Record(record.task, brief(record.task, record.found), record.made).line() for record in records)
    store.packed.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    store.file.unlink(missing_ok=True)


def main(names: Sequence[str], folder: Path = FOLDER) -> None:
    for name in names:
        pack(Store(folder / f"{name}.jsonl"))


if __name__ == "__main__":
    main(sys.argv[1:])
