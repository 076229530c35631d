"""Objectives that train in several processes: plain torch, one group for each run of a trial."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import xstar as xs

torch = pytest.importorskip("torch", reason="torch is not installed")

from xstar.errors import InvalidArgument, ObjectiveError  # noqa: E402
from xstar.integrations.distributed import Distributed  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SPACE = xs.Space(lr=xs.Float(1e-4, 1.0, log=True))


def mean_of_ranks(trial: Any) -> None:
    """Every rank has a part of the loss; the sum of both is reported."""
    torch.distributed.init_process_group("gloo")
    state = trial.load() or 0
    for epoch in range(trial.start + 1, trial.max_budget + 1):
        part = torch.tensor([trial["lr"] + torch.distributed.get_rank() + 1 / epoch])
        torch.distributed.all_reduce(part)
        state += 1
        trial.save(state, epoch=epoch)
        trial.report({"loss": float(part)}, epoch)


@pytest.mark.slow
def test_all_ranks_train_every_trial_and_are_paused_together(tmp_path: Path) -> None:
    before = dict(os.environ)
    result = xs.minimize(
        Distributed(mean_of_ranks),
        SPACE,
        metric="loss",
        method="asha",
        max_budget=3,
        trials=3,
        seed=0,
        directory=tmp_path,
    )
    trials = result.study.trials
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert sorted(trial.budget for trial in trials) == [1, 1, 3]
    assert result.value == pytest.approx(2 * result.best["lr"] + 1 + 2 / 3, rel=1e-5)
    assert result.load() == 3
    assert before.items() <= os.environ.items()
    # Libraries that were imported meanwhile may have added variables of their own.
    assert not {"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} & (os.environ.keys() - before.keys())


def dies(trial: Any) -> None:
    if os.environ["RANK"] == "1":
        sys.exit(7)
    trial.report({"loss": 1.0})


class DiesOnArrival:
    """Cannot be unpickled in another process."""

    def __reduce__(self) -> Any:
        return _arrive, (os.getpid(),)


def _arrive(process: int) -> Any:
    if os.getpid() != process:
        sys.exit(9)
    return DiesOnArrival()


@pytest.mark.slow
def test_a_rank_that_dies_is_named() -> None:
    given: dict[str, Any] = {"metric": "loss", "max_budget": 2, "trials": 1, "max_failures": 1, "method": "random"}
    with pytest.raises(ObjectiveError, match="rank 1 ended with exit code 7"):
        xs.minimize(Distributed(dies), SPACE, **given)
    arriving = DiesOnArrival()
    with pytest.raises(ObjectiveError, match=r"rank 1 ended .* exit code 9"):
        xs.minimize(Distributed(lambda trial: arriving), SPACE, **given)


def test_one_process_is_the_objective_itself() -> None:
    result = xs.minimize(Distributed(lambda trial: trial["lr"], processes=1), SPACE, trials=3, method="random", seed=0)
    assert result.value == result.best["lr"]
    with pytest.raises(InvalidArgument, match="processes: must be"):
        Distributed(mean_of_ranks, processes=0)
