"""CMA-ES: a normal distribution over the unit cube that learns the shape of the loss, through the package ``cmaes``.

Choose it for hundreds to thousands of cheap evaluations of a few up to a hundred numbers, above all where they interact (narrow
valleys). For fewer evaluations ``GP()`` is the better choice, for switches ``PBIL()``.

Generations. Each has λ points of one distribution. Generation g + 1 opens at the first suggestion for which λ trials of
generation g have results (``journal/results.py``); its first trial records which they were, and they update the
distribution. Until then further points of generation g are drawn, so that no worker waits. With one worker this is
CMA-ES as published.

    cma: generation 4, σ 0.08                                drawn from the distribution of generation 4
    cma: generation 5, σ 0.07, told 40-47                    the first of its generation: it opened after these trials
    cma: generation 0, σ 0.3, told 96-103, restart 1         the distribution had converged: another start, λ doubled

Nothing is told to an optimiser that lives on, and nothing is recognised by computing it again, which on another processor
gives other digits. Each origin records the point that was drawn, before rounding and decoding, and the trial that opened its
generation (``opened``); the first of a generation records what it learned from (``told``), and each which ``restart`` it
belongs to. The state is the fold of these and of the results. Of two trials that open the same generation the one with the
lower number counts.

Columns. The distribution is over the columns of the encoded space (``space/cube.py``). If some are discrete (Ints,
Ordinals, grids, Bools, Bits, the one-hot columns of a Choice), CMA-ES with margin keeps every value of them within reach. For
a Choice that is a compromise: with continuous columns of which the largest wins, FC-Net ends worse (60 trials, mean of 5
seeds: naval 12.7e-5 instead of 5.2e-5, protein 0.236 instead of 0.223), NAS-Bench-201, which has nothing but Choices, better
(29.0 instead of 30.1). Inactive parameters are drawn and dropped. Architectures and domains of your own have no columns and
are refused.

References: Hansen (2016), The CMA evolution strategy: a tutorial, arXiv:1604.00772; Hamano et al. (2022), CMA-ES with margin,
GECCO; Auger & Hansen (2005), A restart CMA evolution strategy with increasing population size, CEC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.core.checks import as_float, check_counts
from xstar.core.goals import Goals
from xstar.core.randomness import Streams
from xstar.errors import InvalidArgument, MissingExtra
from xstar.journal import History
from xstar.journal.results import has_result, ranks, result
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.searchers.base import SEARCHERS, at_random, exhausted
from xstar.space import Bits, Bool, Choice, Float, Int, Ordinal, Parameter, Space
from xstar.space.axes import axes_of
from xstar.space.cube import SMOOTH, cube_of

Array = NDArray[np.float64]

DRAWS = 64
"""Draws for one suggestion until one was not tried before."""


@dataclass(frozen=True, slots=True)
class CMA:
    """Covariance matrix adaptation over the encoded space."""

    population: int | None = None
    """λ; the default is 4 + ⌊3 log n⌋ for n columns."""
    sigma: float = 0.3
    """The standard deviation at the beginning, in sides of the cube. The package's tutorial advises 0.3 of the range."""
    restarts: bool = True
    """Start again elsewhere with λ doubled once the distribution has converged (IPOP)."""

    def __post_init__(self) -> None:
        check_counts(self, {"population": 4}, optional=("population",))
        sigma = as_float(self.sigma)
        if sigma is None or not 0.0 < sigma <= 1.0:
            raise InvalidArgument("sigma", "must be a number above 0 and at most 1", self.sigma, "leave it out")
        object.__setattr__(self, "sigma", sigma)

    def handles(self, goals: Goals) -> bool:
        """A generation is ranked by fronts."""
        return True

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        if (done := exhausted(history)) is not None:
            return done
        if others := cube_of(history.space).encoder.domains:
            rule = "cma needs parameters with positions"
            raise InvalidArgument("space", rule, ", ".join(others), "use method='evolution' or 'nasbot'")
        if not cube_of(history.space).width:
            return at_random(history, rng, "cma has nothing to learn about, all parameters are constant")
        from xstar.models.linalg import single_threaded  # imported at use: it looks for BLAS libraries

        with single_threaded():
            return self._drawn(history, rng)

    def _drawn(self, history: History, rng: np.random.Generator) -> Suggestion | Done:
        fold = history.memo.get(_Fold, self) or history.memo.put(_Fold(self, history.space, history.seed), self)
        fold.catch_up(history)
        number = len(history.trials)
        draft, opened, told = fold.next(history)
        for config, point in draft.draws(number):
            if history.tried(config) is None:
                return Suggestion(config, draft.origin(point, opened, told))
        return at_random(history, rng, f"cma: {DRAWS} draws of generation {draft.generation} were tried before")


