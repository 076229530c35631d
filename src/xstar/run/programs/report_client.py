"""What a program calls to report: ``"$XSTAR_REPORT" loss=0.3 epoch=3``.

It runs this file alone, with the standard library alone: it takes milliseconds, while importing all of xstar takes most of a
second.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence

STOP = 3
"""The exit code that tells a program to end. (0: go on; 2: the report is not well formed.)"""

BAD_REPORT = 2
PAUSE = 0.02
"""Seconds between two looks at the verdict."""

USAGE = """usage: "$XSTAR_REPORT" NAME=NUMBER… [epoch=NUMBER]     report metrics, and wait for the verdict
       "$XSTAR_REPORT" --infeasible REASON            this configuration cannot be evaluated
options: --no-wait   do not wait for the verdict
exit code: 0 go on; 3 end now (the trial is stopped or paused); 2 the report is not well formed"""


def read_metrics(words: Sequence[str]) -> dict[str, float | str]:
    """``["loss=0.3", "epoch=3"]`` → ``{"loss": 0.3, "epoch": 3.0}``; ``ValueError`` says what is wrong."""
    found: dict[str, float | str] = {}
    for word in words:
        name, sign, text = word.partition("=")
        try:
            number = float(text)
        except ValueError:
            sign = ""
        if not name or not sign:
            raise ValueError(f"must be NAME=NUMBER, but got {word!r}; e.g. loss=0.3")
        if name in found:
            raise ValueError(f"must name a metric once, but got {name!r} twice")
        found[name] = number
    if not found:
        raise ValueError("must name a metric, e.g. loss=0.3")
    return found


def send(report: Mapping[str, float | str], *, wait: bool) -> int:
    """Append a report to the run's metrics; returns the exit code that tells how to go on."""
    line = json.dumps(report) + "\n"
    file = os.open(os.environ["XSTAR_METRICS"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, line.encode())
        end = os.lseek(file, 0, os.SEEK_CUR)
    finally:
        os.close(file)
    if not wait:
        return 0
    with contextlib.suppress(ValueError):  # not the main thread
        signal.signal(signal.SIGTERM, lambda *_: os._exit(STOP))
    while True:
        word, judged = verdict_in(os.environ["XSTAR_VERDICT"])
        if word == "stop":
            return STOP
        if judged >= end:
            return 0
        time.sleep(PAUSE)


def verdict_in(path: str) -> tuple[str, int]:
    """What the verdict file says: the word, and up to which byte of the metrics it goes."""
    try:
        with open(path, encoding="utf-8") as file:
            word, judged = file.read().split()
            return word, int(judged)
    except (OSError, ValueError):
        return "stop", 0  # the trial's folder is gone: nobody will ever answer


def main(words: Sequence[str]) -> int:
    """The command, from its words to its exit code."""
    given = [word for word in words if word != "--no-wait"]
    if not given or given[0] in ("-h", "--help"):
        sys.stdout.write(USAGE + "\n")
        return 0 if given else BAD_REPORT
    report: dict[str, float | str]
    try:
        if given[0] == "--infeasible":
            report = {"infeasible": " ".join(given[1:]) or "the program said so"}
        else:
            report = read_metrics(given)
    except ValueError as error:
        sys.stderr.write(f"$XSTAR_REPORT: {error}\n")
        return BAD_REPORT
    return send(report, wait="--no-wait" not in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
