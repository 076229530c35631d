"""Functions whose keywords are the fields of a dataclass, where each stands once, with type, default and meaning."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

from xstar.core.checks import nearest
from xstar.errors import InvalidArgument
from xstar.study.methods import with_option

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

RENAMED = {
    "n_jobs": "workers",
    "num_samples": "trials",
    "max_evals": "trials",
    "max_t": "max_budget",
    "max_epochs": "max_budget",
    "epochs": "max_budget",
    "name": "study",
    "study_name": "study",
    "sampler": "searcher",
    "pruner": "scheduler",
    "random_state": "seed",
    "best": "trial_value",
}
"""What other libraries, or our own parts, call an option."""

ELSEWHERE = {
    "direction": "xs.minimize looks for the lowest value, xs.maximize for the highest",
    "directions": 'say them with the metrics, e.g. metric={"accuracy": "max", "latency": "min"}',
    "min_budget": "it is the scheduler's, e.g. searcher=xs.searchers.GP(), scheduler=xs.schedulers.ASHA(81, min_budget=3)",
    "eta": "it is the scheduler's, e.g. searcher=xs.searchers.GP(), scheduler=xs.schedulers.ASHA(81, eta=4)",
    "load_if_exists": "leave it out: a study that exists is resumed",
    "n_startup_trials": "it is the searcher's, e.g. searcher=xs.searchers.GP(initial=10)",
    "timeout": "it is the executor's: executor=xs.Processes(workers=…, timeout=…); the whole search is limited by seconds=…",
    "cores": "it is the executor's: executor=xs.Processes(workers=…, cores=…)",
    "gpus": "it is the executor's: executor=xs.Processes(workers=…, gpus=…)",
    "retries": "it is the executor's: executor=xs.Processes(workers=…, retries=…)",
    "grace": "it is the executor's: executor=xs.Processes(workers=…, grace=…)",
}
"""Options that belong to a part of a search: the remedy where a like spelling would lead astray."""


def takes(options: Callable[P, S]) -> Callable[[Callable[[S], R]], Callable[P, R]]:
    """A decorator: the function is called with the fields of a dataclass, and gets it."""
    signature = inspect.signature(options)

    def decorate(function: Callable[[S], R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            _check_arguments(f"xs.{function.__name__}", signature, args, kwargs)
            return function(options(*args, **kwargs))

        call.__signature__ = signature  # type: ignore[attr-defined]
        return call

    return decorate


def initialised_by(options: Callable[P, S]) -> Callable[[Callable[[T, S], None]], Callable[Concatenate[T, P], None]]:
    """The same for the ``__init__`` of a class."""
    signature = inspect.signature(options)
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def decorate(function: Callable[[T, S], None]) -> Callable[Concatenate[T, P], None]:
        @functools.wraps(function)
        def call(self: T, /, *args: P.args, **kwargs: P.kwargs) -> None:
            _check_arguments(f"xs.{type(self).__name__}", signature, args, kwargs)
            function(self, options(*args, **kwargs))

        call.__doc__ = options.__doc__
        call.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
        return call

    return decorate


def _check_arguments(
    caller: str, signature: inspect.Signature, args: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    """An unknown keyword is an error of our own; one that is missing is Python's, with the name of the caller."""
    known = signature.parameters
    for name in given:
        if name not in known:
            words = with_option(name, {**dict(zip(known, args, strict=False)), **given}) or ELSEWHERE.get(name)
            renamed = f"did you mean {RENAMED[name]!r}?" if RENAMED.get(name) in known else None
            keywords = [each.name for each in known.values() if each.kind is each.KEYWORD_ONLY]
            remedy = words or renamed or nearest(name, keywords)
            raise InvalidArgument(name, f"is no option of {caller}", f"{name}=…", remedy)
    try:
        signature.bind(*args, **given)
    except TypeError as error:
        raise TypeError(f"{caller}() is called with other arguments than it has: {error}") from None


def explained(options: type[Any]) -> dict[str, str]:
    """Field → what is said of it in the docstrings of a dataclass and of those that it extends (numpydoc's ``Parameters``)."""
    found: dict[str, str] = {}
    for cls in reversed(options.__mro__):
        _, _, entries = inspect.cleandoc(cls.__doc__ or "").partition("\n----------\n")
        for entry in re.split(r"\n(?=\S)", entries):
            name, _, text = entry.partition("\n")
            found[name] = text
    return found
