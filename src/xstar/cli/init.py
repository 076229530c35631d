"""``xstar init``: an experiment file that runs as it is, with a small program beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from xstar.cli.text import command, console
from xstar.errors import InvalidArgument

PROGRAM = "train.py"

EXPERIMENT = """\
# A search over any program. Start it, and start it again to go on:    xstar run {file}
# What every key means: docs/programs.md, and `xstar run --help` for [settings].

[program]
# A string is split into words as a shell would; a list is taken as it is. {{lr}} stands for a parameter of the space.
# A word whose parameter takes no part (see momentum) is left out together with the option before it.
command = "python3 {program} --lr {{lr}} --layers {{layers}} --optimizer {{optimizer}} --momentum {{momentum}}"

# The program reports by printing a line of JSON such as {{"error": 0.31, "epoch": 3}}, once per epoch.
# reports = "last"            # it trains to $XSTAR_BUDGET epochs and only its last report counts
# stop_grace = 10             # seconds between SIGTERM and SIGKILL: time to save a checkpoint
# infeasible_exit = 42        # the exit code for "this configuration cannot be evaluated"
# env = {{OMP_NUM_THREADS = "1"}}

[space]
lr = {{float = [1e-4, 1.0], log = true}}
layers = {{int = [1, 6]}}
optimizer = ["sgd", "adam"]                                          # one of a list
momentum = {{float = [0.0, 0.99], when = {{optimizer = "sgd"}}}}         # only with sgd
# batch = {{ordinal = [16, 32, 64, 128]}}
# nesterov = {{bool = true}}
# seed = 7                                                           # a constant

[settings]
metric = "error"              # which number of a report counts; the lowest is the best
# maximize = true
trials = 20                   # in all, earlier runs included
max_budget = 9                # epochs of a full training; bad trials end earlier. Leave it out if there are no epochs
# method = "asha"             # by default what suits the space and the budget
# workers = 4                 # trials at a time
# timeout = 3600              # seconds that one run of a trial may take
# constraints = {{latency = 50.0, accuracy = {{at_least = 0.9}}}}
# storage = "xstar.db"        # or the URL of a PostgreSQL database, without its password: see docs/storage.md
"""

TRAIN = '''\
"""A stand-in for a training: replace it with yours, in any language. It runs without xstar, too."""

import argparse
import json
import math
import os
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--layers", type=int, default=2)
parser.add_argument("--optimizer", default="adam")
parser.add_argument("--momentum", type=float, default=0.0)
given = parser.parse_args()

# A run may be paused and go on later: begin with the checkpoint, if there is one.
checkpoint = pathlib.Path(os.environ.get("XSTAR_CHECKPOINT", ".")) / "state.json"
state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"epoch": 0, "error": 1.0}

best = 0.08 + 0.05 * abs(math.log10(given.lr / 0.01)) + 0.02 * abs(given.layers - 3) - 0.02 * given.momentum
for epoch in range(state["epoch"] + 1, int(os.environ.get("XSTAR_BUDGET", 9)) + 1):
    state = {"epoch": epoch, "error": best + (state["error"] - best) * 0.6}
    if "XSTAR_CHECKPOINT" in os.environ:  # save before you report: afterwards the trial may be paused
        part = checkpoint.with_suffix(".tmp")
        part.write_text(json.dumps(state))
        part.replace(checkpoint)
    print(json.dumps({"error": state["error"], "epoch": epoch}), flush=True)
'''


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The experiment file to write.")] = Path(
        "experiment.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write a commented experiment file for any program, and a small program beside it.

    Both work as they are: `xstar run FILE` searches. Then put your own command and your own parameters in.
    """
    if file.suffix != ".toml":
        raise InvalidArgument("FILE", "must end in .toml", str(file), f"e.g. xstar init {file.name}.toml")
    program = file.with_name(PROGRAM)
    texts = {file: EXPERIMENT.format(file=file, program=PROGRAM), program: TRAIN}
    taken = [str(path) for path in texts if os.path.lexists(path)]
    if taken and not force:
        remedy = "choose another name or folder, or pass --force"
        raise InvalidArgument("FILE", "must not replace what is there", ", ".join(taken), remedy)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidArgument("FILE", f"must be a file that can be written ({error.strerror})", str(file)) from None
    out = console()
    out.print(f"wrote {file} and {program}", soft_wrap=True)
    out.print(f"run it: {command('run', str(file))}", soft_wrap=True)
