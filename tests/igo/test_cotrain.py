"""Co-training: the appendix's two listings written out, one batch for two structures, exact resume, bad input."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from xstar.errors import InvalidArgument, MissingExtra
from xstar.igo import IGO, Bernoulli, Categorical

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from xstar.igo.cotrain import METHODS, CoTraining  # noqa: E402

BITS = 12


class Gated(nn.Module):
    """A hidden layer whose units are switched by the structure."""

    structure_per_example = True

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, BITS), nn.Linear(BITS, 3)
        self.dropout = nn.Dropout(dropout)

    def forward(self, inputs: Any, structure: Any) -> Any:
        return self.last(self.dropout(torch.tanh(self.first(inputs))) * structure)


class OneByOne(Gated):
    """The same, with one structure at a time."""

    structure_per_example = False

    def forward(self, inputs: Any, structure: Any) -> Any:
        assert structure.shape == (BITS,)
        return super().forward(inputs, structure)


def sgd(weights: Any) -> Any:
    return torch.optim.SGD(weights, lr=0.1, momentum=0.9, nesterov=True)


def made(module: type[Gated] = Gated, seed: int = 3, dropout: float = 0.0, **given: Any) -> CoTraining:
    torch.manual_seed(seed)
    return CoTraining(module(dropout), functional.cross_entropy, sgd, **{"structure": BITS, "seed": seed, **given})


def examples() -> TensorDataset:
    rng = torch.Generator().manual_seed(5)
    inputs = torch.randn(70, 4, generator=rng)
    return TensorDataset(inputs, (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0.5).long())


def batches() -> list[Any]:
    return list(DataLoader(examples(), batch_size=10))


def weights(training: CoTraining) -> np.ndarray:
    return torch.cat([each.detach().flatten() for each in training.module.parameters()]).numpy()


def plain(method: str, steps: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """The appendix's listings, line by line: (θ, W)."""
    torch.manual_seed(seed)
    net = OneByOne()
    optimizer, rng, data = sgd(net.parameters()), np.random.default_rng(seed), batches()
    core = {
        "pbil-epsilon": IGO(Bernoulli(BITS), adapt="step"),
        "pbil-lambda": IGO(Bernoulli(BITS)),
        "cga": IGO(Bernoulli(BITS), adapt="none", step=1 / BITS),
    }[method]
    done = 0
    while done < steps:
        points, losses = [], []
        if method == "pbil-lambda":
            for _ in range(core.samples):
                inputs, targets = data[done % len(data)]
                points.append(core.sample(1, rng)[0])
                loss = functional.cross_entropy(net(inputs, torch.tensor(points[-1]).float()), targets)
                losses.append(loss.item())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                done += 1
                if done == steps:
                    break
            if len(points) < core.samples:
                break
        else:
            inputs, targets = data[done % len(data)]
            points = list(core.sample(2, rng))
            both = [functional.cross_entropy(net(inputs, torch.tensor(m).float()), targets) for m in points]
            losses = [loss.item() for loss in both]
            optimizer.zero_grad()
            ((both[0] + both[1]) / 2).backward()
            optimizer.step()
            done += 1
        core.update(np.stack(points), losses)
    return core.theta, torch.cat([each.detach().flatten() for each in net.parameters()]).numpy()


@pytest.mark.parametrize("method", METHODS)
def test_it_is_the_listing_of_the_appendix(method: str) -> None:
    training = made(OneByOne, method=method)
    assert [report.step for report in training.train(batches(), steps=61, every=20)] == [20, 40, 60, 61]
    theta, w = plain(method, 61)
    assert_array_equal(training.core.theta, theta)
    assert_array_equal(weights(training), w)
    assert np.abs(theta - 0.5).max() > 0.05


@pytest.mark.parametrize("method", METHODS)
def test_one_batch_for_both_structures_is_two_passes(method: str) -> None:
    one, two = made(Gated, method=method), made(OneByOne, method=method)
    for training in (one, two):
        list(training.train(batches(), steps=40))
    assert_array_equal(one.core.theta, two.core.theta)
    assert_allclose(weights(one), weights(two), rtol=0, atol=2e-6)
    assert_allclose(one.evaluate(batches()), two.evaluate(batches()), rtol=1e-5)


