"""``trial.save`` and ``trial.load``: whole or absent, never ahead of the record."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.run.cases import Recorder, run
from xstar.errors import InvalidArgument
from xstar.journal.trial import Finished, Job
from xstar.run.running import RunningTrial
from xstar.run.states import States

SPACE = xs.Space(x=xs.Float(0, 1))


def job(folder: Path, start: int = 0, stop: int | None = 9, attempt: int = 0) -> Job:
    return Job(0, {"x": 0.5}, attempt, start, stop, 9, str(folder))


@pytest.mark.parametrize("between", ["before saving", "before reporting", "after reporting"])
def test_a_killed_trial_trains_every_epoch_once_as_far_as_its_model_knows(between: str) -> None:
    def objective(trial: Any) -> None:
        def die(here: str) -> None:
            if here == between and state["epochs"] == 4 and trial.attempt == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        state = trial.load() or {"epochs": 0}
        for _ in trial.epochs():
            state["epochs"] += 1
            die("before saving")
            trial.save(state)
            die("before reporting")
            trial.report(float(state["epochs"]))
            die("after reporting")

    study = xs.minimize(objective, SPACE, trials=1, method="random", max_budget=6, workers=2).study
    (trial,) = study.trials
    assert trial.state is xs.State.COMPLETE, trial.reason
    assert trial.runs.crashes == 1
    assert [(r.budget, r.metrics["value"]) for r in trial.reports] == [(e, float(e)) for e in range(1, 7)]


def saved(folder: Path, *epochs: int) -> None:
    trial = RunningTrial(job(folder))
    for epoch in epochs:
        trial.save({"epoch": epoch}, epoch=epoch)


@pytest.mark.parametrize(
    ("epochs", "recorded", "expected"),
    [
        ((1, 2, 3), 3, 3),  # the usual case
        ((1, 2, 3), 2, 2),  # saved, but not reported
        ((1, 2, 3), 7, 3),  # saved seldom
        ((1,), 0, 1),  # several reports were lost with the program: what there is
        ((4, 5), 2, 4),
        ((9,), 2, None),  # nothing would be left to train
    ],
)
def test_which_state_is_loaded(tmp_path: Path, epochs: tuple[int, ...], recorded: int, expected: int | None) -> None:
    saved(tmp_path, *epochs)
    trial = RunningTrial(job(tmp_path, start=recorded, attempt=1))
    assert trial.load() == (None if expected is None else {"epoch": expected})
    assert trial.epochs()[0] == (expected or 0) + 1


def test_a_checkpoint_ahead_of_the_reports_skips_no_epoch(tmp_path: Path) -> None:
    saved(tmp_path, 7)
    trial = RunningTrial(job(tmp_path, start=4, attempt=1))
    assert list(trial.epochs(done=7)) == [5, 6, 7, 8, 9], "5 to 7 were trained, but are not on record"
    assert list(trial.epochs(done=2)) == [3, 4, 5, 6, 7, 8, 9]


def test_reports_go_on_behind_the_state_that_was_loaded(tmp_path: Path) -> None:
    saved(tmp_path, 2)
    channel = Recorder()

    def objective(trial: Any) -> None:
        state = trial.load()
        for epoch in trial.epochs():
            state["epoch"] += 1
            assert state["epoch"] == epoch
            trial.report(float(epoch))

    assert run(objective, job(tmp_path, start=4, stop=6, attempt=1), channel) == Finished(0, 1)
    assert channel.budgets == [5, 6]


def test_two_states_are_kept_and_none_of_a_future_that_did_not_come(tmp_path: Path) -> None:
    saved(tmp_path, 1, 2, 3, 4)
    states = States(tmp_path / "checkpoint")
    assert [state.epoch for state in states.all()] == [3, 4]
    saved(tmp_path, 3)  # the run was taken up again behind epoch 2
    assert [(state.epoch, state.serial) for state in states.all()] == [(3, 5)]
    saved(tmp_path, 4)
    assert [(state.epoch, state.serial) for state in states.all()] == [(3, 5), (4, 6)]


def test_a_save_that_fails_leaves_the_last_one(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    trial = RunningTrial(job(tmp_path))
    with pytest.raises(Exception, match=r"pickle|local object"):  # the second from Python 3.13 on
        trial.save({"open": lambda: None}, epoch=2)
    assert [entry.name for entry in trial.checkpoint.iterdir()] == ["state-000001-000001.pkl"]


def test_what_a_killed_save_left_is_no_state_and_goes(tmp_path: Path) -> None:
    trial = RunningTrial(job(tmp_path))
    (trial.checkpoint / "state-000005-000009.pkl.new").write_bytes(b"half")
    (trial.checkpoint / "state-000005-000010.new").mkdir()
    again = RunningTrial(job(tmp_path, start=5, attempt=1))
    assert again.load() is None
    again.save([1], epoch=1)
    assert [entry.name for entry in trial.checkpoint.iterdir()] == ["state-000001-000001.pkl"]


def test_a_folder_is_copied(tmp_path: Path) -> None:
    source = tmp_path / "model"
    (source / "weights").mkdir(parents=True)
    (source / "weights" / "first.bin").write_bytes(b"123")
    RunningTrial(job(tmp_path)).save(source, epoch=2)
    (source / "weights" / "first.bin").write_bytes(b"456")
    loaded = RunningTrial(job(tmp_path, start=2, attempt=1)).load()
    assert (loaded / "weights" / "first.bin").read_bytes() == b"123"
    with pytest.raises(InvalidArgument, match="must be a folder"):
        RunningTrial(job(tmp_path)).save(source / "weights" / "first.bin", epoch=3)


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    trial = RunningTrial(job(tmp_path))
    with pytest.raises(InvalidArgument, match=r"how many epochs .* trial\.save\(state, epoch="):
        trial.save({})
    with pytest.raises(InvalidArgument, match="must be something"):
        trial.save(None, epoch=1)
    with pytest.raises(InvalidArgument, match="whole number"):
        trial.save({}, epoch=-1)
    for epoch in trial.epochs():
        trial.save({"at": epoch})
        break
    assert RunningTrial(job(tmp_path, start=1, attempt=1)).load() == {"at": 1}


def test_torch_states_are_read_without_running_code(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    RunningTrial(job(tmp_path)).save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, epoch=1)
    assert [entry.suffix for entry in (tmp_path / "checkpoint").iterdir()] == [".pt"]
    loaded = RunningTrial(job(tmp_path, start=1, attempt=1)).load()
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(loaded["model"])
    torch.optim.Adam(other.parameters()).load_state_dict(loaded["optimizer"])
    assert torch.equal(other.weight, model.weight)
    # Beside other objects, tensors are pickled with them; what is a list of itself, too.
    odd: Any = [model.state_dict(), {1, 2}]
    odd.append(odd)
    RunningTrial(job(tmp_path)).save(odd, epoch=2)
    assert RunningTrial(job(tmp_path, start=2, attempt=1)).load()[1] == {1, 2}
