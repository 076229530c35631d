"""Algorithm 1, parameterless IGO, for any family: sample, compare, step, adapt.

    rng = np.random.default_rng(1)
    core = IGO(Bernoulli(100))                        # PBIL-λ
    while True:
        points = core.sample(core.samples, rng)       # (λ, 100)
        core.update(points, [f(x) for x in points])

The same code with other settings is

    IGO(Bernoulli(n), adapt="step")                               PBIL-ε: two points at a time, ε adapted
    IGO(Bernoulli(n), adapt="none", step=1 / n)                   cGA
    IGO(Bernoulli(n), adapt="none", samples=20, step=0.1)         PBIL with λ = 20, ε = 0.1
    IGO(Bernoulli(n), adapt="none", samples=50, step=1, weights="umda")    UMDA with λ = 50, μ = 25
    IGO(Bernoulli(n), weights=lambda f: np.exp(-f))               any preference W, the step ε/μ_W (adaptation.py)
    IGO(Bernoulli(n), metric="moved")                             PBIL-λ as it is listed, not as equation (10) has it

Equation (10) and the listing differ in G of line 12: see ``Settings.metric``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from xstar.core.checks import whole_number
from xstar.errors import InvalidArgument
from xstar.igo.adaptation import TARGET, Preference, Settings, Trace, weighted
from xstar.igo.family import Active, Array, Family, Points


class IGO:
    """A distribution and the state of its optimisation. Lower losses are better."""

    family: Family
    settings: Settings
    theta: Array
    """θ, in ``family.shape``. Never modified in place, so a reference to it remains valid."""
    trace: Trace
    """The state of the adaptation."""
    generation: int
    """The number of updates, including those without effect."""

    def __init__(
        self,
        family: Family,
        *,
        adapt: str = "samples",
        step: float | None = None,
        samples: int | None = None,
        most: int | None = None,
        target: float = TARGET,
        weights: str | Preference = "quarters",
        metric: str = "drawn",
    ) -> None:
        self.family = family
        self.settings = Settings.of(family.parameters, adapt, step, samples, most, target, weights, metric)
        self.theta = family.start()
        whitened = family.whiten(self.theta, np.zeros(family.shape))
        self.trace = Trace.new(whitened.size, self.settings)
        self.generation = 0

    # --- ask ----------------------------------------------------------------------------------------------------

    @property
    def samples(self) -> int:
        """λ: the number of points that the next update should compare."""
        return self.trace.samples(self.settings)

    @property
    def step(self) -> float:
        """ε of the next update."""
        return self.trace.step(self.settings)

    def sample(self, count: int, rng: np.random.Generator) -> Points:
        """Draw ``count`` independent points from P_θ: shape (count, D). Changes no state."""
        return self.family.draw(self.theta, whole_number("count", count, least=1), rng)

    def mode(self) -> Points:
        """Return the point that represents the distribution, shape (D,): θ ≥ ½, the most probable values, the means."""
        return self.family.mode(self.theta)

    # --- tell ---------------------------------------------------------------------------------------------------

    def update(
        self, points: ArrayLike, losses: ArrayLike, *, active: Active | None = None, at: Array | None = None
    ) -> None:
        """Update θ and the adaptation, lines 5 to 15.

        Any number of points from two on may be compared; the adaptation recommends ``samples``. A loss of ``inf`` marks
        a point that could not be evaluated. If all losses are equal, nothing changes (line 7). For points drawn from an
        earlier θ, pass that θ as ``at``. Points from another source are not detected: they move θ like any others, and
        the gradient is no longer unbiased.
        """
        x, f = self._checked(points, losses, active)
        self.generation += 1
        w, mean = weighted(f, self.settings.weights)  # lines 4 and 5
        squares = w * w
        if not squares.any():  # σ_W² = 0
            return
        count, family = len(w), self.family
        if active is None and self.settings.weights == "umda":
            active = np.ones(x.shape, dtype=bool)  # weights that do not add up to 0 need the − θ of T(x) − θ
        drawn_from = self.theta if at is None else at
        gradient = family.gradient(drawn_from, x, w, active)  # line 10
        # n σ_W² / λ, with n replaced by the number of active parameters of each point.
        taking_part = family.parameters if active is None else active @ family.freedom
        noise = float((squares * taking_part).sum()) / count**2
        self.theta = family.move(self.theta, gradient, self.step / mean, drawn_from)  # line 11
        if self.settings.adapt != "none" and noise > 0.0:
            at_metric = drawn_from if self.settings.metric == "drawn" else self.theta
            self.trace = self.trace.after(family.whiten(at_metric, gradient), noise, self.settings)

    def _checked(self, points: ArrayLike, losses: ArrayLike, active: Active | None) -> tuple[Points, Array]:
        x = np.asarray(points)
        try:
            f = np.asarray(losses, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidArgument("losses", "must be numbers", losses) from None
        wide = self.family.variables
        if x.ndim != 2 or x.shape[1] != wide or x.dtype.kind not in "biuf":
            found = f"shape={x.shape}, dtype={x.dtype}"
            raise InvalidArgument("points", f"must be numbers of the shape (λ, {wide})", found, "pass what sample gave")
        if len(x) < 2:
            raise InvalidArgument("points", "at least two must be compared", len(x), "draw core.samples of them")
        if f.shape != (len(x),):
            raise InvalidArgument("losses", f"must be one for each of the {len(x)} points", f"shape={f.shape}")
        if np.isnan(f).any():
            remedy = "give inf to points that could not be evaluated"
            raise InvalidArgument("losses", "must not be NaN", f.tolist(), remedy)
        if active is not None and (active.shape != x.shape or active.dtype != np.bool_):
            found = f"shape={active.shape}, dtype={active.dtype}"
            raise InvalidArgument("active", f"must be booleans of the shape {x.shape}", found)
        self.family.check(x)
        return x, f

    # --- JSON ---------------------------------------------------------------------------------------------------

    def copy(self) -> IGO:
        """Return another core in the same state. This is cheap: arrays are shared, because none is ever modified."""
        twin = object.__new__(IGO)
        twin.__dict__.update(self.__dict__)
        return twin

    def dump(self) -> dict[str, Any]:
        """Return the state as JSON; a core of the same family and settings that loads it continues identically."""
        return {
            "theta": self.theta.ravel().tolist(),
            "path": self.trace.path.tolist(),
            "gamma": self.trace.gamma,
            "size": self.trace.size,
            "generation": self.generation,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Continue from a state stored by ``dump``."""
        remedy = "pass what dump() returned, of a core with the same family"
        try:
            theta = np.array(data["theta"], dtype=np.float64).reshape(self.family.shape)
            path = np.array(data["path"], dtype=np.float64).reshape(self.trace.path.shape)
            trace, generation = Trace(path, float(data["gamma"]), float(data["size"])), int(data["generation"])
        except (KeyError, TypeError, ValueError) as error:
            found = f"{type(error).__name__}: {error}"
            raise InvalidArgument("data", "must be the state of this core", found, remedy) from None
        if not self.family.inside(theta):
            raise InvalidArgument("theta", "must lie within the margins of its family", data["theta"][:5], remedy)
        self.theta, self.trace, self.generation = theta, trace, generation
