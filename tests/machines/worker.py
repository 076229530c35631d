"""A program under kernels of its own, which is called by lines of JSON on its standard input: ``[function, arguments]``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any

import xstar as xs
from tests.decisions.scenarios import SCENARIOS, loss_of, make, play
from xstar.core.clock import wall_clock
from xstar.core.environment import environment
from xstar.look.audit import audit
from xstar.look.likeness import EXACT
from xstar.storage import SqlStorage


class Calls:
    """What a program does to studies of scenarios in one storage."""

    def __init__(self, storage: str) -> None:
        self.storage = storage
        self.open: dict[str, xs.Study] = {}

    def kernel(self) -> str:
        return environment()["kernel"]

    def run(self, name: str, trials: int) -> None:
        """Go on with the search of a scenario to so many trials."""
        with self._study(name) as study:
            play(study, SCENARIOS[name], trials)

    def ask(self, name: str) -> int:
        if name not in self.open:
            self.open[name] = self._study(name)
        trial = self.open[name].ask()
        assert trial is not None
        return trial.number

    def tell(self, name: str, number: int) -> None:
        study = self.open[name]
        study.tell(number, loss_of(study.refresh().trials[number].config))

    def close(self, name: str) -> None:
        self.open.pop(name).close()

    def forget(self, name: str) -> None:
        """Delete the study of a scenario."""
        storage = SqlStorage(self.storage)
        if storage.exists(name):
            storage.delete(name)
        storage.close()

    def exact(self, name: str) -> list[dict[str, Any]]:
        """Of each trial: the method, and what of its origin is the same on every machine."""
        with self._study(name) as study:
            origins = [trial.origin for trial in study.history.trials]
        kept = [
            {key: each.numbers[key] for key in EXACT.get(each.method, ()) if key in each.numbers} for each in origins
        ]
        return [{"method": each.method, **numbers} for each, numbers in zip(origins, kept, strict=True)]

    def audit(self, name: str) -> dict[str, Any]:
        with self._study(name) as study:
            found = audit(study)
        counts = [{each.value: number for each, number in every.counts.items()} for every in found.other_environments]
        return {
            "findings": found.findings,
            "elsewhere": counts,
            "said": [str(each) for each in found.other_environments],
        }

    def _study(self, name: str) -> xs.Study:
        return make(name, wall_clock, self.storage)


class Program:
    """A process that answers calls under the kernels of one type of processor core."""

    def __init__(self, core: str, storage: str) -> None:
        command = [sys.executable, "-m", "tests.machines.worker", storage]
        variables = os.environ | {"OPENBLAS_CORETYPE": core}
        self._process = subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def __enter__(self) -> Program:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def __call__(self, function: str, *arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([function, arguments]) + "\n")
        answer = self._process.stdout.readline()
        assert answer, f"the program ended during {function}{arguments}"
        return json.loads(answer)


def main(storage: str) -> None:
    calls = Calls(storage)
    for line in sys.stdin:
        function, arguments = json.loads(line)
        sys.stdout.write(json.dumps(getattr(calls, function)(*arguments)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
