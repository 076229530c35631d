"""Distributed training: rank 0 reports, all ranks end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# Rank 0 is the process of the objective; the other rank is spawned, with a copy of the trial.
PROGRAM = """
import json, sys
from pathlib import Path
import torch.distributed as dist
import torch.multiprocessing as mp
import xstar as xs

FOLDER = Path(sys.argv[1])


def train(index, trial, folder):
    rank = index + 1
    meeting = f"file://{folder}/meeting-{trial.number}-{trial.attempt}"  # a port that is free now may not be so later
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=2)
    epochs = []
    try:
        state = trial.load() or {"epochs": 0}
        for epoch in trial.epochs():
            state["epochs"] += 1
            epochs.append(epoch)
            trial.save(state)
            trial.report(trial["x"] + rank)  # what other ranks than 0 say does not count
    except xs.Pruned:
        epochs.append("pruned")
    finally:
        dist.destroy_process_group()
        (folder / f"{trial.number}-{trial.attempt}-{rank}.json").write_text(json.dumps(epochs))


def objective(trial):
    others = mp.start_processes(train, args=(trial, FOLDER), nprocs=1, join=False, start_method="spawn")
    train(-1, trial, FOLDER)
    others.join()


if __name__ == "__main__":
    from xstar.schedulers import StoppingASHA
    space = xs.Space(x=xs.Ordinal([0.1, 0.9]))
    study = xs.minimize(objective, space, trials=2, method="grid", scheduler=StoppingASHA(4, eta=2), seed=1).study
    print(json.dumps([[t.state.value, t.budget, t.value - t["x"]] for t in study.trials]))
"""


@pytest.mark.slow
def test_all_ranks_end_when_rank_0_is_told_to(tmp_path: Path) -> None:
    pytest.importorskip("torch.distributed")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, str(program), str(tmp_path)], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout)
    assert first == ["complete", 4, 0.0]
    assert second == ["stopped", 1, 0.0]
    said = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("*-*-*.json")}
    assert said == {"0-0-0": [1, 2, 3, 4], "0-0-1": [1, 2, 3, 4], "1-0-0": [1, "pruned"], "1-0-1": [1, "pruned"]}
