"""Initial designs and mutations of configurations in any space, shared by Bayesian and evolutionary searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from xstar.journal import History
from xstar.journal.trial import Config, Done, New, Origin, Suggestion
from xstar.nets.domains import Networks
from xstar.searchers.base import at_random
from xstar.searchers.sobol import point
from xstar.space import Space
from xstar.space.cube import cube_of

SCALES = (0.3, 0.1, 0.03)
"""Standard deviations of the steps of numeric parameters, in sides of the cube; one is drawn for each child."""
SHARE = 0.3
"""Share of the encoded parameters that change in a child; at least one changes."""
MOST_PROVEN = 100
"""The best configurations of another study among which those for the initial design are chosen."""
APART = 0.1
"""How far they are from trials at least, in sides of the cube: another one beside the best would teach little."""
ATTEMPTS = 20
"""Mutations of one parent before the search for an untried child is abandoned. A network has hundreds of neighbours."""


def mutated(space: Space, config: Config, rng: np.random.Generator, options: Mapping[str, Any]) -> Config:
    """Return a configuration near ``config``: its networks mutated, its other parameters perturbed, or both (equally
    likely).

    ``options`` are passed to the mutation of MLPs and CNNs; other domains have a single kind of mutation.
    """
    cube = cube_of(space)
    domains = [name for name in cube.encoder.domains if name in config]
    kind = int(rng.integers(3)) if domains and cube.width else 0 if domains else 1
    plain = {name: value for name, value in config.items() if name not in domains}
    if kind != 0:
        row = cube.encoder.encode([config])[0]
        steps = rng.standard_normal((1, cube.width)) * SCALES[int(rng.integers(len(SCALES)))]
        plain = cube.decode(cube.perturbed(row, steps, rng.random((1, 2, cube.width)), SHARE)[0])
    chosen = domains[int(rng.integers(len(domains)))] if domains and kind != 1 else None
    made = dict(plain)
    for name in cube.encoder.domains:
        domain: Any = space[name]
        if not is_active(space, name, plain):
            continue
        if name == chosen:
            made[name] = domain.mutate(config[name], rng, **(options if isinstance(domain, Networks) else {}))
        else:
            made[name] = config[name] if name in config else domain.sample(rng)
    return {name: made[name] for name in space.parameters if name in made}


def is_active(space: Space, name: str, plain: Mapping[str, Any]) -> bool:
    """Return whether a parameter is active, given the encoded parameters."""
    active = space.structure.activity.get(name)
    return active is None or active(plain)


def pools(space: Space) -> dict[str, tuple[Any, ...]]:
    """Return the initial pools of the parameters that have one."""
    found = {name: getattr(space[name], "pool", ()) for name in cube_of(space).encoder.domains}
    return {name: tuple(pool) for name, pool in found.items() if pool}


def first_design(
    history: History, task: New, rng: np.random.Generator, space: Space | None = None
) -> Suggestion | Done:
    """Return trial n of an initial design: a Sobol point, with network n of the pool while the pool lasts.

    Where other studies are learned from, every second trial, from the first on, is one of their best. ``space`` has
    other priors than that of the study.
    """
    number = len(history.trials)
    if history.prior_studies and number % 2 == 0 and (proven := next_proven(history)) is not None:
        return proven
    drawn = point(history, space or history.space, rng)
    if isinstance(drawn, Done):
        return drawn
    config, told = dict(drawn.config), []
    for name, pool in pools(history.space).items():
        if name in config and number < len(pool):
            config[name] = pool[number]
            told.append(f"network {number + 1} of {len(pool)} of the pool")
    if not told or history.tried(config) is not None:
        return drawn if history.space.draws else Suggestion(drawn.config, "drawn at random")
    placed = [str(drawn.origin)] if Origin.of(drawn.origin).method == "sobol" else []
    return Suggestion(config, ", ".join(placed + told))


def next_proven(history: History) -> Suggestion | None:
    """Return the best configuration of other studies that is not tried and not near one that is; the sources take turns."""
    sources = history.prior_studies
    source = sources[len(history.trials) // 2 % len(sources)]
    cube = cube_of(history.space)
    tried = cube.encoder.encode([trial.searched for trial in history.trials])[0] if history.trials else None
    fresh = [config for config in source.best_first[:MOST_PROVEN] if history.tried(config) is None]
    if not fresh:
        return None
    rows = cube.encoder.encode(fresh)[0]
    index = 0
    if tried is not None and cube.width:
        away = np.sqrt(((rows[:, None] - tried) ** 2).sum(axis=2).min(axis=1) / cube.width)
        far = np.flatnonzero(away > APART)
        index = int(far[0]) if len(far) else int(away.argmax())
    return Suggestion(fresh[index], f"one of the best of study {source.name or 'in memory'}")


def initial_trial(method: str, drawn: Suggestion | Done, number: int) -> Suggestion | Done:
    """Attribute a trial of an initial design to the method that uses the design."""
    if isinstance(drawn, Done):
        return drawn
    return Suggestion(drawn.config, Origin(method, f"initial {{trial}}, {drawn.origin}", trial=number + 1))


def untried_child(
    history: History, parent: Config, rng: np.random.Generator, origin: Origin, number: int
) -> Suggestion | Done:
    """Return a mutation of ``parent``, made from trial ``number``, that was not tried; a random one if none was found."""
    for _ in range(ATTEMPTS):
        child = mutated(history.space, parent, rng, {})
        if history.tried(child) is None:
            return Suggestion(child, origin)
    return at_random(history, rng, f"{origin.method}: no untried mutation of trial {number} was found")
