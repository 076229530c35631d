"""Asynchronous halving decides as Section 2 of the MOBSTER paper says: beside a plain form of its text, on random histories."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings, strategies as st

import xstar as xs
from tests.trials import ask
from xstar.journal.trial import State, Verdict
from xstar.schedulers import ASHA, StoppingASHA
from xstar.searchers import Random

SPACE = xs.Space(x=xs.Float(0, 1))
LOSSES = st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5])
"""Few, so that there are ties."""
STEPS = st.lists(st.tuples(st.integers(0, 5), LOSSES, st.integers(0, 19)), min_size=1, max_size=120)
"""Each: who acts (0: a free worker; else one of the running trials), what it reports, and whether it fails instead (0)."""


class Paper:
    """R = {r_min·η^k}; a rung is the list of configurations that reached it, with their metric values."""

    def __init__(self, rungs: tuple[int, ...], eta: int) -> None:
        self.rungs, self.eta = rungs, eta
        self.records: dict[int, dict[int, float]] = defaultdict(dict)
        self.paused: dict[int, set[int]] = defaultdict(set)

    def continues(self, r: int, y: float) -> bool:
        """ "True iff y is in the top η⁻¹ fraction of records at the rung"."""
        rank = 1 + sum(other < y for other in self.records[r].values())
        return rank * self.eta <= len(self.records[r])

    def promote(self) -> tuple[int, int] | None:
        """ "Rungs are scanned in descending order, running a job to promote the first paused x for which continue is true"."""
        for r, above in reversed(list(zip(self.rungs, self.rungs[1:], strict=False))):
            for y, x in sorted((self.records[r][x], x) for x in self.paused[r]):
                if self.continues(r, y):
                    self.paused[r].remove(x)
                    return x, above
        return None  # "a new configuration evaluation is started"

    def reach(self, x: int, r: int, y: float) -> None:
        self.records[r][x] = y


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(STEPS, st.sampled_from([(9, 3), (8, 2), (10, 3), (27, 4)]))
def test_promotion(steps: list[tuple[int, float, int]], ladder: tuple[int, int]) -> None:
    top, eta = ladder
    study = xs.Study(SPACE, searcher=Random(), scheduler=ASHA(top, eta=eta), seed=0)
    paper = Paper(study.scheduler.rungs, eta)
    running: list[xs.Trial] = []
    for who, y, luck in steps:
        if not running or who == 0:
            promoted = paper.promote()
            trial = ask(study)
            assert (trial.number, trial.target) == (promoted or (len(study.trials) - 1, 1))
            assert (trial.attempt > 0) == (promoted is not None)
            running.append(trial)
            continue
        trial = running.pop(who % len(running))
        if luck == 0:
            study.fail(trial, "bad luck")
            continue
        r = trial.target
        assert r is not None
        verdict = study.report(trial, y, budget=r)
        if r < top:
            paper.reach(trial.number, r, y)
            paper.paused[r].add(trial.number)
            assert verdict is Verdict.PAUSE
        else:
            assert trial.state is State.COMPLETE


@settings(max_examples=150, derandomize=True, database=None, deadline=None)
@given(STEPS, st.sampled_from([(9, 3), (8, 2), (10, 3), (27, 4)]))
def test_stopping(steps: list[tuple[int, float, int]], ladder: tuple[int, int]) -> None:
    top, eta = ladder
    study = xs.Study(SPACE, searcher=Random(), scheduler=StoppingASHA(top, eta=eta), seed=0)
    paper = Paper(study.scheduler.rungs, eta)
    running: list[xs.Trial] = []
    for who, y, luck in steps:
        if not running or who == 0:
            trial = ask(study)
            assert (trial.number, trial.target) == (len(study.trials) - 1, 1)
            running.append(trial)
            continue
        trial = running.pop(who % len(running))
        if luck == 0:
            study.fail(trial, "bad luck")
            continue
        r = trial.target
        assert r is not None
        verdict = study.report(trial, y, budget=r)
        if r == top:
            assert trial.state is State.COMPLETE
            continue
        paper.reach(trial.number, r, y)
        # "As long as fewer than η configurations have reached a rung, the job is always continued."
        goes_on = len(paper.records[r]) < eta or paper.continues(r, y)
        assert verdict is (Verdict.CONTINUE if goes_on else Verdict.STOP)
        if goes_on:
            assert trial.target == paper.rungs[paper.rungs.index(r) + 1]
            running.append(trial)