@dataclass(frozen=True)
class _State:
    """The distribution of one generation."""

    settings: CMA
    space: Space
    seed: int
    generation: int
    restart: int
    optimiser: Any
    """Of ``cmaes``. Drawing from it changes nothing that counts: it is seeded for each trial."""

    @classmethod
    def start(cls, settings: CMA, space: Space, seed: int, restart: int = 0) -> _State:
        cmaes = _cmaes()
        low, high, steps, mean = _columns(space)
        if restart:
            mean = low + (high - low) * Streams(seed).generator(restart, "cma restart").random(len(low))
        size = settings.population or 4 + int(3 * np.log(len(low)))
        given = {"sigma": settings.sigma, "bounds": np.column_stack([low, high]), "seed": 0}
        given["population_size"] = size * 2**restart
        made = cmaes.CMAwM(mean, steps=steps, **given) if steps.any() else cmaes.CMA(mean, **given)
        made.should_stop()
        return cls(settings, space, seed, 0, restart, made)

    def draws(self, number: int) -> Sequence[tuple[Config, Array]]:
        """Return the draws for the trial of this number, and the points that the distribution learns from."""
        cube, found = cube_of(self.space), []
        self.optimiser.reseed_rng(int(Streams(self.seed).generator(number, "cma").integers(2**32)))
        for _ in range(DRAWS if self.space.size < float("inf") else 1):
            drawn = self.optimiser.ask()
            shown, point = drawn if isinstance(drawn, tuple) else (drawn, drawn)
            found.append((cube.decode(shown[: cube.width]), point))
        return found

    def after(self, history: History, points: Mapping[int, Array], anew: bool | None = None) -> _State:
        """Return the state after these trials; it begins ``anew``, or not, as is on record, or (None) if it has converged."""
        if anew:
            return self.restarted()
        results = [result(history.trials[number], history) for number in points]
        # Only the order counts for the update, but where losses compare directly, equal ones are a sign of convergence.
        alike = not history.goals.several and len({each[0] for each in results}) == 1 and np.isfinite(results).all()
        values = [each[1] for each in results] if alike else ranks(results, history)
        optimiser = deepcopy(self.optimiser)
        optimiser.tell(list(zip(points.values(), values, strict=True)))
        converged = optimiser.should_stop()  # asked at once, as it leaves its factors of C for the next draw and update
        if anew is None and self.settings.restarts and converged:
            return self.restarted()
        return _State(self.settings, self.space, self.seed, self.generation + 1, self.restart, optimiser)

    def restarted(self) -> _State:
        """Return the first state of the next restart."""
        return _State.start(self.settings, self.space, self.seed, self.restart + 1)

    def origin(self, point: Array, opened: int, told: Sequence[int]) -> Origin:
        inner = getattr(self.optimiser, "_cma", self.optimiser)
        numbers: dict[str, Any] = {"generation": self.generation, "sigma": float(inner._sigma)}
        numbers |= {"opened": opened, "point": point.tolist()}
        detail = "generation {generation}, σ {sigma:.2g}"
        if told:
            numbers |= {"told": list(told), "first": told[0], "last": told[-1]}
            detail += ", told {first}-{last}"
        if self.restart:
            numbers["restart"] = self.restart
            detail += ", restart {restart}"
        return Origin("cma", detail, **numbers)


