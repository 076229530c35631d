"""Functions of many keywords: one that is called like another, and an unknown keyword with its remedy."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from xstar.core.checks import nearest
from xstar.errors import InvalidArgument

P = ParamSpec("P")
R = TypeVar("R")
Remedy = Callable[[str, Mapping[str, Any]], str | None]
"""The remedy for an unknown keyword among all that were given, where there is a better one than that of ``OTHER_NAMES``."""

OTHER_NAMES = {
    "direction": "xs.minimize looks for the lowest value, xs.maximize for the highest",
    "directions": 'say them with the metrics, e.g. metric={"accuracy": "max", "latency": "min"}',
    "min_budget": "it is the scheduler's, e.g. searcher=xs.searchers.GP(), scheduler=xs.schedulers.ASHA(81, min_budget=3)",
    "eta": "it is the scheduler's, e.g. searcher=xs.searchers.GP(), scheduler=xs.schedulers.ASHA(81, eta=4)",
    "n_jobs": "did you mean 'workers'?",
    "num_samples": "did you mean 'trials'?",
    "max_evals": "did you mean 'trials'?",
    "max_t": "did you mean 'max_budget'?",
    "max_epochs": "did you mean 'max_budget'?",
    "epochs": "did you mean 'max_budget'?",
    "name": "did you mean 'study'?",
    "study_name": "did you mean 'study'?",
    "load_if_exists": "leave it out: a study that exists is resumed",
    "sampler": "did you mean 'searcher'?",
    "pruner": "did you mean 'scheduler'?",
    "random_state": "did you mean 'seed'?",
    "n_startup_trials": "it is the searcher's, e.g. searcher=xs.searchers.GP(initial=10)",
}
"""What other libraries, or our own parts, call an option: the remedy where a like spelling would lead astray."""


def called_like(model: Callable[P, R], remedy: Remedy) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """A decorator: the function is called as ``model`` is, and gets every argument by name, defaults included.

    An unknown keyword is an error of our own, which Python's ``TypeError`` is not. The types in the signature are resolved,
    so that ``help()`` shows ``int | None`` rather than ``'int | None'``.
    """
    signature = inspect.signature(model, eval_str=True)
    options = [each.name for each in signature.parameters.values() if each.kind is each.KEYWORD_ONLY]

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name not in signature.parameters:
                    given = {**dict(zip(signature.parameters, args, strict=False)), **kwargs}
                    words = remedy(name, given) or OTHER_NAMES.get(name) or nearest(name, options)
                    raise InvalidArgument(name, f"is no option of xs.{function.__name__}", f"{name}=…", words)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return function(**bound.arguments)

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.__annotations__ = {name: parameter.annotation for name, parameter in signature.parameters.items()}
        call.__annotations__["return"] = signature.return_annotation
        return call

    return decorate


def checked_keywords(remedy: Remedy) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: the function itself, but that it refuses an unknown keyword in our own words."""
    return lambda function: called_like(function, remedy)(function)
