"""The suites that Hydra ships for launchers and sweepers, with our sweeper as a grid: jobs in order, folders, overrides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("hydra", reason="hydra-core is not installed")

from hydra.test_utils.launcher_common_tests import BatchedSweeperTestSuite, LauncherTestSuite

from tests.integrations.hydra_logging import undone

SWEEPER = ["hydra/sweeper=xstar", "hydra.sweeper.method=grid", "hydra.sweeper.workers=2", "hydra.job.chdir=True"]
ONE_JOB = pytest.mark.xfail(reason="nothing is swept, which our sweeper refuses", strict=True)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The study is stored where the sweep is begun."""
    monkeypatch.chdir(tmp_path)
    with undone():
        yield


@pytest.mark.parametrize(("launcher_name", "overrides"), [("basic", SWEEPER)])
class TestLauncher(LauncherTestSuite):
    """Nine tests, three of which sweep nothing."""

    test_sweep_1_job = ONE_JOB(LauncherTestSuite.test_sweep_1_job)
    test_sweep_1_job_strict = ONE_JOB(LauncherTestSuite.test_sweep_1_job_strict)
    test_sweep_with_custom_resolver = ONE_JOB(LauncherTestSuite.test_sweep_with_custom_resolver)


@pytest.mark.parametrize(("launcher_name", "overrides"), [("basic", [*SWEEPER])])
class TestBatches(BatchedSweeperTestSuite):
    """Jobs of a batch, and of the next one, have folders of their own."""

    get_task_function: Any = LauncherTestSuite.get_task_function