@dataclass
class _Fold:
    """The newest generation and its trials, from the origins of all trials so far."""

    settings: CMA
    space: Space
    seed: int
    points: dict[int, Array] = field(default_factory=dict)
    """The points of the trials of the newest generation, by number."""
    state: _State = field(init=False)
    opened: int | None = None
    """The trial that opened the newest generation."""
    _seen: int = 0
    _draft: tuple[tuple[int, ...], _State] | None = None

    def __post_init__(self) -> None:
        self.state = _State.start(self.settings, self.space, self.seed)

    def catch_up(self, history: History) -> None:
        """Follow the trials since the last call: each belongs to the newest generation or opens the next one."""
        for number in range(self._seen, len(history.trials)):
            trial = history.trials[number]
            if (
                trial.origin.method == "cma" and trial.runs.seen >= history.reshaped
            ):  # before, columns meant something else
                self._take(number, trial.origin.numbers, history)
        self._seen = len(history.trials)

    def _take(self, number: int, recorded: Mapping[str, Any], history: History) -> None:
        told = tuple(recorded.get("told", ()))
        if told and self.points.keys() >= set(told):
            self.state = self._after(history, told, recorded.get("restart", 0) > self.state.restart)
            self.opened, self.points = number, {}
        elif self.opened is None and not told:
            self.opened = number
        if recorded.get("opened") == self.opened and "point" in recorded:
            self.points[number] = np.array(recorded["point"])

    def next(self, history: History) -> tuple[_State, int, Sequence[int]]:
        """Return the state of the next trial, the trial that opened it, and, if it is that one, the trials it is told."""
        number, size = len(history.trials), self.state.optimiser.population_size
        ended = tuple(member for member in self.points if has_result(history.trials[member]))[:size]
        if self.opened is None or len(ended) < size:
            return self.state, number if self.opened is None else self.opened, ()
        return self._after(history, ended, None), number, ended

    def _after(self, history: History, told: tuple[int, ...], anew: bool | None) -> _State:
        if self._draft is not None and self._draft[0] == told:
            state = self._draft[1]
            if anew is None or anew == (state.restart > self.state.restart):
                return state
        self._draft = told, self.state.after(history, {number: self.points[number] for number in told}, anew)
        return self._draft[1]


def _cmaes() -> Any:
    try:
        import cmaes
    except ImportError as error:
        raise MissingExtra("method='cma' needs cmaes: pip install '.[cma]' in a checkout of xstar") from error
    return cmaes


def _columns(space: Space) -> tuple[Array, Array, Array, Array]:
    """Return the lowest and highest place, the step (0: none) and the start of each column.

    A single column is joined by one without meaning: CMA-ES is not defined in one dimension.
    """
    cube, axes = cube_of(space), axes_of(space)
    width = max(cube.width, 2)
    low, high, steps = np.zeros(width), np.ones(width), np.zeros(width)
    mean = np.full(width, 0.5)
    mean[axes.columns] = axes.mean
    for name, place in cube.encoder.places.items():
        parameter = space[name]
        assert isinstance(parameter, Parameter)
        match parameter:
            case Choice() | Bool() | Bits():
                steps[place] = 1.0
            case Int(log=True):
                pass  # its values are not equally spaced, and cmaes knows no other steps: it is continuous, and rounded
            case Float() | Int() | Ordinal() if 1 < parameter.size <= SMOOTH:
                steps[place] = 1.0 / parameter.size
                low[place], high[place] = 0.5 / parameter.size, 1.0 - 0.5 / parameter.size
    return low, high, steps, np.clip(mean, low, high)


SEARCHERS.register("cma", CMA)
