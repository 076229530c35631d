"""Other libraries and our own methods behind one protocol: ask for a configuration, tell its loss, one at a time.

=============  =========================================================================================================
method         what it is
=============  =========================================================================================================
optuna-gp      Optuna's ``GPSampler``, its defaults
optuna-tpe     Optuna's ``TPESampler``, its defaults with ``multivariate=False``
botorch        ``SingleTaskGP`` and ``LogExpectedImprovement`` after min(10, 2d) Sobol points; its noise is fitted, too
smac           SMAC3's ``HyperparameterOptimizationFacade`` (a random forest); its first quarter is a Sobol design
smac-gp        SMAC3's ``BlackBoxFacade`` (a GP), for spaces of Floats only; ten times slower than the forest
xstar-…        ``xs.Study(space, method="…")``; ``xstar-gp-plain`` is the GP whose suggestions never explore
=============  =========================================================================================================

How a parameter is told to each of them:

=========  ==============================  ==============================  ===================================
kind       Optuna                          ConfigSpace (SMAC)              BoTorch
=========  ==============================  ==============================  ===================================
Float      FloatDistribution, log          UniformFloat, log               [0, 1], log
Int        IntDistribution, log            UniformInteger, log             [0, 1], log, rounded
Ordinal    IntDistribution of the index    Ordinal of the index            [0, 1] in equal cells, rounded
Choice     Categorical of the index        Categorical of the index        one-hot, rounded to the largest
Bool       Categorical                     Categorical                     [0, 1], rounded
=========  ==============================  ==============================  ===================================

A decision is one ask and the tell that follows; making the optimiser, and importing its library, is not counted.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.problems import Problem
from xstar.searchers import GP, Searcher
from xstar.space import Bool, Choice, Config, Encoder, Float, Int, Ordinal, Parameter, Space

# BoTorch leaves these to the caller; everything else is its default.
RESTARTS = 5
RAW_SAMPLES = 128
MOST_INITIAL = 10
AT_ONCE = 512
MOST_VALUES = 1000
"""Of an Int in a finite space: all of them are listed."""


class Optimiser(Protocol):
    """Sequential: each configuration is told before the next is asked for."""

    def ask(self) -> Config:
        """The next configuration, in canonical form."""

    def tell(self, config: Config, loss: float) -> None:
        """The loss of the configuration just asked for."""


@runtime_checkable
class Informed(Optimiser, Protocol):
    """One that can be handed evaluations, so that its speed can be measured at any number of them (SMAC is not)."""

    def know(self, config: Config, loss: float) -> None:
        """An evaluation made elsewhere."""


class Step(NamedTuple):
    """One evaluation: what it gave, and what deciding on it took."""

    loss: float
    processor: float
    """Seconds of the processor, all threads together."""
    wall: float
    """Seconds of the clock on the wall."""


@dataclass(frozen=True)
class Method:
    """How an optimiser is made, and which library it comes from."""

    make: Callable[[Space, int, int], Optimiser]
    """From the space, the seed and the number of evaluations to come."""
    package: str

    @property
    def version(self) -> str:
        return f"{self.package} {version(self.package)}"

    @property
    def ours(self) -> bool:
        return self.package == "xstar"


def run(problem: Problem, method: str, seed: int, evaluations: int) -> list[Step]:
    """Search ``problem`` at the full budget, one evaluation after the other."""
    chosen, steps = METHODS[method], []
    with warnings.catch_warnings():
        if not chosen.ours:  # about experimental features and jitter; ours are to be seen
            warnings.simplefilter("ignore")
        optimiser = chosen.make(problem.space, seed, evaluations)
        for _ in range(evaluations):
            processor, wall = time.process_time(), time.perf_counter()
            config = optimiser.ask()
            processor, wall = time.process_time() - processor, time.perf_counter() - wall
            loss = problem.loss(problem.space.parse(config))
            again, wall_again = time.process_time(), time.perf_counter()
            optimiser.tell(config, loss)
            processor += time.process_time() - again
            wall += time.perf_counter() - wall_again
            steps.append(Step(loss, processor, wall))
    return steps


def unconditional(space: Space) -> dict[str, Parameter]:
    """The parameters of a space without conditions and domains: what all the libraries have in common."""
    if space.structure.when:
        raise InvalidArgument("space", "must have no conditions", list(space.structure.when), "use another problem")
    known = (Float, Int, Ordinal, Choice, Bool)
    plain: dict[str, Parameter] = {n: given for n, given in space.parameters.items() if isinstance(given, known)}
    if len(plain) < len(space):
        unknown = sorted(set(space) - set(plain))
        raise InvalidArgument("space", "must have no other kinds than the table above", unknown, "use another problem")
    return plain


def from_indices(parameters: dict[str, Parameter], values: dict[str, Any]) -> Config:
    """A configuration from numbers, truth values, and indices in the place of options."""
    config: Config = {}
    for name, parameter in parameters.items():
        value = values[name]
        if isinstance(parameter, Ordinal | Choice):
            config[name] = parameter.options[int(value)]
        else:
            kind = bool if isinstance(parameter, Bool) else int if isinstance(parameter, Int) else float
            config[name] = kind(value)  # ConfigSpace gives NumPy's numbers
    return config


# ---------------------------------------------------------------- xstar


class Xstar:
    def __init__(self, space: Space, seed: int, method: str | None, searcher: Searcher | None = None) -> None:
        self._study = xs.Study(space, method=method, searcher=searcher, seed=seed)

    def ask(self) -> Config:
        trial = self._study.ask()
        if trial is None:
            raise RuntimeError(f"the study gave no trial: {self._study.ended}")
        self._trial = trial
        return trial.config

    def tell(self, config: Config, loss: float) -> None:
        self._study.tell(self._trial, loss)

    def know(self, config: Config, loss: float) -> None:
        self._study.add(config, loss)


# ---------------------------------------------------------------- Optuna


class Optuna:
    def __init__(self, space: Space, make_sampler: Callable[[Any], Any]) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._parameters = unconditional(space)
        self._distributions = {name: optuna_distribution(given) for name, given in self._parameters.items()}
        self._study = optuna.create_study(sampler=make_sampler(optuna.samplers))

    def ask(self) -> Config:
        self._trial = self._study.ask(self._distributions)
        return from_indices(self._parameters, self._trial.params)

    def tell(self, config: Config, loss: float) -> None:
        self._study.tell(self._trial, loss)

    def know(self, config: Config, loss: float) -> None:
        import optuna

        values = {name: to_index(parameter, config[name]) for name, parameter in self._parameters.items()}
        trial = optuna.trial.create_trial(params=values, distributions=self._distributions, value=loss)
        self._study.add_trial(trial)


def to_index(parameter: Parameter, value: Any) -> Any:
    return parameter.options.index(value) if isinstance(parameter, Ordinal | Choice) else value


def optuna_distribution(parameter: Parameter) -> Any:
    from optuna import distributions as od

    match parameter:
        case Float():
            return od.FloatDistribution(parameter.low, parameter.high, log=parameter.log)
        case Int():
            return od.IntDistribution(parameter.low, parameter.high, log=parameter.log)
        case Ordinal():
            return od.IntDistribution(0, parameter.size - 1)
        case Choice():
            return od.CategoricalDistribution(list(range(parameter.size)))
    return od.CategoricalDistribution([False, True])


# ---------------------------------------------------------------- SMAC3


class Smac:
    facade = "HyperparameterOptimizationFacade"

    def __init__(self, space: Space, seed: int, evaluations: int) -> None:
        import logging

        import smac
        from ConfigSpace import ConfigurationSpace

        logging.getLogger("smac").setLevel(logging.ERROR)
        self._parameters = unconditional(space)
        self._folder = tempfile.TemporaryDirectory(prefix="smac-")  # it writes its run history after every evaluation
        there = ConfigurationSpace(seed=seed)
        there.add([configspace_parameter(name, given) for name, given in self._parameters.items()])
        scenario = smac.Scenario(
            there, deterministic=True, n_trials=evaluations, seed=seed, output_directory=self._folder.name
        )
        self._smac = getattr(smac, self.facade)(scenario, overwrite=True, logging_level=False)

    def ask(self) -> Config:
        self._info = self._smac.ask()
        return from_indices(self._parameters, dict(self._info.config))

    def tell(self, config: Config, loss: float) -> None:
        from smac.runhistory import TrialValue

        self._smac.tell(self._info, TrialValue(cost=loss))


def configspace_parameter(name: str, parameter: Parameter) -> Any:
    import ConfigSpace as cs

    match parameter:
        case Float():
            return cs.UniformFloatHyperparameter(name, parameter.low, parameter.high, log=parameter.log)
        case Int():
            return cs.UniformIntegerHyperparameter(name, parameter.low, parameter.high, log=parameter.log)
        case Ordinal():
            return cs.OrdinalHyperparameter(name, list(range(parameter.size)))
        case Choice():
            return cs.CategoricalHyperparameter(name, list(range(parameter.size)))
    return cs.CategoricalHyperparameter(name, [False, True])


class SmacGP(Smac):
    facade = "BlackBoxFacade"


# ---------------------------------------------------------------- BoTorch


class BoTorch:
    """Searches an infinite space in its encoded form, one-hot and relaxed, and rounds what it finds.

    Of a finite one it takes the configuration with the best acquisition of all that are left, as ``optimize_acqf_discrete``
    does: there is none better, and on FC-Net a decision takes a fifth of what relaxing takes.
    """

    def __init__(self, space: Space, seed: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(seed)  # the starts of optimize_acqf come from torch's own stream
        self._space = space
        self._encoder = Encoder(space)
        self._sobol = torch.quasirandom.SobolEngine(space.draws, scramble=True, seed=seed)
        self._initial = min(MOST_INITIAL, 2 * len(unconditional(space)))
        self._left: dict[tuple[Any, ...], Config] | None = None
        if space.size < float("inf"):
            self._left = {space.key(config): config for config in space.grid(MOST_VALUES)}
        self._rows: list[np.ndarray] = []
        self._losses: list[float] = []

    def ask(self) -> Config:
        if len(self._losses) < self._initial:
            rng = np.random.default_rng(0)  # for domains alone, and `unconditional` refuses them
            return self._space.from_uniforms(self._sobol.draw(1).double().tolist()[0], rng)
        acquisition = self._fit()
        return self._optimum(acquisition) if self._left is None else self._best(acquisition, list(self._left.values()))

    def tell(self, config: Config, loss: float) -> None:
        if self._left is not None:
            self._left.pop(self._space.key(config), None)
        self._rows.append(self._encoder.encode_one(config)[0])
        self._losses.append(loss)

    know = tell

    def _fit(self) -> Any:
        import torch
        from botorch.acquisition import LogExpectedImprovement
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.models.transforms import Normalize, Standardize
        from gpytorch.mlls import ExactMarginalLogLikelihood

        X = torch.tensor(np.array(self._rows), dtype=torch.float64)
        y = -torch.tensor(self._losses, dtype=torch.float64)[:, None]  # BoTorch maximises
        scale = Normalize(d=X.shape[1], bounds=self._bounds())
        model = SingleTaskGP(X, y, input_transform=scale, outcome_transform=Standardize(m=1))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        return LogExpectedImprovement(model, best_f=y.max())

    def _optimum(self, acquisition: Any) -> Config:
        from botorch.optim import optimize_acqf

        bounds = self._bounds()
        place, _ = optimize_acqf(acquisition, bounds=bounds, q=1, num_restarts=RESTARTS, raw_samples=RAW_SAMPLES)
        return self._encoder.decode(place[0].numpy())

    def _best(self, acquisition: Any, configs: list[Config]) -> Config:
        import torch

        rows = torch.tensor(self._encoder.encode(configs)[0], dtype=torch.float64)
        with torch.no_grad():
            values = torch.cat([acquisition(part[:, None, :]) for part in rows.split(AT_ONCE)])
        return configs[int(values.argmax())]

    def _bounds(self) -> Any:
        import torch

        return torch.tensor([[0.0], [1.0]], dtype=torch.float64).repeat(1, self._encoder.width)


METHODS: dict[str, Method] = {
    "xstar-gp": Method(lambda space, seed, _: Xstar(space, seed, "gp"), "xstar"),
    "xstar-gp-plain": Method(lambda space, seed, _: Xstar(space, seed, None, GP(explore_every=0)), "xstar"),
    "xstar-dngo": Method(lambda space, seed, _: Xstar(space, seed, "dngo"), "xstar"),
    "xstar-random": Method(lambda space, seed, _: Xstar(space, seed, "random"), "xstar"),
    "optuna-tpe": Method(
        lambda space, seed, _: Optuna(space, lambda s: s.TPESampler(seed=seed, multivariate=False)), "optuna"
    ),
    "optuna-gp": Method(lambda space, seed, _: Optuna(space, lambda s: s.GPSampler(seed=seed)), "optuna"),
    "smac": Method(Smac, "smac"),
    "smac-gp": Method(SmacGP, "smac"),
    "botorch": Method(lambda space, seed, _: BoTorch(space, seed), "botorch"),
}