def shuffled(own: bool) -> DataLoader[Any]:
    generator = torch.Generator().manual_seed(11) if own else None
    return DataLoader(examples(), batch_size=16, shuffle=True, generator=generator)


def full(**given: Any) -> CoTraining:
    return made(
        dropout=0.3,
        clip=1.0,
        schedule=lambda optimizer: torch.optim.lr_scheduler.MultiStepLR(optimizer, [20, 45], 0.1),
        **given,
    )


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("stop", [5, 23, 31])  # the end of an epoch; the middle of epochs and of generations
def test_a_resumed_training_is_the_same_to_the_last_bit(method: str, own: bool, stop: int, tmp_path: Path) -> None:
    whole = full(method=method)
    list(whole.train(shuffled(own), steps=60, every=10))

    first = full(method=method)
    loader = shuffled(own)
    for report in first.train(loader, steps=60, every=1):
        if report.step == stop:
            break
    first.history = [report for report in first.history if report.step % 10 == 0]
    first.save(tmp_path / "net.pt")
    torch.manual_seed(999)
    second = full(method=method, seed=77)
    second.load(tmp_path / "net.pt")
    list(second.train(shuffled(own), steps=60, every=10))

    assert_array_equal(second.core.theta, whole.core.theta)
    assert second.core.dump() == whole.core.dump()
    assert_array_equal(weights(second), weights(whole))
    assert [(r.step, r.epoch, r.generation) for r in second.history] == [
        (r.step, r.epoch, r.generation) for r in whole.history
    ]
    for one, other in zip(second.history, whole.history, strict=True):
        assert_array_equal(one.theta, other.theta)
    assert second.optimizer.param_groups[0]["lr"] == pytest.approx(0.001)


class Broken(nn.Module):
    """Bits that are off speak for a class that does not occur: the best structure is all ones, whatever the weights."""

    structure_per_example = True

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs: Any, structure: Any) -> Any:
        missing = structure.shape[1] - structure.sum(1, keepdim=True)
        return torch.cat([self.layer(inputs), 2.0 * missing], 1)


@pytest.mark.parametrize("method", METHODS)
def test_the_structure_that_helps_is_found(method: str) -> None:
    torch.manual_seed(0)
    training = CoTraining(
        Broken(), functional.cross_entropy, lambda w: torch.optim.SGD(w, lr=0.05), structure=30, method=method, seed=1
    )
    before = training.evaluate(batches())
    reports = list(training.train(batches(), steps=600, every=200))
    assert training.structure().sum() >= 27  # of 30; by chance, 15
    assert reports[-1].theta.mean() > 0.8
    assert reports[-1].loss < reports[0].loss
    assert training.evaluate(batches()) < before
    error = training.evaluate(batches(), lambda outputs, targets: (outputs.argmax(1) != targets).float().mean())
    assert error < 0.25


