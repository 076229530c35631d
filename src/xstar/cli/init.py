"""``xstar init``: a commented experiment file for any program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from xstar.cli.text import command, console
from xstar.errors import InvalidArgument

EXPERIMENT = """\
# A search over any program. Start it, and start it again to go on:    xstar run {file}
# What every key means: docs/programs.md, and `xstar run --help` for [settings].

[program]
# Your program, in any language.
# A string is split into words as a shell would; a list is taken as it is. {{lr}} stands for a parameter of the space.
# A word whose parameter takes no part (see momentum) is left out together with the option before it.
command = "python3 train.py --lr {{lr}} --layers {{layers}} --optimizer {{optimizer}} --momentum {{momentum}}"

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


def init(
    file: Annotated[Path, typer.Argument(metavar="[FILE]", help="The experiment file to write.")] = Path(
        "experiment.toml"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an experiment file that is there.")] = False,
) -> None:
    """Write a commented experiment file for any program: put your own command and your own parameters in.

    No other file is written: the program is yours.
    """
    if file.suffix != ".toml":
        raise InvalidArgument("FILE", "must end in .toml", str(file), f"e.g. xstar init {file.name}.toml")
    if os.path.lexists(file) and not force:
        raise InvalidArgument("FILE", "must not be there yet", str(file), "choose another name, or pass --force")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(EXPERIMENT.format(file=file), encoding="utf-8")
    except OSError as error:
        raise InvalidArgument("FILE", f"must be a file that can be written ({error.strerror})", str(file)) from None
    out = console()
    out.print(f"wrote {file}: put your command and its parameters in", soft_wrap=True)
    out.print(f"run it: {command('run', str(file))}", soft_wrap=True)
