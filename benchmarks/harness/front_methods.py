"""Methods for several losses by name: ask for a configuration, tell its losses and by how much it breaks each constraint.

==============  ========================================================================================================
method          what it is
==============  ========================================================================================================
optuna-tpe      Optuna's ``TPESampler``, its defaults, as the two that follow
optuna-nsga2    ``NSGAIISampler``, with generations of 50
optuna-gp       ``GPSampler``: log expected hypervolume improvement (needs torch)
botorch         ``qLogNoisyExpectedHypervolumeImprovement`` as in its tutorial: 128 quasi-random samples, 10 restarts from 512
                points, 2 (d + 1) Sobol points first. It is told the reference point of the problem
pymoo-nsga2     pymoo's ``NSGA2``, generations of 20, of which 200 evaluations leave ten; with other parameters than Floats its
                ``MixedVariableGA``, which pymoo recommends there. Conditional parameters are always drawn
xstar-…         ``xs.Study(space, method="…", metric=[…])``
==============  ========================================================================================================

Peers run at their own defaults. A decision is one ask and the tell that follows; making the optimiser is not counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

import xstar as xs
from benchmarks.harness import peers
from benchmarks.harness.machine import peer
from benchmarks.harness.run import OURS, Libraries
from benchmarks.harness.trade_offs import Case
from xstar.space import Bool, Choice, Config, Encoder, Float, Int, Ordinal, Parameter

SAMPLES = 128
RESTARTS, RAW_SAMPLES = 10, 512
FINITE = 20_000
"""Of a space with no more configurations, BoTorch takes the best that is left; of a larger one, it rounds what it finds."""
GENERATION = 20


class Optimiser(Protocol):
    """Sequential: each configuration is told before the next is asked for."""

    def ask(self) -> Config:
        """The next configuration, in canonical form."""

    def tell(self, config: Config, losses: tuple[float, ...], excess: tuple[float, ...]) -> None:
        """What came of the configuration just asked for."""


class Xstar:
    def __init__(self, method: str, case: Case, seed: int) -> None:
        self._names = [f"loss{i}" for i in range(case.objectives)]
        middle = case.space.sample(np.random.default_rng(0))
        self._bounds = [f"excess{i}" for i in range(len(case.excess(middle)) if case.excess else 0)]
        constraints = dict.fromkeys(self._bounds, 0.0) or None
        self._study = xs.Study(case.space, method=method, metric=self._names, constraints=constraints, seed=seed)

    def ask(self) -> Config:
        trial = self._study.ask()
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {self._study.ended}")
        self._trial = trial
        return trial.config

    def tell(self, config: Config, losses: tuple[float, ...], excess: tuple[float, ...]) -> None:
        values = (*zip(self._names, losses, strict=True), *zip(self._bounds, excess, strict=True))
        self._study.tell(self._trial, dict(values))


class Optuna:
    def __init__(self, sampler: str, case: Case, seed: int) -> None:
        optuna = peers.quiet_optuna()
        if sampler == "GPSampler":
            peer("torch").set_num_threads(1)
        given: dict[str, Any] = (
            {} if case.excess is None else {"constraints_func": lambda trial: trial.user_attrs["excess"]}
        )
        self._space = case.space
        self._parameters = peers.unconditional(peers.without_conditions(case.space))
        directions = ["minimize"] * case.objectives
        made = getattr(optuna.samplers, sampler)(seed=seed, **given)
        self._study = optuna.create_study(directions=directions, sampler=made)

    def ask(self) -> Config:
        self._trial = self._study.ask()
        return peers.active_part(self._space, self._suggested)

    def _suggested(self, name: str) -> Any:
        own = {name: self._parameters[name]}
        return peers.from_indices(own, {name: peers.suggest(self._trial, name, own[name])})[name]

    def tell(self, config: Config, losses: tuple[float, ...], excess: tuple[float, ...]) -> None:
        if excess:
            self._trial.set_user_attr("excess", excess)
        self._study.tell(self._trial, losses)


class BoTorch:
    """In the encoded space, one-hot and relaxed; conditional parameters are always there."""

    def __init__(self, case: Case, seed: int) -> None:
        peer("botorch")
        torch = peer("torch")
        torch.set_num_threads(1)
        torch.manual_seed(seed)  # the starts of optimize_acqf come from torch's own stream
        flat = peers.without_conditions(case.space)
        self._case, self._seed, self._encoder = case, seed, Encoder(flat)
        self._sobol = torch.quasirandom.SobolEngine(self._encoder.width, scramble=True, seed=seed)
        self._initial = 2 * (len(peers.unconditional(flat)) + 1)
        self._left: dict[tuple[Any, ...], Config] = {}
        if case.space.size <= FINITE:
            self._left = {case.space.key(config): config for config in case.space.grid(peers.MOST_VALUES)}
        self._rows: list[np.ndarray] = []
        self._told: list[tuple[float, ...]] = []

    def ask(self) -> Config:
        if len(self._told) < self._initial:
            self._row = self._sobol.draw(1).double().numpy()[0]
        elif self._left:
            self._row = self._best(self._fit())
        else:
            self._row = self._optimum(self._fit())
        values = self._encoder.decode(self._row)
        if self._left or not self._case.space.structure.when:
            self._row = self._encoder.encode_one(values)[0]  # as it was rounded
        return peers.active_part(self._case.space, values.__getitem__)

    def tell(self, config: Config, losses: tuple[float, ...], excess: tuple[float, ...]) -> None:
        self._left.pop(self._case.space.key(config), None)
        self._rows.append(self._row)
        self._told.append((*(-loss for loss in losses), *excess))  # it maximises; a constraint holds where it is ≤ 0

    def _fit(self) -> Any:
        import torch
        from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
        from botorch.acquisition.multi_objective.objective import IdentityMCMultiOutputObjective
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import ModelListGP, SingleTaskGP
        from botorch.models.transforms import Standardize
        from botorch.sampling.normal import SobolQMCNormalSampler
        from gpytorch.mlls import SumMarginalLogLikelihood

        m = self._case.objectives
        X = torch.tensor(np.array(self._rows), dtype=torch.float64)
        Y = torch.tensor(self._told, dtype=torch.float64)
        parts = [SingleTaskGP(X, Y[:, i : i + 1], outcome_transform=Standardize(m=1)) for i in range(Y.shape[1])]
        model = ModelListGP(*parts)
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        constraints = [lambda Z, i=i: Z[..., i] for i in range(m, Y.shape[1])]
        return qLogNoisyExpectedHypervolumeImprovement(
            model=model,
            ref_point=(-self._case.reference).tolist(),
            X_baseline=X,
            prune_baseline=True,
            sampler=SobolQMCNormalSampler(sample_shape=torch.Size([SAMPLES]), seed=self._seed),
            objective=IdentityMCMultiOutputObjective(outcomes=list(range(m))),
            constraints=constraints or None,
        )

    def _optimum(self, acquisition: Any) -> np.ndarray:
        import torch
        from botorch.optim import optimize_acqf

        bounds = torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(1, self._encoder.width)
        options = {"batch_limit": 5, "maxiter": 200}
        place, _ = optimize_acqf(
            acquisition, bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES, options=options, sequential=True
        )
        found: np.ndarray = place[0].numpy()
        return found

    def _best(self, acquisition: Any) -> np.ndarray:
        import torch

        rows = self._encoder.encode(list(self._left.values()))[0]
        with torch.no_grad():
            parts = torch.tensor(rows, dtype=torch.float64).split(peers.AT_ONCE)
            values = torch.cat([acquisition(part[:, None, :]) for part in parts])
        found: np.ndarray = rows[int(values.argmax())]
        return found


class Pymoo:
    """One generation after the other."""

    def __init__(self, case: Case, seed: int) -> None:
        self._space = case.space
        self._parameters = peers.unconditional(peers.without_conditions(case.space))
        self._plain = all(isinstance(given, Float) for given in self._parameters.values())
        problem, nsga2 = peer("pymoo.core.problem").Problem, peer("pymoo.algorithms.moo.nsga2")
        numbers = len(case.excess(case.space.sample(np.random.default_rng(0)))) if case.excess else 0
        sizes = {"n_obj": case.objectives, "n_ieq_constr": numbers}
        if self._plain:
            self._problem = problem(n_var=len(self._parameters), xl=0.0, xu=1.0, **sizes)
            self._search = nsga2.NSGA2(pop_size=GENERATION)
        else:
            self._problem = problem(vars={name: variable(given) for name, given in self._parameters.items()}, **sizes)
            mixed = peer("pymoo.core.mixed").MixedVariableGA
            self._search = mixed(pop_size=GENERATION, survival=nsga2.RankAndCrowdingSurvival())
        endless = peer("pymoo.termination.max_gen").MaximumGenerationTermination(10**6)
        self._search.setup(self._problem, termination=endless, seed=seed, verbose=False)
        self._encoder = Encoder(peers.without_conditions(case.space))
        self._generation: Any = []
        self._told: list[tuple[tuple[float, ...], tuple[float, ...]]] = []

    def ask(self) -> Config:
        if len(self._told) == len(self._generation):
            self._generation, self._told = self._search.ask(), []
        point = self._generation[len(self._told)].X
        if self._plain:
            return peers.active_part(self._space, self._encoder.decode(point).__getitem__)
        return peers.active_part(self._space, lambda name: value(self._parameters[name], point[name]))

    def tell(self, config: Config, losses: tuple[float, ...], excess: tuple[float, ...]) -> None:
        self._told.append((losses, excess))
        if len(self._told) < len(self._generation):
            return
        F, G = (np.array(column) for column in zip(*self._told, strict=True))
        static = peer("pymoo.problems.static").StaticProblem(self._problem, F=F, **({"G": G} if excess else {}))
        peer("pymoo.core.evaluator").Evaluator().eval(static, self._generation)
        self._search.tell(infills=self._generation)


def variable(parameter: Parameter) -> Any:
    """A parameter in pymoo's words; on a logarithmic scale it is a share of its range."""
    kinds = peer("pymoo.core.variable")
    match parameter:
        case Float() | Int(log=True):
            return kinds.Real(bounds=(0.0, 1.0))
        case Int():
            return kinds.Integer(bounds=(parameter.low, parameter.high))
        case Ordinal():
            return kinds.Integer(bounds=(0, parameter.size - 1))
        case Choice():
            return kinds.Choice(options=list(range(parameter.size)))
    return kinds.Binary()


