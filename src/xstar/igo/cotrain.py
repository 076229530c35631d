"""Train weights and structure of a network together: the paper's "Hyper-Parameter Optimization" and second appendix.

    class Net(nn.Module):
        structure_per_example = True              # structure: (examples, 31); without this line (31,)
        def forward(self, inputs, structure): ...

    training = CoTraining(Net(), functional.cross_entropy, lambda weights: SGD(weights, lr=0.01), structure=31, seed=1)
    for progress in training.train(loader, steps=10_000, every=500):
        print(progress.step, progress.loss, progress.theta)
    training.save("net.pt")                       # training.load("net.pt") in another process continues identically
    error = training.evaluate(loader, measure)    # with the most probable structure

=========  =================================================================================  ==========
symbol     meaning                                                                            shape
=========  =================================================================================  ==========
``W``      the weights: the parameters of the module                                          –
``M``      a structure: a point of the family (bits, options), drawn from P_θ                 (D,)
``Z``      a minibatch of B examples                                                          –
``T``      steps of W so far                                                                  int
``λ, ε``   as in ``adaptation.py``                                                            –
=========  =================================================================================  ==========

================  ==================================================================================================
``method``        one round
================  ==================================================================================================
``pbil-epsilon``  one Z, two M, one step of W along the mean of the two gradients (equation 13), one step of θ and ε
``pbil-lambda``   λ times: a new Z, one M, one step of W; then one step of θ and λ
``cga``           as pbil-epsilon with ε = 1/n throughout: the baseline
================  ==================================================================================================

Later structures of a PBIL-λ generation benefit from the earlier steps of W: a bias that the paper accepts. Two
structures on one Z form one batch of 2B if the module accepts a structure per example. (Batch norm is then computed
over both.)
"""

from __future__ import annotations

import json
import math
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument, MissingExtra
from xstar.igo.core import IGO
from xstar.igo.discrete import Categorical
from xstar.igo.family import Array, Family

try:
    import torch
    from torch import nn
except ImportError as error:
    raise MissingExtra("co-training needs torch: pip install '.[torch]' in a checkout of xstar") from error

from xstar.igo.cotrain_state import METHODS as METHODS, Source, Structures

FORMAT = 1
"""Version of the checkpoint format."""

MOST_DIVERGED = 20
"""Consecutive steps without a finite loss before an error is raised. If half of all structures diverge, this happens by
chance once in 10⁶ such sequences or less; with corrupted weights it always happens."""


@dataclass(frozen=True)
class Progress:
    """A progress report of a training."""

    step: int
    """T, the number of steps of the weights."""
    epoch: int
    """The number of passes over the loader, including the current one."""
    loss: float
    """The mean loss of the structures since the last report, over finite losses only."""
    theta: Array
    """θ."""
    samples: int
    """λ of the next update of θ."""
    rate: float
    """ε of the next update of θ."""
    generation: int
    """The number of updates of θ."""


