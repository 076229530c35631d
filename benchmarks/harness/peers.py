"""Other libraries behind the protocol of ``methods.py``. Each is imported when it is first used.

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
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.harness.machine import peer
from xstar.errors import InvalidArgument
from xstar.space import Bool, Choice, Config, Encoder, Float, Int, Ordinal, Parameter, Space

# BoTorch leaves these to the caller; everything else is its default.
RESTARTS = 5
RAW_SAMPLES = 128
MOST_INITIAL = 10
AT_ONCE = 512
MOST_VALUES = 1000
"""Of an Int in a finite space: all of them are listed."""


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


def without_conditions(space: Space) -> Space:
    """The same parameters, all of which always take part."""
    return Space({name: replace(given, when=None) for name, given in space.parameters.items()})  # type: ignore[type-var]


def active_part(space: Space, value: Callable[[str], Any]) -> Config:
    """A configuration of the parameters that take part, each with the value that ``value`` gives it."""
    config: Config = {}
    for name in space.structure.order:
        active = space.structure.activity.get(name)
        if active is None or active(config):
            config[name] = value(name)
    return space.parse(config)


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
        if isinstance(parameter, Float):  # nevergrad's logarithms and back may end a last digit outside
            config[name] = min(max(config[name], parameter.low), parameter.high)
    return config


# ---------------------------------------------------------------- Optuna


def quiet_optuna() -> Any:
    optuna = peer("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def tpe_sampler(seed: int) -> Any:
    return peer("optuna").samplers.TPESampler(seed=seed)


def gp_sampler(seed: int) -> Any:
    """Optuna's, which imports torch at its first suggestion."""
    peer("torch")
    return peer("optuna").samplers.GPSampler(seed=seed)


class Optuna:
    """Conditions are its own: a parameter is asked for when its parents say that it takes part."""

    def __init__(self, space: Space, make_sampler: Callable[[], Any]) -> None:
        optuna = quiet_optuna()
        self._space = space
        self._parameters = unconditional(without_conditions(space))
        self._distributions = {name: optuna_distribution(given) for name, given in self._parameters.items()}
        self._study = optuna.create_study(sampler=make_sampler())

    def ask(self) -> Config:
        if not self._space.structure.when:
            self._trial = self._study.ask(self._distributions)
            return from_indices(self._parameters, self._trial.params)
        self._trial = self._study.ask()
        return active_part(self._space, self._suggested)

    def _suggested(self, name: str) -> Any:
        parameter = self._parameters[name]
        return from_indices({name: parameter}, {name: suggest(self._trial, name, parameter)})[name]

    def tell(self, config: Config, loss: float) -> None:
        self._study.tell(self._trial, loss)

    def fail(self, config: Config) -> None:
        self._study.tell(self._trial, state=peer("optuna").trial.TrialState.FAIL)

    def know(self, config: Config, loss: float) -> None:
        optuna = peer("optuna")
        values = {name: to_index(parameter, config[name]) for name, parameter in self._parameters.items()}
        trial = optuna.trial.create_trial(params=values, distributions=self._distributions, value=loss)
        self._study.add_trial(trial)


def to_index(parameter: Parameter, value: Any) -> Any:
    return parameter.options.index(value) if isinstance(parameter, Ordinal | Choice) else value


def suggest(trial: Any, name: str, parameter: Parameter) -> Any:
    """Ask a trial of Optuna for a number, a truth value, or the index of an option."""
    match parameter:
        case Float():
            return trial.suggest_float(name, parameter.low, parameter.high, log=parameter.log)
        case Int():
            return trial.suggest_int(name, parameter.low, parameter.high, log=parameter.log)
        case Ordinal():
            return trial.suggest_int(name, 0, parameter.size - 1)
        case Choice():
            return trial.suggest_categorical(name, list(range(parameter.size)))
    return trial.suggest_categorical(name, [False, True])


def optuna_distribution(parameter: Parameter) -> Any:
    od = peer("optuna.distributions")
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


# ---------------------------------------------------------------- cmaes


class Cmaes:
    """Over the columns of the encoded space, relaxed and rounded; a generation at a time."""

    def __init__(self, space: Space, seed: int) -> None:
        self._space, flat = space, without_conditions(space)
        unconditional(flat)
        self._encoder = Encoder(flat)
        n = max(self._encoder.width, 2)  # it is not defined in one dimension
        bounds = np.array([[0.0, 1.0]] * n)
        self._cma = peer("cmaes").CMA(np.full(n, 0.5), sigma=0.3, bounds=bounds, seed=seed)
        self._told: list[tuple[np.ndarray, float]] = []
        self._worst = 0.0

    def ask(self) -> Config:
        self._point = self._cma.ask()
        values = self._encoder.decode(self._point[: self._encoder.width])
        return active_part(self._space, values.__getitem__)

    def fail(self, config: Config) -> None:
        """It has no word for it: as bad as the worst so far."""
        self.tell(config, self._worst)

    def tell(self, config: Config, loss: float) -> None:
        self._worst = max(self._worst, loss)
        self._told.append((self._point, loss))
        if len(self._told) == self._cma.population_size:
            self._cma.tell(self._told)
            self._told = []


# ---------------------------------------------------------------- SMAC3


class Smac:
    def __init__(self, space: Space, seed: int, evaluations: int) -> None:
        smac, space_of = peer("smac"), peer("ConfigSpace").ConfigurationSpace
        logging.getLogger("smac").setLevel(logging.ERROR)
        self._space = space
        self._parameters = unconditional(without_conditions(space))
        self._folder = tempfile.TemporaryDirectory(prefix="smac-")  # it writes its run history after every evaluation
        there = space_of(seed=seed)
        there.add([configspace_parameter(name, given) for name, given in self._parameters.items()])
        scenario = smac.Scenario(
            there, deterministic=True, n_trials=evaluations, seed=seed, output_directory=self._folder.name
        )
        self._smac = smac.HyperparameterOptimizationFacade(scenario, overwrite=True, logging_level=False)

    def ask(self) -> Config:
        self._info = self._smac.ask()
        values = from_indices(self._parameters, dict(self._info.config))
        return active_part(self._space, values.__getitem__)

    def tell(self, config: Config, loss: float) -> None:
        self._smac.tell(self._info, peer("smac.runhistory").TrialValue(cost=loss))

    def fail(self, config: Config) -> None:
        history = peer("smac.runhistory")
        self._smac.tell(self._info, history.TrialValue(cost=float("inf"), status=history.StatusType.CRASHED))


def configspace_parameter(name: str, parameter: Parameter) -> Any:
    cs = peer("ConfigSpace")
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


# ---------------------------------------------------------------- BoTorch


class BoTorch:
    """Searches an infinite space in its encoded form, one-hot and relaxed, and rounds what it finds.

    Of a finite one it takes the configuration with the best acquisition of all that are left, as ``optimize_acqf_discrete``
    does: there is none better, and on FC-Net a decision takes a fifth of what relaxing takes.
    """

    def __init__(self, space: Space, seed: int) -> None:
        peer("botorch")
        torch = peer("torch")
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

    def fail(self, config: Config) -> None:
        raise NotImplementedError("BoTorch has no word for a trial that fails")

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
