"""Studies of networks."""

from __future__ import annotations

from typing import Any

import xstar as xs
from tests.trials import run_trials
from xstar import nets
from xstar.look.plots import networks as data
from xstar.nets.synthetic import f3


def a_study(trials: int, **parameters: Any) -> xs.Study:
    space = xs.Space(net=nets.MLP(inputs=8), lr=xs.Float(0, 1), **parameters)
    study = xs.Study(space, metric="score", direction="maximize", seed=3)
    run_trials(study, trials, lambda trial: f3(trial["net"]))
    return study


def collected(study: xs.Study, parameter: str | None = None, most: int = data.MOST) -> data.Networks:
    """The networks of a study that has some."""
    return data.collect(study.history, parameter, most)
