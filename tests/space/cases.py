"""Spaces to test with: a domain of our own, hypothesis strategies for whole spaces, and a naive reading of conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from xstar.space import (
    Bits,
    Bool,
    Choice,
    Constant,
    Float,
    Int,
    Normal,
    Ordinal,
    Parameter,
    Space,
    at_least,
    at_most,
    between,
    read_when,
    register_domain,
    when_from_json,
)
from xstar.space.conditions import OneOf, Threshold


class Words:
    """A domain of permutations of some letters."""

    kind = "test-words"

    def __init__(self, letters: str, when: Mapping[str, Any] | None = None) -> None:
        self.letters = letters
        self.when = when

    def sample(self, rng: np.random.Generator) -> str:
        return "".join(rng.permutation(list(self.letters)).tolist())

    def contains(self, value: object) -> bool:
        return isinstance(value, str) and sorted(value) == sorted(self.letters)

    def mutate(self, value: str, rng: np.random.Generator) -> str:
        cut = int(rng.integers(len(value)))
        return value[cut:] + value[:cut]

    def dump(self, value: str) -> dict[str, str]:
        return {"word": value}

    def parse(self, data: dict[str, str]) -> str:
        return data["word"]

    def to_json(self) -> dict[str, str]:
        return {"letters": self.letters}

    def __repr__(self) -> str:
        return f"Words({self.letters!r})"


register_domain(Words.kind, lambda data: Words(data["letters"], when_from_json(data.get("when"))))

# Values with a history of making trouble: empty, signed zero, denormal, beyond 2^53, unicode, look-alikes.
TROUBLE: list[Any] = [None, True, 0, -3, 2**60, 2.5, -0.0, 5e-324, 1e308, "", "a", "ä★", "0", "None", "a=b", "nan"]
NESTED: list[Any] = [[], [1], [1, [2, "x"]], ["a", None], [[[]]]]


def random_options(random: Random, most: int) -> list[Any]:
    """Options that differ from each other in the eyes of Python."""
    drawn = [random.choice(TROUBLE if random.random() < 0.8 else NESTED) for _ in range(random.randint(1, most))]
    return list({_hashable(option): option for option in drawn}.values())


def _hashable(option: Any) -> Any:
    return tuple(map(_hashable, option)) if isinstance(option, list) else option


def random_float(random: Random, when: Any) -> Float:
    log = random.random() < 0.5
    low = 10 ** random.uniform(-300 if random.random() < 0.1 else -9, 6)
    high = low * 10 ** random.uniform(0.01, 9)
    if not log:
        low, high = random.choice([-1, 1]) * low, high + random.choice([0, 1e9])
    prior = Normal(random.choice([low, high, (low + high) / 2]), random.choice([1e-3, 0.2, 50]))
    return Float(low, high, log=log, prior=random.choice([None, prior]), when=when)


def random_int(random: Random, when: Any, most: int) -> Int:
    log = random.random() < 0.5
    low = random.randint(1, 1000) if log else random.choice([0, -7, 2**60, -(2**60)])
    high = low + random.randint(1, most)
    return Int(low, high, log=log, prior=random.choice([None, Normal(low, 0.3)]) if low < 2**50 else None, when=when)


def random_steps(random: Random, when: Any) -> Float | Int:
    """A number on a grid; ``high`` is on it, or between two steps."""
    count, over = random.randint(1, 3), random.choice([0.0, 0.5])
    if random.random() < 0.5:
        low, gap = random.choice([0, -7, 2**60]), random.choice([2, 3, 10])
        return Int(low, low + count * gap + int(over * gap), step=gap, when=when)
    first, step = random.choice([0.0, 0.1, -0.3, 1e6]), random.choice([0.1, 0.25, 1 / 3, 2.5])
    prior = random.choice([None, Normal(first, 0.3)])
    return Float(first, first + (count + over + 1e-3) * step, step=step, prior=prior, when=when)


def random_small(random: Random, when: Any) -> Parameter:
    """A parameter with a handful of values."""
    kind = random.choice([Int, Float, Choice, Ordinal, Bool, Bits, Constant])
    if kind is Float:
        return random_steps(random, when)
    if kind in (Choice, Ordinal):
        options = random_options(random, 3)
        prior = random.choice([None, [random.uniform(0.01, 10) for _ in options]])
        return kind(options, prior=prior, when=when)
    if kind is Int:
        return random_int(random, when, most=3)
    if kind is Bool:
        return Bool(prior=random.choice([None, 0.2]), when=when)
    if kind is Bits:
        return Bits(random.randint(1, 2), when=when)
    return Constant(random_options(random, 1)[0], when=when)


def random_condition(random: Random, parent: Parameter) -> Any:
    if isinstance(parent, Float):
        cut = parent.decode([random.random()])
        return random.choice([at_least(cut), at_most(cut), between(parent.low, cut)])
    size = int(parent.size)
    indices = sorted({random.randrange(size) for _ in range(random.randint(1, 3))})
    values = [parent.value_at(index) for index in indices]
    if isinstance(parent, Int) or (isinstance(parent, Ordinal) and None not in values):
        thresholds = [at_least(values[0]), at_most(values[-1]), between(values[0], values[-1])]
        return random.choice([*thresholds, values])
    return random.choice([values, values[0]])


def random_space(seed: int, finite: bool = False, domains: bool = False) -> Space:
    """A space of up to six parameters with conditions up to six levels deep, declared in any order.

    From a seed and not from hypothesis' own building blocks, which take seconds to shrink a space.
    """
    random = Random(seed)
    made: dict[str, Any] = {}
    for name in "abcdef"[: random.randint(1, 6)]:
        eligible = [other for other, given in made.items() if given.kind not in ("bits", Words.kind)]
        parents = random.sample(eligible, min(len(eligible), random.choice([0, 1, 1, 2])))
        when = {parent: random_condition(random, made[parent]) for parent in parents} or None
        draw = random.random()
        if domains and draw < 0.15:
            made[name] = Words(random.choice(["ab", "abc"]), when)
        elif finite or draw < 0.6:
            made[name] = random_small(random, when)
        else:
            made[name] = random_float(random, when) if draw < 0.8 else random_int(random, when, most=10**9)
    names = list(made)
    if random.random() < 0.5:
        random.shuffle(names)
    return Space({name: made[name] for name in names})


seeds = st.integers(0, 2**32 - 1)


def spaces(finite: bool = False, domains: bool = False) -> st.SearchStrategy[Space]:
    return seeds.map(lambda seed: random_space(seed, finite, domains))


def spaces_and_configs(domains: bool = False) -> st.SearchStrategy[tuple[Space, dict[str, Any]]]:
    def make(seed: int) -> tuple[Space, dict[str, Any]]:
        space = random_space(seed, domains=domains)
        random = Random(seed + 1)
        u = [random.choice([0.0, 1.0, 0.5, 1e-16, 1 - 2**-53, random.random()]) for _ in range(space.draws)]
        return space, space.from_uniforms(u, np.random.default_rng(seed))

    return seeds.map(make)


def is_active(name: str, space: Space, values: Mapping[str, Any]) -> bool:
    """Conditions as a reader of the documentation would evaluate them; ``values`` holds all parameters."""
    for parent, condition in (read_when(space[name].when) or {}).items():
        if not is_active(parent, space, values):
            return False
        given, value = space[parent], values[parent]
        if isinstance(condition, Threshold):
            low, high = condition.low, condition.high
            if isinstance(given, Ordinal):
                ranks = list(given.options)
                value = ranks.index(value)
                low = -math.inf if low is None else ranks.index(low)
                high = math.inf if high is None else ranks.index(high)
            if not (low is None or value >= low) or not (high is None or value <= high):
                return False
        else:
            assert isinstance(condition, OneOf)
            if not any(value == allowed for allowed in condition.values):
                return False
    return True
