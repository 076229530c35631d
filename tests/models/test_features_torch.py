"""Training in torch: the same networks as NumPy's, but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="torch is not installed")

import torch

from xstar.errors import MissingExtra
from xstar.models import features, features_torch
from xstar.models.features import ACTIVATIONS, train
from xstar.models.features_torch import train_on


@pytest.mark.parametrize("logistic", [False, True], ids=["regression", "classification"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_both_make_the_same_networks(activation: str, logistic: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (features, features_torch):
        monkeypatch.setattr(module, "UNITS", 9)
    X = np.random.default_rng(0).random((90, 3))
    t = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
    t = (t > t.mean()).astype(np.float64) if logistic else (t - t.mean()) / t.std()
    given: dict[str, Any] = {"networks": 2, "activation": activation, "logistic": logistic, "steps": 120}
    ours = train(X, t, np.random.default_rng(5), **given)
    theirs = train_on("cpu", X, t, np.random.default_rng(5), **given)
    assert len(ours) == len(theirs) == 2
    for one, other in zip(ours, theirs, strict=True):
        assert one.kinds == other.kinds
        assert_allclose(other(X), one(X), atol=2e-3)
    assert np.abs(ours[0](X) - ours[1](X)).max() > 0.1  # so the comparison can tell networks apart


def test_without_a_gpu_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    X = np.random.default_rng(0).random((5, 2))
    with pytest.raises(MissingExtra, match="needs a GPU that torch can see"):
        train_on("cuda", X, X[:, 0], np.random.default_rng(0))
