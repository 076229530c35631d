"""The callback of Keras 3 reports, prunes, saves, and goes on from the model that was saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidArgument

pytest.importorskip("torch", reason="torch is not installed")
os.environ.setdefault("KERAS_BACKEND", "torch")
keras = pytest.importorskip("keras", reason="keras is not installed")

from xstar.integrations.keras import Report  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
SPACE = xs.Space(lr=xs.Float(1e-4, 1.0, log=True))
X = np.linspace(-1, 1, 32)[:, None].astype("float32")
Y = 2 * X + 1


def build(lr: float) -> Any:
    """A straight line, fitted with momentum: a state that has to be resumed, too."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(lr, momentum=0.5), loss="mse")
    return model


def fit(trial: Any) -> None:
    report = Report(trial)
    model = report.restored(lambda: build(trial["lr"]))
    where = {"epochs": report.epochs, "initial_epoch": report.initial_epoch}
    model.fit(X, Y, batch_size=8, shuffle=False, validation_data=(X, Y), verbose=0, callbacks=[report], **where)


def curve(trial: xs.Trial) -> list[float]:
    return [each.metrics["val_loss"] for each in trial.reports]


def test_bad_trials_end_and_paused_ones_go_on_as_if_they_never_stopped(tmp_path: Path) -> None:
    result = xs.minimize(
        fit, SPACE, metric="val_loss", method="asha", max_budget=9, trials=9, seed=0, directory=tmp_path
    )
    trials = result.study.trials
    assert not [trial.reason for trial in trials if trial.state is xs.State.FAILED]
    assert {trial.budget for trial in trials} == {1, 3, 9}
    assert result.best.attempt > 0
    alone = build(result.best["lr"])  # the script without xstar, at the same configuration
    history = alone.fit(X, Y, batch_size=8, shuffle=False, validation_data=(X, Y), verbose=0, epochs=9).history
    assert curve(result.best) == pytest.approx(history["val_loss"], rel=1e-5)


def test_the_number_of_epochs_is_asked_for() -> None:
    class NoBudget:
        max_budget = None

        def load(self) -> None:
            return None

    with pytest.raises(InvalidArgument, match="max_budget: is needed"):
        Report(NoBudget()).epochs  # noqa: B018
