"""Record the decisions of every scenario, or of some: ``python -m tests.decisions.record [NAME …]``.

A recording is a dump of a SQLite database of studies, as a user's would be: ``recorded.sql.gz``. Scenarios that are not named
stay as they are.
"""

from __future__ import annotations

import gzip
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from tests.decisions.scenarios import SCENARIOS, make, play
from xstar.storage import SqlStorage

RECORDED = Path(__file__).with_name("recorded.sql.gz")


def unpack(path: Path) -> None:
    """The recorded database as a file."""
    connection = sqlite3.connect(path)
    connection.executescript(gzip.decompress(RECORDED.read_bytes()).decode())
    connection.close()


def record(path: Path, names: list[str]) -> None:
    """Run the scenarios of these names again, in the database at ``path``."""
    storage = SqlStorage(path)
    for info in storage.list():
        if info.name in names or info.name not in SCENARIOS:
            storage.delete(info.name)
    storage.close()
    for name in names:
        times = iter(range(1_700_000_000, 1_800_000_000))
        begun = time.process_time()
        with make(name, lambda: float(next(times)), str(path)) as study:  # noqa: B023
            play(study, SCENARIOS[name], SCENARIOS[name].trials)
            print(f"{name:22} {len(study.history.trials):4} trials {time.process_time() - begun:6.1f} s", flush=True)


def main(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "studies.db"
        if names:
            unpack(path)
        record(path, names or list(SCENARIOS))
        connection = sqlite3.connect(path)
        RECORDED.write_bytes(gzip.compress("\n".join(connection.iterdump()).encode(), mtime=0))
        connection.close()


if __name__ == "__main__":
    main(sys.argv[1:])
