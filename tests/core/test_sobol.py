"""Our points of the Sobol sequence are SciPy's, scrambled or not, from any number on."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import qmc

from xstar.core.sobol import MOST, MOST_OWN, sobol


@pytest.mark.parametrize("dimensions", [1, 2, 3, 7, 20, MOST_OWN, MOST_OWN + 1])
@pytest.mark.parametrize("start", [0, 1, 1024, 5120])
@pytest.mark.parametrize("scramble", [False, True])
def test_points_are_those_of_scipy(dimensions: int, start: int, scramble: bool) -> None:
    theirs = qmc.Sobol(dimensions, scramble=scramble, rng=np.random.default_rng(5))
    if start:
        theirs.fast_forward(start)
    rng = np.random.default_rng(5) if scramble else None
    assert (sobol(dimensions, start, 512, rng) == theirs.random(512)).all()


def test_as_many_dimensions_as_scipy_has() -> None:
    assert qmc.Sobol.MAXDIM == MOST


def test_any_block_is_a_part_of_the_sequence() -> None:
    whole = sobol(4, 0, 300, np.random.default_rng(1))
    assert (sobol(4, 100, 50, np.random.default_rng(1)) == whole[100:150]).all()
