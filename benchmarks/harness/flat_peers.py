"""Libraries that are told every parameter whether it takes part or not, behind the protocol of ``methods.py``.

Options are told as their index. Hyperopt's spaces could nest; nevergrad's, too, but its optimisers then see other variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.harness.machine import peer
from benchmarks.harness.peers import active_part, from_indices, unconditional, without_conditions
from xstar.space import Bool, Choice, Config, Float, Int, Ordinal, Parameter, Space


class Hyperopt:
    """``tpe.suggest`` at its defaults, as ``fmin`` calls it."""

    def __init__(self, space: Space, seed: int) -> None:
        hyperopt = peer("hyperopt")
        self._space, self._parameters = space, unconditional(without_conditions(space))
        there = {name: _of_hyperopt(name, given) for name, given in self._parameters.items()}
        self._trials, self._rng = hyperopt.Trials(), np.random.default_rng(seed)
        self._domain = hyperopt.base.Domain(lambda values: 0.0, there)

    def ask(self) -> Config:
        hyperopt = peer("hyperopt")
        ids = self._trials.new_trial_ids(1)
        self._trials.refresh()
        (self._trial,) = hyperopt.tpe.suggest(ids, self._domain, self._trials, int(self._rng.integers(2**31 - 1)))
        values = {name: found[0] for name, found in self._trial["misc"]["vals"].items()}
        return active_part(self._space, from_indices(self._parameters, values).__getitem__)

    def tell(self, config: Config, loss: float) -> None:
        self._end({"status": "ok", "loss": loss})

    def fail(self, config: Config) -> None:
        self._end({"status": "fail"})

    def _end(self, result: dict[str, Any]) -> None:
        self._trial["state"], self._trial["result"] = peer("hyperopt").JOB_STATE_DONE, result
        self._trials.insert_trial_docs([self._trial])
        self._trials.refresh()


def _of_hyperopt(name: str, parameter: Parameter) -> Any:
    hp = peer("hyperopt").hp
    if isinstance(parameter, Float | Int):
        low, high = parameter.low, parameter.high
        if parameter.log:
            low, high = np.log(low), np.log(high)
        if isinstance(parameter, Int):
            return (hp.qloguniform if parameter.log else hp.quniform)(name, low, high, 1)
        return (hp.loguniform if parameter.log else hp.uniform)(name, low, high)
    assert isinstance(parameter, Ordinal | Choice | Bool)
    return hp.choice(name, list(range(int(parameter.size))))


class Nevergrad:
    """``NGOpt``. A trial that fails is told the worst loss so far: it has no word for it."""

    def __init__(self, space: Space, seed: int, evaluations: int) -> None:
        ng = peer("nevergrad")
        self._space, self._parameters = space, unconditional(without_conditions(space))
        there = ng.p.Dict(**{name: _of_nevergrad(given) for name, given in self._parameters.items()})
        there.random_state.seed(seed)
        self._inner = ng.optimizers.NGOpt(parametrization=there, budget=evaluations)
        self._worst = 0.0

    def ask(self) -> Config:
        self._candidate = self._inner.ask()
        return active_part(self._space, from_indices(self._parameters, self._candidate.value).__getitem__)

    def tell(self, config: Config, loss: float) -> None:
        self._worst = max(self._worst, loss)
        self._inner.tell(self._candidate, loss)

    def fail(self, config: Config) -> None:
        self._inner.tell(self._candidate, self._worst)


def _of_nevergrad(parameter: Parameter) -> Any:
    ng = peer("nevergrad")
    match parameter:
        case Float() | Int():
            kind = ng.p.Log if parameter.log else ng.p.Scalar
            made = kind(lower=parameter.low, upper=parameter.high)
            return made.set_integer_casting() if isinstance(parameter, Int) else made
        case Ordinal():
            return ng.p.TransitionChoice(list(range(parameter.size)))
    assert isinstance(parameter, Choice | Bool)
    return ng.p.Choice(list(range(int(parameter.size))))
