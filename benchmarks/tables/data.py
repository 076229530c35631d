"""Where the tables are, and how their columns become seconds that a simulator can play back."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument, MissingExtra
from xstar.testing.problems import Problem


@dataclass(frozen=True)
class Entry:
    """How a problem is made, and what has to be there first."""

    make: Callable[..., Problem]
    """Called with the options of ``get``; its keyword-only parameters are the options there are."""
    files: tuple[str, ...] = ()
    """The files it reads, relative to the folder of ``XSTAR_DATA``."""
    packages: tuple[str, ...] = ()
    """The packages of the extra ``benchmarks`` it imports."""


VARIABLE = "XSTAR_DATA"
DEFAULT = "../shared/data"  # beside a checkout

# The least time one budget takes, as a share of the mean one: small beside any step that was measured, large beside
# the rounding of a sum.
LEAST_STEP = 0.01


def folder() -> Path:
    """The folder of tables: the environment variable, or the default beside the current directory."""
    return Path(os.environ.get(VARIABLE) or DEFAULT).absolute()


def present(name: str) -> bool:
    return (folder() / name).is_file()


def path(name: str) -> Path:
    """The table ``name``, or the error that says how to make it known. Absolute: caches are keyed by it."""
    found = folder() / name
    if not found.is_file():
        remedy = f"set the environment variable {VARIABLE} to the folder that has it; see docs/problems.md"
        raise InvalidArgument(VARIABLE, f"must be a folder with the file {name}", str(folder()), remedy)
    return found


@cache
def surrogate(model: Path, encoding: Path) -> tuple[Any, dict[str, dict[str, int]]]:
    """The ``run`` of a model of YAHPO Gym, shared by all who ask, and the numbers of its categories."""
    try:
        onnxruntime: Any = import_module("onnxruntime")
    except ImportError:
        raise MissingExtra("a surrogate needs onnxruntime: pip install onnxruntime") from None
    options = onnxruntime.SessionOptions()
    # A few rows are too few to share: a second thread gains nothing, and comparisons run side by side anyway.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return session.run, json.loads(encoding.read_text(encoding="utf-8"))


def increasing(seconds: NDArray[Any]) -> NDArray[np.float64]:
    """Cumulative seconds (…, budgets) made strictly increasing along the last axis.

    Where one budget seems to end before an earlier one, either may be wrong: the middle is taken between the lowest
    non-decreasing curve above the measurements and the highest one below them. Measurements in order stay as they
    are, but for steps shorter than ``LEAST_STEP`` of the mean one.

    >>> increasing(np.array([2.0, 1.0, 4.0])).tolist()
    [1.5, 1.5133333333333334, 4.013333333333334]
    """
    above = np.maximum.accumulate(seconds, axis=-1, dtype=np.float64)
    below = np.minimum.accumulate(seconds[..., ::-1], axis=-1, dtype=np.float64)[..., ::-1]
    middle = (above + below) / 2
    steps = np.diff(middle, axis=-1)
    least = LEAST_STEP * middle[..., -1:] / middle.shape[-1]
    if (steps >= least).all():
        return middle
    result = np.concatenate([middle[..., :1], np.maximum(steps, least)], axis=-1)
    return np.cumsum(result, axis=-1)
