"""Optuna's own tests of samplers, from its wheel, with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("optuna", reason="Optuna is not installed")

from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    MultiObjectiveSamplerTestCase,
    RelativeSamplerTestCase,
)

from xstar.integrations.optuna import Sampler

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")]


class TestSampler(BasicSamplerTestCase, RelativeSamplerTestCase, MultiObjectiveSamplerTestCase):
    @pytest.fixture(params=["auto", "tpe", "cma"])
    def sampler(self, request: Any) -> Callable[[], Sampler]:
        return lambda: Sampler(request.param, seed=0)