def test_options_of_a_categorical_structure() -> None:
    class Chosen(nn.Module):
        """Three variables of four options each; option 2 adds nothing to the loss."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 3)

        def forward(self, inputs: Any, structure: Any) -> Any:
            assert structure.dtype == torch.int64
            return self.layer(inputs), (structure != 2).float().mean()

    def loss(outputs: Any, targets: Any) -> Any:
        return functional.cross_entropy(outputs[0], targets) + outputs[1]

    torch.manual_seed(0)
    training = CoTraining(Chosen(), loss, sgd, structure=Categorical(3, 4), seed=2)
    list(training.train(batches(), steps=400))
    assert training.structure().tolist() == [2, 2, 2]
    assert training.core.theta.shape == (3, 4)


class Diverging(nn.Module):
    """NaN where the first bit is on."""

    def __init__(self, always: bool = False) -> None:
        super().__init__()
        self.layer, self.always = nn.Linear(4, 3), always

    def forward(self, inputs: Any, structure: Any) -> Any:
        bad = torch.log(-torch.ones(())) if self.always or structure[0] > 0 else 0.0
        return self.layer(inputs) * 1.0 + bad


@pytest.mark.parametrize("method", METHODS)
def test_a_structure_that_diverges_ranks_last_and_moves_no_weights(method: str) -> None:
    training = CoTraining(Diverging(), functional.cross_entropy, sgd, structure=6, method=method, seed=4)
    list(training.train(batches(), steps=60))
    assert np.isfinite(weights(training)).all()
    assert training.core.theta[0] < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_nothing_but_nan_is_an_error(method: str) -> None:
    training = CoTraining(Diverging(always=True), functional.cross_entropy, sgd, structure=6, method=method)
    before = weights(training).copy()
    with pytest.raises(InvalidArgument, match=r"finite .*clip"):
        list(training.train(batches(), steps=50))
    assert training.step == 20
    assert_array_equal(training.core.theta, 0.5)
    assert_array_equal(weights(training), before)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"module": functional.relu}, "module"),
        ({"loss": 3}, "loss"),
        ({"optimizer": 0.1}, "optimizer"),
        ({"optimizer": lambda weights: None}, "optimizer"),
        ({"optimizer": torch.optim.SGD([torch.zeros(1)], lr=0.1)}, "parameters of the module"),
        ({"structure": 0}, "structure"),
        ({"structure": 2.5}, "structure"),
        ({"structure": "many"}, "structure"),
        ({"method": "pbil"}, "pbil-epsilon"),
        ({"clip": 0.0}, "clip"),
        ({"clip": math.nan}, "clip"),
        ({"device": "abacus"}, "device"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_arguments(given: dict[str, Any], match: str) -> None:
    fine: dict[str, Any] = {"module": Gated(), "loss": functional.cross_entropy, "optimizer": sgd, "structure": BITS}
    with pytest.raises(InvalidArgument, match=match):
        CoTraining(**{**fine, **given})


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (3, "iterable"),
        ([], "at least|each time"),
        ([1, 2], "pairs"),
        ([(torch.zeros(2, 4),)], "pairs"),
        ([([1.0], torch.zeros(1))], "tensors"),
    ],
)
def test_bad_batches(data: Any, match: str) -> None:
    with pytest.raises(InvalidArgument, match=match):
        list(made().train(data, steps=3))


def test_a_generator_is_gone_through_only_once() -> None:
    with pytest.raises(InvalidArgument, match="DataLoader"):
        list(made().train((batch for batch in batches()), steps=20))


def test_a_loss_per_example_and_outputs_that_are_no_rows_are_refused() -> None:
    training = made()
    training.loss = lambda outputs, targets: functional.cross_entropy(outputs, targets, reduction="none")
    with pytest.raises(InvalidArgument, match="mean"):
        list(training.train(batches(), steps=1))

    class Summed(Gated):
        def forward(self, inputs: Any, structure: Any) -> Any:
            return super().forward(inputs, structure).sum(0)

    with pytest.raises(InvalidArgument, match="structure_per_example"):
        list(made(Summed).train(batches(), steps=1))
    with pytest.raises(InvalidArgument, match="batches"):
        made().evaluate([])


def test_checkpoints_of_something_else_are_refused(tmp_path: Path) -> None:
    saved = tmp_path / "net.pt"
    made().save(saved)
    for other in (made(method="cga"), made(structure=Categorical(BITS, 2)), full()):
        with pytest.raises(InvalidArgument, match="path"):
            other.load(saved)
    wider = CoTraining(Broken(), functional.cross_entropy, sgd, structure=BITS)
    with pytest.raises(InvalidArgument, match="weights"):
        wider.load(saved)
    torch.save({"format": 0}, saved)
    with pytest.raises(InvalidArgument, match="format"):
        made().load(saved)
    saved.write_bytes(b"no checkpoint")
    with pytest.raises(InvalidArgument, match="format"):
        made().load(saved)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "xstar.igo.cotrain")
    with pytest.raises(MissingExtra, match=r"\.\[torch\]"):
        importlib.import_module("xstar.igo.cotrain")
