"""Maximise the acquisition function over architectures, alone or with other parameters (NASBOT, B.2).

The population consists of the evaluated configurations and the initial pools. It grows by mutations of members with a
high acquisition value (``acquisition/evolve.py``). Distances of candidates are provisional at first
(``nets/catalogue.py``). They are made exact for the leading candidates, best first, until the best exact one leads.
Finally, the other parameters are optimised to a local maximum with the network held fixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xstar.journal import History
from xstar.journal.trial import Config
from xstar.models.kernels import Array
from xstar.nets.graph import Graph
from xstar.nets.modifiers import KINDS
from xstar.searchers.acquisition.criterion import Criterion, LogProbability, ToRows
from xstar.searchers.acquisition.evolve import evaluations, evolve
from xstar.searchers.acquisition.hypervolume import HypervolumeCriterion
from xstar.searchers.acquisition.optimise import Score, ScoreWithGradient, local_ascent
from xstar.searchers.bo.observations import Observations
from xstar.searchers.mutation import is_active, mutated, pools

EXACT_AT_ONCE, MOST_EXACT = 6, 24
"""Candidates made exact per round, and in total. With 100 networks of about 22 layers, one takes 20 ms."""
OPTIMISED = 4
"""The number of leading candidates whose other parameters are optimised."""


class Scores(NamedTuple):
    """Acquisition functions over rows that hold the index of each network."""

    score: Score
    with_gradient: ScoreWithGradient | None
    """``None`` if the surrogate has no gradients."""


def on_positions(data: Observations, constraint: LogProbability) -> LogProbability:
    """Convert a constraint on rows of ``data.positions`` to one on rows of ``data``."""
    if not data.catalogues or not data.networks_by_index:
        return constraint
    width = data.cube.width

    def log_probability(rows: Array) -> tuple[Array, ToRows | None]:
        value, back = constraint(data.described(rows))
        if back is None:
            return value, None

        def to_left(w: Array) -> Array:
            made = np.zeros_like(rows)
            made[:, :width] = back(w)[:, :width]
            return made

        return value, to_left

    return log_probability


def with_networks(data: Observations, criterion: Criterion | HypervolumeCriterion, has_gradients: bool) -> Scores:
    """Return the criterion for rows with network indices, whichever columns its surrogate uses for networks."""
    if data.networks_by_index:
        return Scores(criterion.score, criterion.with_gradient if has_gradients else None)
    width = data.cube.width

    def with_gradient(rows: Array) -> tuple[Array, Array]:
        value, slope = criterion.with_gradient(data.described(rows))
        made = np.zeros_like(rows)
        made[:, :width] = slope[:, :width]
        return value, made

    return Scores(lambda rows: criterion.score(data.described(rows)), with_gradient if has_gradients else None)


def _is_chain(config: Config) -> bool:
    """Return whether all networks of a configuration are feed-forward."""
    return all(value.is_chain for value in config.values() if isinstance(value, Graph))


@dataclass(frozen=True)
class Member:
    """A configuration of the population, and the indices of its networks."""

    config: Config
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class NetworkEvolution:
    """The state of one maximisation."""

    history: History
    data: Observations
    scores: Scores
    modifiers: str
    """The set of modifiers; with ``chain`` networks stay feed-forward (TreeBO)."""
    exact_neighbours: int | None
    """To how many networks the distances of candidates are exact at first; ``None``: all."""
    rng: np.random.Generator

    def maximise(self, starts: Iterable[int], otherwise: Iterable[int]) -> list[tuple[Config, float]]:
        """Return configurations, best first, with their acquisition values. It starts from the trials of these numbers;
        ``otherwise`` where there are none."""
        trials = self.history.trials
        if self.modifiers == "chain":  # a user may have added other networks
            starts = [number for number in starts if _is_chain(trials[number].config)]
        try:
            return self._maximise(list(starts) or otherwise)
        finally:
            for catalogue in self.data.catalogues:
                catalogue.end_decision()

    def _maximise(self, starts: Iterable[int]) -> list[tuple[Config, float]]:
        first = self._population(starts)
        known = self.scores.score(self._rows(first))
        top = float(known.max())
        logs = [known]

        def improvement(members: list[Member]) -> Array:
            """Return EI up to a factor, or the exponential of a bound: selection uses g, not its logarithm (B.2)."""
            logs.append(self.scores.score(self._rows(members)))
            return np.exp(np.minimum(logs[-1] - top, 50.0))

        count = evaluations(len(self.history.trials))
        members, _ = evolve(first, np.exp(known - top), self._children, improvement, count, self.rng)
        values = np.concatenate(logs)
        exact = self._exact(members, values)
        if self.data.cube.smooth.any() and self.scores.with_gradient is not None:
            self._optimise_others(members, values, exact, self.scores.with_gradient)
        order = sorted(exact, key=lambda index: (-values[index], index))
        return [(members[index].config, float(values[index])) for index in order]

    def _population(self, starts: Iterable[int]) -> list[Member]:
        """Return the evaluated configurations, and the pool networks with other parameters taken from them."""
        space, data = self.history.space, self.data
        trials = [self.history.trials[number] for number in starts]
        configs = [trial.config for trial in trials]
        for name, pool in pools(space).items():
            bases = configs[: len(trials)] or [space.sample(self.rng)]
            for index, value in enumerate(pool):
                base = bases[index % len(bases)]
                if name in base:
                    configs.append({**base, name: value})
        by_key = {space.key(config): config for config in configs}
        listed = list(by_key.values()) or [space.sample(self.rng)]
        columns = [
            catalogue.enter([config.get(name) for config in listed])
            for name, catalogue in zip(data.cube.encoder.domains, data.catalogues, strict=True)
        ]
        for catalogue, column in zip(data.catalogues, columns, strict=True):
            catalogue.begin_decision(column, self.exact_neighbours)
        return [Member(config, numbers) for config, numbers in zip(listed, zip(*columns, strict=True), strict=True)]

    def _children(self, parents: list[Member]) -> list[Member]:
        options = {"modifiers": KINDS[self.modifiers]}
        configs = [mutated(self.history.space, parent.config, self.rng, options) for parent in parents]
        columns = []
        for index, (name, catalogue) in enumerate(
            zip(self.data.cube.encoder.domains, self.data.catalogues, strict=True)
        ):
            values = [config.get(name) for config in configs]
            columns.append(catalogue.propose(values, [parent.numbers[index] for parent in parents]))
        return [Member(config, numbers) for config, numbers in zip(configs, zip(*columns, strict=True), strict=True)]

    def _rows(self, members: Sequence[Member]) -> Array:
        encoded = self.data.cube.encoder.encode([member.config for member in members])[0]
        return np.hstack([encoded, np.array([member.numbers for member in members], dtype=np.float64)])

    def _exact(self, members: list[Member], values: Array) -> list[int]:
        """Make the leading members exact; return the indices of untried members with exact values."""
        history = self.history
        order: list[int] = []
        seen = set()
        for index in np.argsort(-values, kind="stable").tolist():
            key = history.space.key(members[index].config)
            if key not in seen and history.tried(members[index].config) is None:
                order.append(index)
            seen.add(key)
        exact: list[int] = []
        while order and len(exact) < MOST_EXACT:
            few, order = order[:EXACT_AT_ONCE], order[EXACT_AT_ONCE:]
            for column, catalogue in enumerate(self.data.catalogues):
                catalogue.make_exact([members[index].numbers[column] for index in few])
            values[few] = self.scores.score(self._rows([members[index] for index in few]))
            exact += few
            if order and max(values[index] for index in exact) >= values[order[0]]:
                break
        return exact

    def _optimise_others(
        self, members: list[Member], values: Array, exact: list[int], with_gradient: ScoreWithGradient
    ) -> None:
        """Move the encoded parameters of the best few members to a local maximum, in place."""
        cube, space = self.data.cube, self.history.space
        domains = cube.encoder.domains
        best = sorted(exact, key=lambda index: (-values[index], index))[:OPTIMISED]
        if not best:
            return
        rows = self._rows([members[index] for index in best])
        numbers = rows[:, cube.width :]

        def at_positions(positions: Array) -> tuple[Array, Array]:
            value, slope = with_gradient(np.hstack([positions, numbers]))
            return value, slope[:, : cube.width]

        moved, reached = local_ascent(cube, at_positions, rows[:, : cube.width], values[best])
        for index, row, value in zip(best, moved, reached, strict=True):
            member = members[index]
            plain = cube.decode(row)
            networks = {name: member.config[name] for name in domains if name in member.config}
            if value <= values[index] or any(is_active(space, name, plain) != (name in networks) for name in domains):
                continue  # this would activate or deactivate a network, but the network is what was chosen
            made = {**plain, **networks}
            config = {name: made[name] for name in space.parameters if name in made}
            if self.history.tried(config) is None:
                members[index], values[index] = Member(config, member.numbers), float(value)
