"""Priors: where in its range a parameter is expected to be good, before anything was tried.

Notation

=========  ==============================================================  ======
symbol     meaning                                                         range
=========  ==============================================================  ======
``x``      a position in the encoded (unit) scale of a parameter           [0, 1]
``u``      a uniform random number (or a point of a Sobol sequence)        [0, 1]
``Phi``    the distribution function of the standard normal                [0, 1]
=========  ==============================================================  ======

A prior is used through its quantile function ``u -> x``, so random, quasi-random and grid designs all honour it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist

from xstar.core.checks import as_float
from xstar.errors import InvalidSpace
from xstar.space.values import Json

# Beyond this the density over the range varies by less than 1 part in 10^4 (that is: no prior at all), while the
# difference Phi(b) - Phi(a) of the truncated quantile loses its digits one by one.
LARGEST_STD = 100.0

# Phi^-1 is infinite at 0 and 1; these are the closest doubles that are not.
_SMALLEST_PROBABILITY = 5e-324
_LARGEST_PROBABILITY = 1.0 - 2.0**-53


@dataclass(frozen=True)
class Normal:
    """A normal prior, truncated to the range of its parameter.

    >>> Normal(mean=1e-3, std=0.2)          # around 1e-3, with a fifth of the (log) range as standard deviation
    Normal(mean=0.001, std=0.2)
    """

    mean: float
    """The most likely value, in the parameter's own units."""
    std: float
    """The standard deviation as a share of the encoded range: 0.2 is a fifth of the range, of the log range if log."""

    def __post_init__(self) -> None:
        mean, std = as_float(self.mean), as_float(self.std)
        if mean is None:
            raise InvalidSpace("Normal.mean", "must be a finite number", self.mean, "give the value you expect")
        if std is None or not 0.0 < std <= LARGEST_STD:
            raise InvalidSpace(
                "Normal.std",
                f"must be a number above 0 and at most {LARGEST_STD:g}",
                self.std,
                "it is a share of the range: try 0.2; leave the prior out if every value is as likely",
            )
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "std", std)

    def to_json(self) -> Json:
        return {"kind": "normal", "mean": self.mean, "std": self.std}


def normal_from_json(data: Json) -> Normal:
    try:
        if data["kind"] != "normal":
            raise KeyError("kind")
        return Normal(data["mean"], data["std"])
    except (KeyError, TypeError):
        remedy = 'write {"kind": "normal", "mean": ..., "std": ...}'
        raise InvalidSpace("prior", "must describe a normal prior", data, remedy) from None


def check_normal(kind: str, prior: object, low: float, high: float) -> None:
    """A prior of Float and Int must be a Normal whose mean lies in the range."""
    if prior is None:
        return
    if not isinstance(prior, Normal):
        raise InvalidSpace(f"{kind}.prior", "must be a Normal or None", prior, "write Normal(mean, std)")
    if not low <= prior.mean <= high:
        raise InvalidSpace(
            f"{kind}.prior", f"the mean must lie in [{low}, {high}]", prior, "move the mean or widen the range"
        )


def truncated_normal(mean: float, std: float) -> Callable[[float], float]:
    """The quantile function of a normal truncated to [0, 1]: ``x = mean + std Phi^-1(Phi(a) + u (Phi(b) - Phi(a)))``.

    ``mean`` is in the encoded scale and in [0, 1], so ``Phi(a) <= 1/2 <= Phi(b)`` and the difference is never lost.
    """
    standard = NormalDist()
    below = _phi((0.0 - mean) / std)  # Phi(a)
    inside = _phi((1.0 - mean) / std) - below  # Phi(b) - Phi(a)

    def quantile(u: float) -> float:
        p = min(max(below + u * inside, _SMALLEST_PROBABILITY), _LARGEST_PROBABILITY)
        return min(max(mean + std * standard.inv_cdf(p), 0.0), 1.0)

    return quantile


def _phi(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2.0))  # erfc keeps its digits in the lower tail, 1 + erf does not


def check_weights(kind: str, weights: object, count: int) -> tuple[float, ...] | None:
    """Weights of options as floats: one positive number per option."""
    if weights is None:
        return None
    remedy = f"give {count} positive weights in the order of the options; leave out an option never to be drawn"
    if not isinstance(weights, Sequence) or isinstance(weights, (str, bytes)) or len(weights) != count:
        raise InvalidSpace(f"{kind}.prior", f"must hold one weight for each of the {count} options", weights, remedy)
    numbers = [as_float(weight) for weight in weights]
    positive = tuple(number for number in numbers if number is not None and number > 0.0)
    if len(positive) != count or not math.isfinite(sum(positive)):
        raise InvalidSpace(f"{kind}.prior", "every weight must be a positive finite number", weights, remedy)
    return positive


def inner_borders(weights: Sequence[float]) -> list[float]:
    """Where in [0, 1] one option ends and the next begins.

    The last border (1, but for rounding) is left out: ``bisect`` then never points beyond the last option.
    """
    total = math.fsum(weights)
    return [border / total for border in accumulate(weights)][:-1]
