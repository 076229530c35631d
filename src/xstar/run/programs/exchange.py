"""How a program and its run speak to each other: files in the trial's folder, named by environment variables.

config.json     XSTAR_CONFIG      the configuration
metrics.jsonl   XSTAR_METRICS     one JSON object a line, appended by the program (all runs of the trial)
verdict         XSTAR_VERDICT     one line: "continue BYTES" or "stop BYTES"; so much of metrics.jsonl was judged
report          XSTAR_REPORT      an executable that appends to metrics.jsonl and waits for the verdict
checkpoint/     XSTAR_CHECKPOINT  a folder of the trial's own, kept between runs
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from xstar.run.programs import report_client
from xstar.run.programs.output import Lines
from xstar.run.programs.placeholders import to_json

CHUNK = 65_536

CLIENT = report_client.__file__


class Exchange:
    """The files of one run."""

    def __init__(self, folder: Path, checkpoint: Path, config: Mapping[str, Any]) -> None:
        self.folder, self.checkpoint = folder, checkpoint
        self.config, self.metrics = folder / "config.json", folder / "metrics.jsonl"
        self.verdict, self.report = folder / "verdict", folder / "report"
        _write(self.config, to_json(config) + "\n")
        _write(self.report, f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", "-S", CLIENT])} "$@"\n', mode=0o755)
        self.metrics.touch()
        self._before = self._read = self.metrics.stat().st_size  # what earlier runs wrote
        self._judged = 0
        self._lines = Lines()
        self.judge("continue")

    def variables(self, **others: int | str | None) -> dict[str, str]:
        """The environment variables; what is ``None`` is left out."""
        paths = {
            "config": self.config,
            "metrics": self.metrics,
            "verdict": self.verdict,
            "report": self.report,
            "checkpoint": self.checkpoint,
        }
        named = {**paths, **{name: value for name, value in others.items() if value is not None}}
        return {f"XSTAR_{name.upper()}": str(value) for name, value in named.items()}

    def new_lines(self) -> Iterator[tuple[int, bytes]]:
        """What was appended to the metrics since the last call: (bytes up to here, line)."""
        with self.metrics.open("rb") as file:
            file.seek(self._read)
            while data := file.read(CHUNK):
                self._read += len(data)
                for line in self._lines.feed(data):
                    yield self._before + self._lines.done, line

    def last_lines(self) -> Iterator[tuple[int, bytes]]:
        """The same when the program is over: its last line may lack a newline."""
        yield from self.new_lines()
        for line in self._lines.rest():
            yield self._read, line

    def judge(self, verdict: str, upto: int = 0) -> None:
        """Tell the program what was decided about its reports up to a place in the metrics."""
        self._judged = max(self._judged, upto)
        _write(self.verdict, f"{verdict} {self._judged}\n")


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    """All of it or nothing: the program may read at any moment."""
    part = path.with_name(f"{path.name}.new")
    part.write_text(text, encoding="utf-8")
    part.chmod(mode)
    os.replace(part, path)
