"""XGBoost on a growing share of its training set: YAHPO Gym's ``rbv2_xgboost`` as problems over budgets.

``rbv2-xgboost-7`` is the task with that number in the surrogate's encoding, as in ``xgboost-29`` of ``objectives``; numbers are
odd. Budget r, 1 to 27, is a training on r/27 of the rows: the loss is 1 - AUC in percent, the seconds are those of that
training, put in order where they do not grow with the share. A resumed training costs the difference, as if rows were added to
it. There is no noise. The space has conditions: of three boosters one is linear.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness.trade_off_tables import AUC, SURROGATE, TRAINING, XGBOOST, xgboost_answers
from benchmarks.tables import data
from xstar.space import Config
from xstar.testing.problems import Curve

FAMILY = "rbv2-xgboost-"
STEPS = 27
SHARES = tuple(step / STEPS for step in range(1, STEPS + 1))
UNSEEN = tuple(f"{FAMILY}{task}" for task in (7, 23, 41, 53, 69, 85, 107, 115))
"""Tasks that nothing was chosen on, at even distances in the list: the nearest that ``objectives`` does not have, and for which
an evolutionary search of 10,000 configurations finds no AUC above 0.999, which a surrogate may say where it knows nothing."""
DRAWN = 2_000


class TrainingSets:
    """One task."""

    space = XGBOOST
    budgets = tuple(range(1, STEPS + 1))
    unit = "1 - AUC in percent"

    def __init__(self, task: int) -> None:
        self.name = f"{FAMILY}{task}"
        self._answers = xgboost_answers(task)

    def curve(self, config: Mapping[str, Any], seed: int) -> Curve:
        (answer,) = self._answers([config], SHARES)
        return Curve((100.0 * (1.0 - answer[:, AUC])).tolist(), data.increasing(answer[:, TRAINING]).tolist())

    def loss(self, config: Mapping[str, Any]) -> float:
        return self.curve(config, 0).losses[-1]

    @cached_property
    def best(self) -> Config:
        """The best of what was drawn at random. No closed form is known, and experiments compare with the best of all runs."""
        rng = np.random.default_rng(0)
        drawn = [self.space.sample(rng) for _ in range(DRAWN)]
        return drawn[int(self._answers(drawn, SHARES[-1:])[:, 0, AUC].argmax())]

    @property
    def optimum(self) -> float:
        return self.loss(self.best)


def missing() -> str:
    """What keeps these problems from being made here, in words; empty where nothing does."""
    if files := [file for file in SURROGATE if not data.present(file)]:
        return f"no {', '.join(files)} in {data.folder()} (set {data.VARIABLE})"
    return "" if find_spec("onnxruntime") else "onnxruntime not installed (pip install onnxruntime)"
