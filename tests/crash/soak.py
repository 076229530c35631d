"""Kill programs, workers and the PostgreSQL server at random until so many kills have hit work; check after each.

    python -m tests.crash.soak [--kills 1000] [--seed 0] [--record FILE] [--minutes 60]

Rounds alternate between random search, ASHA and MOBSTER, and between SQLite and PostgreSQL. In each, two programs with two
workers each share a study. Kills are drawn at random; after each the study is checked, and in the end two programs bring it to
its end. The first thing that does not hold ends the soak with an error, and leaves the folder of the round behind.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import platform
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.crash.rounds import Round, Tally
from tests.crash.server import Server
from tests.servers import own_places

METHODS = ("random", "asha", "mobster")
PACKS = {
    "sqlite": ("worker",) * 5 + ("program",) * 3 + ("group",) * 2,
    "postgresql": ("worker",) * 4 + ("program",) * 2 + ("group",) + ("server",) * 2 + ("connection",) * 3,
}
PER_ROUND = {"random": 24, "asha": 24, "mobster": 10}


def soak(kills: int, seed: int, folder: Path, end: float) -> dict[str, Tally]:
    """What was done and found, by storage and method, when ``kills`` have hit work or the time has come."""
    dice, tallies = random.Random(seed), dict[str, Tally]()
    server = Server()
    try:
        for number in itertools.count():
            method = METHODS[number % 3]
            storage = ("sqlite", "postgresql")[number % 2]
            hits = sum(tally.hits.total() for tally in tallies.values())
            if hits >= kills or time.monotonic() > end:
                return tallies
            place = folder / f"round-{number}"
            place.mkdir()
            pack = [dice.choice(PACKS[storage]) for _ in range(min(PER_ROUND[method], kills - hits))]
            found = Round(place, method, server if storage == "postgresql" else None, dice).run(pack)
            tallies.setdefault(f"{storage} {method}", Tally()).add(found)
            shutil.rmtree(place)
            print(f"{storage:10} {method:8} {hits + found.hits.total():5} of {kills}  {line(found)}", flush=True)
    finally:
        server.close()
    raise AssertionError("unreachable")


def line(tally: Tally) -> str:
    kinds = ", ".join(f"{kind} {tally.hits[kind]}/{count}" for kind, count in sorted(tally.kills.items()))
    return (
        f"hits/kills: {kinds}; {tally.cut_off} runs cut off, {tally.trials} trials, {tally.acknowledged} acknowledged, "
        f"{tally.audits} audits of {tally.decisions} decisions"
    )


def record(tallies: dict[str, Tally], arguments: argparse.Namespace, seconds: float) -> dict[str, Any]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    given = f"--kills {arguments.kills} --seed {arguments.seed} --minutes {arguments.minutes:g}"
    return {
        "command": f"python -m tests.crash.soak {given}",
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} cores {platform.machine()}, Python {platform.python_version()}",
        "seconds": round(seconds),
        "total": total.to_json(),
        **{name: tally.to_json() for name, tally in sorted(tallies.items())},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no round after so many minutes")
    parser.add_argument("--record", type=Path, help="a file for the figures")
    arguments = parser.parse_args()
    logging.getLogger("xstar").addHandler(logging.NullHandler())  # of outages, which we make ourselves
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="xstar-soak-"))
    with own_places():
        tallies = soak(arguments.kills, arguments.seed, folder, begun + 60 * arguments.minutes)
    shutil.rmtree(folder)
    found = record(tallies, arguments, time.monotonic() - begun)
    text = "{" + ",\n ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()) + "}\n"
    print(text)
    if arguments.record is not None:
        arguments.record.write_text(text)


if __name__ == "__main__":
    main()
