"""What Algorithm 1 needs of a family of distributions, and the margins that keep every value alive.

Notation, for all of this package

=============  =============================================================================  =================
symbol         meaning                                                                        shape
=============  =============================================================================  =================
``D``          variables: columns of a point                                                  int
``n``          parameters: the dimension of Θ, Σ over variables of their degrees of freedom   int
``points``     x_1 … x_λ, one a row: bits, indices of values, or numbers                      (λ, D)
``θ``          the expectation parameters, E[T(x)]                                            ``family.shape``
``w``          preferences less their mean (``ranking.py``)                                   (λ,)
``∇̃``          (1/λ) Σ w_i (T(x_i) − θ): the stochastic natural gradient, line 10             as θ
``G``          the Fisher metric at θ                                                         –
``active``     which variables take part in which point; None: all in all                     (λ, D)
=============  =============================================================================  =================

Inactive variables. Think of every variable as drawn, whether its parents switch it on or not: then P_θ is a product over
all D variables, and the terms of inactive ones, which f cannot see, have expectation zero given w. Leaving them out changes
no expectation and removes their noise; so an inactive variable takes no gradient.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument

Array = NDArray[np.float64]
Points = NDArray[Any]
Active = NDArray[np.bool_]


class Family(Protocol):
    """A family in expectation parameters. Without state: θ is handed in."""

    @property
    def variables(self) -> int:
        """D."""
        ...

    @property
    def parameters(self) -> int:
        """n."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in which θ is kept."""
        ...

    @property
    def freedom(self) -> Array:
        """The parameters of each variable, which add up to n: shape (D,)."""
        ...

    def start(self) -> Array:
        """The θ that assumes the least."""
        ...

    def draw(self, theta: Array, count: int, rng: np.random.Generator) -> Points:
        """``count`` independent points of P_θ."""
        ...

    def check(self, points: Points) -> None:
        """InvalidArgument unless every number of ``points`` (λ, D) is one that the family can draw."""
        ...

    def gradient(self, theta: Array, points: Points, w: Array, active: Active | None) -> Array:
        """∇̃ at θ, in the shape of θ."""
        ...

    def whiten(self, theta: Array, gradient: Array) -> Array:
        """G(θ)^½ ∇̃ as a flat vector: its squared length is ∇̃ᵀ G ∇̃."""
        ...

    def move(self, theta: Array, gradient: Array, step: float, at: Array) -> Array:
        """Π(θ + ε ∇̃), with the gradient taken at ``at``. A new array."""
        ...

    def inside(self, theta: Array) -> bool:
        """Whether θ is within its margins."""
        ...

    def mode(self, theta: Array) -> Points:
        """The point that stands for the distribution, shape (D,): the likeliest value of each variable."""
        ...

    def within(self, total: int) -> Family:
        """The same family as part of a product over ``total`` variables, which its default margins follow."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The family as JSON: ``{"kind": …}`` and its fields."""
        ...


def least_probability(variables: int, values: int) -> float:
    """The least probability of a value: 1 / (D (K − 1)), and at most 1 / (2K).

    With every variable at its margin a point differs from the likeliest one in one variable on average, however many values
    there are: K − 1 others, each with 1 / (D (K − 1)), in each of D variables. For bits it is the paper's 1/n. With one or two
    bits that would leave θ no room at all; 1 / (2K) keeps it some.
    """
    return min(1.0 / (variables * (values - 1)), 1.0 / (2 * values))


def weighted_sum(w: Array, columns: NDArray[Any]) -> Array:
    """Σ_i w_i columns_i, added row by row: a matrix product would add in an order that depends on the width."""
    total: Array = np.add.reduce(w.reshape(-1, *[1] * (columns.ndim - 1)) * columns, axis=0)
    return total


def check_margin(value: float | None, largest: float) -> float | None:
    """A margin that a user set."""
    if value is not None and not 0.0 < value <= largest:
        raise InvalidArgument("margin", f"must lie above 0 and at most at {largest:g}", value, "leave it out")
    return value
