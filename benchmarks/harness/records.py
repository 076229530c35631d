"""What a run is known by and what is kept of it: one line of JSON per run in ``records/<experiment>.jsonl``.

    {"task": {"seed": 0, "problem": "branin", "method": "xstar-gp", "evaluations": 100},
     "found": {"best": [[1, 24.13], [4, 2.2], …], "processor": 0.41},
     "made": {"commit": "dec45ac", "machine": "2 cores x86_64, Python 3.11.7", "versions": {"xstar": "0.1.0", …}}}

The lines are committed, so they are short: of a search only the improvements of its incumbent are kept, as pairs of the number
of the evaluation and the loss, and numbers have ``DIGITS`` significant digits. Of two lines for one task the later one counts.
``<experiment>.jsonl.gz`` holds older ones, packed by ``pack.py``; what is new is appended to the file beside it.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "records"
DIGITS = 10
"""Enough for a regret of 1e-9 on Branin's function."""
BRIEF = 4
"""Of times: they vary by more than this from run to run."""

Value = str | int | float | bool | None
Found = dict[str, Any]
Trajectory = Sequence[Sequence[float]]
"""(number of the evaluation or time, lowest loss from there on)"""


@dataclass(frozen=True)
class Task:
    """One run: all that its outcome depends on, besides the code."""

    seed: int
    problem: str
    method: str
    settings: tuple[tuple[str, Value], ...] = ()

    @classmethod
    def of(cls, seed: int, problem: str, method: str, **settings: Value) -> Task:
        return cls(seed, problem, method, tuple(sorted(settings.items())))

    def __getitem__(self, name: str) -> Any:
        return dict(self.settings)[name]

    def get(self, name: str) -> Value:
        return dict(self.settings).get(name)

    def to_json(self) -> dict[str, Value]:
        return {"seed": self.seed, "problem": self.problem, "method": self.method, **dict(self.settings)}

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> Task:
        return cls.of(**given)

    def __str__(self) -> str:
        rest = "".join(f" {name}={value}" for name, value in self.settings)
        return f"{self.problem} {self.method} seed {self.seed}{rest}"


@dataclass(frozen=True)
class Record:
    """What came of a task, and where."""

    task: Task
    found: Found
    made: Mapping[str, Any]

    def line(self) -> str:
        content = {"task": self.task.to_json(), "found": significant(self.found, DIGITS), "made": dict(self.made)}
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"

    @classmethod
    def parse(cls, line: str) -> Record:
        content = json.loads(line)
        return cls(Task.from_json(content["task"]), content["found"], content["made"])


@dataclass(frozen=True)
class Store:
    """The file of an experiment."""

    file: Path

    @property
    def packed(self) -> Path:
        return self.file.with_name(self.file.name + ".gz")

    def read(self) -> dict[Task, Record]:
        lines = gzip.decompress(self.packed.read_bytes()).decode().splitlines() if self.packed.exists() else []
        lines += self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        return {record.task: record for record in map(Record.parse, lines)}

    def append(self, record: Record) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(record.line())


def significant(value: Any, digits: int = BRIEF) -> Any:
    """Floats with so many significant digits, in lists and dictionaries, too."""
    match value:
        case float() if value and math.isfinite(value):
            return float(f"{value:.{digits}g}")
        case Mapping():
            return {name: significant(each, digits) for name, each in value.items()}
        case list() | tuple():
            return [significant(each, digits) for each in value]
    return value


def improvements(losses: Iterable[float | None]) -> list[tuple[int, float]]:
    """(number from 1, loss) of every loss that is lower than all before it; None is a failed trial.

    >>> improvements([3.0, 4.0, None, 2.0])
    [(1, 3.0), (4, 2.0)]
    """
    steps: list[tuple[int, float]] = []
    for number, loss in enumerate(losses, 1):
        if loss is not None and (not steps or loss < steps[-1][1]):
            steps.append((number, loss))
    return steps


def best_after(trajectory: Trajectory, end: float) -> float:
    """The lowest loss by then; ∞ if there was none.

    >>> best_after([(1, 3.0), (4, 2.0)], 3)
    3.0
    """
    return min((loss for at, loss in trajectory if at <= end), default=math.inf)


def arrival(trajectory: Trajectory, target: float) -> float:
    """When the target was reached; ∞ if it was not.

    >>> arrival([(1, 3.0), (4, 2.0)], 2.5)
    4
    """
    return next((at for at, loss in trajectory if loss <= target), math.inf)