class CoTraining:
    """A module whose weights and structure are trained together.

    ``module(inputs, structure)`` returns outputs; ``loss(outputs, targets)`` their mean loss, a differentiable number.
    ``optimizer`` is a torch optimizer, or a function that creates one from parameters. ``structure`` is a number of
    bits, or a family (``Bernoulli``, ``Categorical``, ``Product``). The module receives structures as floats, those of
    categoricals as int64. Their shape is (D,), or (examples, D) if the module sets ``structure_per_example = True``.

    ``schedule`` creates a torch scheduler from the optimizer; it advances after each step of the weights. ``clip``
    limits the norm of the gradient. ``seed`` seeds the structures. Random numbers of the module itself come from
    torch's own generator.
    """

    def __init__(
        self,
        module: nn.Module,
        loss: Callable[[Any, Any], Any],
        optimizer: Any,
        *,
        structure: int | Family,
        method: str = "pbil-epsilon",
        schedule: Callable[[Any], Any] | None = None,
        clip: float | None = None,
        device: Any = "cpu",
        seed: int = 0,
    ) -> None:
        if not isinstance(module, nn.Module):
            raise InvalidArgument("module", "must be a torch.nn.Module", type(module).__name__)
        if not callable(loss):
            raise InvalidArgument("loss", "must be a function of (outputs, targets)", loss)
        if clip is not None and not 0.0 < clip < math.inf:
            raise InvalidArgument("clip", "must be a positive number", clip, "leave it out for no limit")
        try:
            self.device = torch.device(device)
        except (RuntimeError, TypeError):
            raise InvalidArgument("device", "must be one that torch knows", device, "try 'cpu' or 'cuda'") from None
        self._structures = Structures(structure, method, seed)
        self.module, self.loss, self.method, self.clip = module.to(self.device), loss, method, clip
        self.optimizer = _optimizer(optimizer, module)
        self.schedule = None if schedule is None else schedule(self.optimizer)
        self.per_example = bool(getattr(module, "structure_per_example", False))
        self.history: list[Progress] = []
        """All reports so far, including the distribution over time."""
        self.step = 0
        """T."""
        self._since: list[float] = []  # losses since the last report
        self._lost = 0  # consecutive steps without a finite loss
        self._source = Source(self.device)

    @property
    def core(self) -> IGO:
        """The distribution of structures."""
        return self._structures.core

    # --- training -------------------------------------------------------------------------------------------------

    def train(self, batches: Iterable[Any], *, steps: int, every: int | None = None) -> Iterator[Progress]:
        """Train until ``steps`` steps of the weights in total; report after every ``every`` steps and at the end.

        ``batches`` contains pairs (inputs, targets) and is iterated repeatedly. The loop may be left and ``train``
        called again, also after ``load``: it continues from the same position.
        """
        total = whole_number("steps", steps, least=1)
        stride = total if every is None else whole_number("every", every, least=1)
        if not isinstance(batches, Iterable):
            raise InvalidArgument("batches", "must be an iterable of (inputs, targets)", type(batches).__name__)
        return self._train(batches, total, stride)

    def _train(self, batches: Iterable[Any], total: int, stride: int) -> Iterator[Progress]:
        self.module.train()
        while self.step < total:
            self._round(*self._source.next(batches))
            if self.step % stride == 0 or self.step == total:
                yield self._report()
                self.module.train()  # the user may have called eval() in between

    def _round(self, inputs: Any, targets: Any) -> None:
        """Process one minibatch: one step of W, and a step of θ when its generation is complete."""
        drawn = self._structures.draw()
        losses = self._losses_of(inputs, targets, drawn)
        values = [float(value) for value in torch.stack(losses).detach().cpu()]
        finite = [loss for loss, value in zip(losses, values, strict=True) if math.isfinite(value)]
        if finite:  # a structure that diverged does not change the weights, and ranks last
            self.optimizer.zero_grad(set_to_none=True)
            (torch.stack(finite).sum() / len(finite)).backward()
            if self.clip is not None:
                nn.utils.clip_grad_norm_(self.module.parameters(), self.clip)
            self.optimizer.step()
        if self.schedule is not None:
            self.schedule.step()
        self.step += 1
        self._lost = 0 if finite else self._lost + 1
        if self._lost >= MOST_DIVERGED:
            remedy = "lower the learning rate, or set clip"
            raise InvalidArgument("loss", f"must be finite once in {MOST_DIVERGED} steps", values, remedy)
        self._since += [value for value in values if math.isfinite(value)]
        self._structures.rank(drawn, values)

    def _losses_of(self, inputs: Any, targets: Any, points: Array) -> list[Any]:
        """Return ℒ(W, M; Z) of each structure: scalars with gradients."""
        structures = self._tensor(points)
        if not self.per_example:
            return [self._scalar(self.module(inputs, structure), targets) for structure in structures]
        size = len(inputs)
        wide = structures.repeat_interleave(size, 0)  # (count · B, D)
        many = inputs.repeat(len(points), *[1] * (inputs.dim() - 1)) if len(points) > 1 else inputs
        outputs = self.module(many, wide)
        if not isinstance(outputs, torch.Tensor) or len(outputs) != len(wide):
            rule = "must give one row of a tensor per example to take both structures as one batch"
            found = f"shape={tuple(outputs.shape)}" if isinstance(outputs, torch.Tensor) else type(outputs).__name__
            raise InvalidArgument("module", rule, found, "leave structure_per_example out")
        return [self._scalar(part, targets) for part in outputs.split(size)]

    def _scalar(self, outputs: Any, targets: Any) -> Any:
        value = self.loss(outputs, targets)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            found = f"shape={tuple(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
            raise InvalidArgument("loss", "must give one number as a tensor", found, "take the mean over examples")
        return value.reshape(())

    def _tensor(self, points: Array) -> Any:
        kind = torch.int64 if isinstance(self.core.family, Categorical) else torch.float32
        return torch.as_tensor(np.asarray(points), device=self.device).to(kind)

    def _report(self) -> Progress:
        loss = float(np.mean(self._since)) if self._since else math.nan
        self._since = []
        core = self.core
        report = Progress(self.step, self._source.epoch, loss, core.theta, core.samples, core.step, core.generation)
        self.history.append(report)
        return report

    # --- the result -----------------------------------------------------------------------------------------------

    def structure(self) -> Any:
        """Return the most probable structure (bits with θ ≥ ½, options), as a tensor of shape (D,)."""
        return self._tensor(self.core.mode())

    def evaluate(self, batches: Iterable[Any], measure: Callable[[Any, Any], Any] | None = None) -> float:
        """Return the mean of ``measure(outputs, targets)`` (default: the loss) for the final structure."""
        final, total, examples = self.structure(), 0.0, 0
        training = self.module.training
        self.module.eval()
        try:
            with torch.no_grad():
                for found in batches:
                    inputs, targets = self._source.pair(found)
                    given = final.expand(len(inputs), -1) if self.per_example else final
                    total += float((measure or self.loss)(self.module(inputs, given), targets)) * len(inputs)
                    examples += len(inputs)
        finally:
            self.module.train(training)
        if not examples:
            raise InvalidArgument("batches", "must hold at least one example", 0)
        return total / examples

    # --- checkpoints ----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint that atomically replaces the old file."""
        plain = {
            **self._structures.dump(),
            "since": self._since,
            "lost": self._lost,
            "step": self.step,
            "history": [{**vars(report), "theta": report.theta.tolist()} for report in self.history],
        }
        state = {
            "format": FORMAT,
            "plain": json.dumps(plain),
            "module": self.module.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": None if self.schedule is None else self.schedule.state_dict(),
            "source": self._source.dump(),
        }
        target = Path(path)
        aside = target.with_name(target.name + ".new")
        torch.save(state, aside)
        os.replace(aside, target)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Restore a checkpoint: module, optimizer and torch's generators."""
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except (EOFError, RuntimeError, pickle.UnpicklingError):
            state = None
        remedy = "load into a CoTraining that was made as the saved one was"
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            raise InvalidArgument("path", f"must be a checkpoint of format {FORMAT}", str(path), "pass what save wrote")
        plain = json.loads(state["plain"])
        core = self._structures.stored_core(plain, remedy)
        if (state["schedule"] is None) != (self.schedule is None):
            raise InvalidArgument("path", "must hold a schedule just where this has one", str(path), remedy)
        try:
            self.module.load_state_dict(state["module"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as error:
            raise InvalidArgument("path", "must hold weights for this module", str(error), remedy) from None
        if self.schedule is not None:
            self.schedule.load_state_dict(state["schedule"])
        shape = core.family.shape
        self._structures.load(plain, core)
        self.history = [
            Progress(**{**report, "theta": np.array(report["theta"]).reshape(shape)}) for report in plain["history"]
        ]
        self._since, self.step, self._lost = plain["since"], plain["step"], plain["lost"]
        self._source.load(state["source"])


def _optimizer(given: Any, module: nn.Module) -> Any:
    made = given if isinstance(given, torch.optim.Optimizer) or not callable(given) else given(module.parameters())
    if not isinstance(made, torch.optim.Optimizer):
        raise InvalidArgument(
            "optimizer", "must be a torch optimizer, or make one from parameters", type(made).__name__
        )
    own = {id(parameter) for parameter in module.parameters()}
    if not any(id(parameter) in own for group in made.param_groups for parameter in group["params"]):
        raise InvalidArgument("optimizer", "must hold parameters of the module", type(made).__name__)
    return made
