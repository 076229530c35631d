"""Kill programs, workers and the PostgreSQL server at random until so many kills have hit work; check after each.

    python -m tests.crash.soak [--kills 1000] [--seed 0] [--record FILE] [--minutes 60] [--core-types Haswell,Nehalem]
        [--storages sqlite] [--executors processes] [--acting 1]

Rounds alternate between random search, ASHA and MOBSTER, between SQLite and PostgreSQL, between one objective and two, and
between training in the program, in worker processes and on a Ray cluster. In each, two programs share a study, with two workers
each where there are any; every program that starts chooses its BLAS kernels anew. Kills are drawn at random; some programs are
stopped instead, for longer than their lease, and go on afterwards. After each kill the study is checked; after a quarter of
them (each with ``--acting 1``) the storage is backed up and restored, or the study exported, imported and deleted. At the end
two programs bring it to its end. The first thing that does not hold ends the soak with an error, and leaves the folder of the
round behind.
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
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tests.crash.rounds import PROGRAMS, WORKERS, Round, Tally
from tests.crash.server import Server
from tests.run.clusters import ray_cluster
from tests.servers import own_places

METHODS = ("random", "asha", "mobster")
EXECUTORS = ("processes", "inline", "ray")
STORAGES = ("sqlite", "postgresql")
CORE_TYPES = ("Haswell", "Sandybridge", "Nehalem")
PACKS = {
    "sqlite": ("worker",) * 5 + ("program",) * 3 + ("group",) * 2 + ("stop",) * 2,
    "postgresql": ("worker",) * 4
    + ("program",) * 2
    + ("group",)
    + ("server",) * 2
    + ("connection",) * 3
    + ("stop",) * 2,
}
PER_ROUND = {"random": 24, "asha": 24, "mobster": 10}


def kinds(storage: str, executor: str, count: int, dice: random.Random) -> list[str]:
    """What to kill: where the objective runs in the program there are no workers."""
    pack = [kind for kind in PACKS[storage] if executor != "inline" or kind not in ("worker", "group")]
    return [dice.choice(pack) for _ in range(count)]


def soak(
    kills: int,
    seed: int,
    folder: Path,
    end: float,
    core_types: Sequence[str] = (),
    executors: Sequence[str] = EXECUTORS,
    storages: Sequence[str] = STORAGES,
    acting: float = 0.25,
) -> dict[str, Tally]:
    """What was done and found, by storage, method and executor, when ``kills`` have hit work or the time has come."""
    dice, tallies = random.Random(seed), dict[str, Tally]()
    server = Server()
    with ExitStack() as ending:
        ending.callback(server.close)
        address = ""
        for number in itertools.count():
            method = METHODS[number % 3]
            storage = storages[number % len(storages)]
            hits = sum(tally.hits.total() for tally in tallies.values())
            if hits >= kills or time.monotonic() > end:
                return tallies
            place = folder / f"round-{number}"
            place.mkdir()
            executor = executors[(number + number // 3) % len(executors)]
            if executor == "ray" and not address:
                address = ending.enter_context(ray_cluster(PROGRAMS * WORKERS)).address
            objectives, where = 1 + number // 6 % 2, address if executor == "ray" else executor
            pack = kinds(storage, executor, min(PER_ROUND[method] // objectives, kills - hits), dice)
            on = server if storage == "postgresql" else None
            found = Round(place, method, on, dice, where, core_types, objectives, acting).run(pack)
            tallies.setdefault(f"{storage} {method} {executor}", Tally()).add(found)
            shutil.rmtree(place)
            done = f"{hits + found.hits.total():5} of {kills}"
            print(f"{storage:10} {method:8} {executor:9} {done}  {line(found)}", flush=True)
    raise AssertionError("unreachable")


def line(tally: Tally) -> str:
    kinds = ", ".join(f"{kind} {tally.hits[kind]}/{count}" for kind, count in sorted(tally.kills.items()))
    acts = ", ".join(f"{count} {act}" for act, count in sorted(tally.acts.items()))
    return (
        f"hits/kills: {kinds}; acts: {acts or 'none'}; "
        f"{tally.cut_off} runs cut off, {tally.trials} trials, {tally.acknowledged} acknowledged, "
        f"{tally.audits} audits of {tally.decisions} decisions"
    )


def record(tallies: dict[str, Tally], arguments: argparse.Namespace, seconds: float) -> dict[str, Any]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    given = f"--kills {arguments.kills} --seed {arguments.seed} --minutes {arguments.minutes:g}"
    if arguments.acting != 0.25:
        given += f" --acting {arguments.acting:g}"
    if arguments.storages != ",".join(STORAGES):
        given += f" --storages {arguments.storages}"
    if arguments.executors != ",".join(EXECUTORS):
        given += f" --executors {arguments.executors}"
    if arguments.core_types != ",".join(CORE_TYPES):
        given += f" --core-types '{arguments.core_types}'"
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
    parser.add_argument("--executors", default=",".join(EXECUTORS))
    parser.add_argument("--storages", default=",".join(STORAGES))
    parser.add_argument(
        "--acting", type=float, default=0.25, help="how often something is done to the storage after a kill"
    )
    parser.add_argument("--core-types", default=",".join(CORE_TYPES), help="of OpenBLAS; empty: that of this machine")
    arguments = parser.parse_args()
    logging.getLogger("xstar").addHandler(logging.NullHandler())  # of outages, which we make ourselves
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="xstar-soak-"))
    with own_places():
        core_types = [name for name in arguments.core_types.split(",") if name]
        tallies = soak(
            arguments.kills,
            arguments.seed,
            folder,
            begun + 60 * arguments.minutes,
            core_types,
            arguments.executors.split(","),
            arguments.storages.split(","),
            arguments.acting,
        )
    shutil.rmtree(folder)
    found = record(tallies, arguments, time.monotonic() - begun)
    text = "{" + ",\n ".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()) + "}\n"
    print(text)
    if arguments.record is not None:
        arguments.record.write_text(text)


if __name__ == "__main__":
    main()