def value(parameter: Parameter, given: Any) -> Any:
    """The value of a parameter that pymoo means."""
    match parameter:
        case Float() | Int(log=True):
            low, high, share = parameter.low, parameter.high, float(given)
            found = low * (high / low) ** share if parameter.log else low + share * (high - low)
            found = min(max(found, low), high)
            return found if isinstance(parameter, Float) else round(found)
        case Ordinal() | Choice():
            return parameter.options[int(given)]
    return bool(given) if isinstance(parameter, Bool) else int(given)


@dataclass(frozen=True)
class Method:
    make: Callable[[Case, int], Optimiser]
    """From the problem and the seed."""
    package: str = OURS


METHODS: dict[str, Method] = {
    **{f"xstar-{name}": Method(partial(Xstar, name)) for name in ("gp", "tpe", "nsga2", "random")},
    "optuna-tpe": Method(partial(Optuna, "TPESampler"), "optuna"),
    "optuna-nsga2": Method(partial(Optuna, "NSGAIISampler"), "optuna"),
    "optuna-gp": Method(partial(Optuna, "GPSampler"), "optuna"),
    "pymoo-nsga2": Method(Pymoo, "pymoo"),
    "botorch": Method(BoTorch, "botorch"),
}
LIBRARIES = Libraries({name: method.package for name, method in METHODS.items()})
