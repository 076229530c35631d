"""Record the decisions of every scenario, or make them again: ``python -m tests.decisions.record [--check] FILE``.

A recording is a SQLite database of studies, as a user's would be. ``--check`` audits each: every decision is made anew from the
events before it, and has to come out equal to the last bit. That holds on one machine; another processor may round differently.
"""

from __future__ import annotations

import sys
import time

from tests.decisions.scenarios import SCENARIOS, make, play


def record(path: str, only: list[str]) -> None:
    for name in only or SCENARIOS:
        times = iter(range(1_700_000_000, 1_800_000_000))
        begun = time.process_time()
        study = make(name, lambda: float(next(times)), path)  # noqa: B023
        play(study, SCENARIOS[name], SCENARIOS[name].trials)
        print(f"{name:22} {len(study.history.trials):4} trials {time.process_time() - begun:6.1f} s", flush=True)
        study.close()


def check(path: str, only: list[str]) -> int:
    from xstar.inspect.audit import audit

    wrong = total = 0
    for name in only or SCENARIOS:
        study = make(name, lambda: 0.0, path)
        begun = time.process_time()
        found = audit(study)
        total += found.decisions
        wrong += len(found.findings)
        spent = time.process_time() - begun
        print(f"{name:22} {found.decisions:4} decisions {len(found.findings):3} differ {spent:6.1f} s", flush=True)
        for line in found.findings[:2]:
            print("   ", line[:600])
        study.close()
    print(f"{total} decisions, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--check"]
    if "--check" in sys.argv:
        sys.exit(check(arguments[0], arguments[1:]))
    record(arguments[0], arguments[1:])
