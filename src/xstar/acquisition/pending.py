"""Condition a model on pending trials.

``fantasies``       M joint draws of all pending targets (MOBSTER, A.1); the acquisition function is averaged over them.
``hallucination``   pending points reduce the variance and leave the mean unchanged (NASBOT, Section 4; Desautels et al.
                    2014).
``ignored``         for comparison only: workers that ask at the same time receive the same point.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from xstar.acquisition.model import Model
from xstar.models.kernels import Array

M = TypeVar("M", bound=Model)


def with_pending(model: M, pending: Array, how: str, fantasies: int, rng: np.random.Generator) -> M:
    """Return the model conditioned on the ``pending`` inputs."""
    if how == "ignored" or len(pending) == 0:
        return model
    return model.fantasised(pending, fantasies if how == "fantasies" else 0, rng)
