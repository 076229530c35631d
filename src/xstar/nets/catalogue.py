"""Networks by number, with the distances between them: what a model of a study's architectures looks things up in.

Notation

============  ==========================================================================================  ===============
symbol        meaning                                                                                     shape
============  ==========================================================================================  ===============
``known``     networks that were entered, for good; number 0 stands for "no network" (inactive)           N of them
``table``     d of all pairs of known networks                                                            (N, N, S)
candidates    networks of one decision, numbered from ``CANDIDATES`` on; forgotten after it               C of them
``rows``      d of each candidate to the known networks                                                   (C, N, S)
============  ==========================================================================================  ===============

Most of a decision of NASBOT is distances, and most candidates are looked at only to be dropped. So a candidate begins with the
row of the network it was mutated from, and only the distances to its ``NEAR`` nearest networks are computed: by the triangle
inequality the others are wrong by at most its distance to its parent, which is small, and they are large. ``settle`` computes
the rest for those that are worth it. Nothing that is provisional outlives the decision; exact rows are remembered, so that no
pair is computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xstar.nets.describe import describe, described_by, graph_of
from xstar.nets.distance import STRUCTURE, Array, distances
from xstar.nets.graph import Graph

Numbers = NDArray[np.int64]

CANDIDATES = 1 << 30
"""The number of the first candidate."""
NEAR = 8
"""Exact distances of a candidate that was not settled. With 250 candidates and 100 networks of about 22 layers, 8 take 0.5 s of
processor time, all of them 4.6 s."""
REMEMBERED = 4_000
"""Exact rows of candidates that are kept: 25 MB at 200 networks."""
SAMPLES = 16
"""Networks whose median mass is the unit of a domain without a pool."""


class Catalogue:
    """The networks of one parameter of a study.

    >>> from xstar.nets import MLP
    >>> pool = MLP(inputs=4).pool
    >>> catalogue = Catalogue(MLP(inputs=4))
    >>> numbers = catalogue.enter(pool[:3])
    >>> d, normalised = catalogue.between(np.array(numbers), np.array(numbers))
    >>> d.shape, float(d[0, 0, 0]), bool(normalised.max() <= 1.0)
    ((3, 3, 4), 0.0, True)
    """

    def __init__(self, domain: Any, structure: Sequence[float] = STRUCTURE) -> None:
        self.domain = domain
        self.structure = tuple(structure)
        self.unit = _typical_mass(domain)
        """d is given in units of it."""
        self.computed = 0
        """Pairs computed so far."""
        self.names = described_by(domain)
        """Of the numbers in ``described``."""
        self._described = np.full((64, len(self.names)), 0.5)
        self._known: list[Any] = [None]
        self._numbers: dict[Any, int] = {}
        self._masses = np.zeros(64)
        self._table = np.zeros((64, 64, len(self.structure)))
        self._candidates: list[Any] = []
        self._candidate_numbers: dict[Any, int] = {}
        self._rows: list[Array] = []
        self._own: list[Array] = []
        self._exact: list[bool] = []
        self._remembered: dict[Any, Array] = {}
        self._last: tuple[bytes, bytes, tuple[Array, Array]] | None = None

    def __len__(self) -> int:
        return len(self._known)

    # --- numbers ------------------------------------------------------------------------------------------------

    def enter(self, values: Sequence[Any]) -> list[int]:
        """Numbers for good; None has the number 0."""
        new = list(dict.fromkeys(value for value in values if value is not None and value not in self._numbers))
        if new:
            start, end = len(self._known), len(self._known) + len(new)
            self._grow(end)
            across = np.array([self._exact_row(value) for value in new])  # to those known before
            inner = distances(new, structure=self.structure) / self.unit
            self.computed += len(new) * (len(new) - 1) // 2
            self._table[start:end, :start] = across
            self._table[:start, start:end] = across.transpose(1, 0, 2)
            self._table[start:end, start:end] = inner
            self._masses[start:end] = [graph_of(value).mass for value in new]
            self._described[start:end] = [describe(value, self.names) for value in new]
            self._known += new
            self._numbers.update(zip(new, range(start, end), strict=True))
            self._last = None
        return [0 if value is None else self._numbers[value] for value in values]

    def propose(self, values: Sequence[Any], parents: Sequence[int]) -> list[int]:
        """Numbers of candidates for the present decision, each mutated from the network with the number in ``parents``."""
        made: list[int] = []
        by_parent: dict[int, list[int]] = {}
        for value, parent in zip(values, parents, strict=True):
            number = 0 if value is None else self._numbers.get(value, self._candidate_numbers.get(value, -1))
            if number < 0:
                number = self._candidate_numbers[value] = CANDIDATES + len(self._candidates)
                self._candidates.append(value)
                self._own.append(describe(value, self.names))
                self._rows.append(self._row(parent).copy())
                self._exact.append(False)
                if value in self._remembered:
                    self._settle(number)
                else:
                    by_parent.setdefault(parent, []).append(number)
            made.append(number)
        for parent, children in by_parent.items():
            self._near(parent, children)
        self._last = None
        return made

    def settle(self, numbers: Sequence[int]) -> None:
        """Make the distances of these to all known networks exact."""
        for number in numbers:
            if number >= CANDIDATES and not self._exact[number - CANDIDATES]:
                self._settle(number)
        self._last = None

    def forget_candidates(self) -> None:
        """The decision is made. Exact rows are remembered."""
        if len(self._remembered) > REMEMBERED:
            self._remembered = {}
        for value, row, exact in zip(self._candidates, self._rows, self._exact, strict=True):
            if exact:
                self._remembered[value] = row
        self._candidates, self._candidate_numbers, self._rows, self._own, self._exact = [], {}, [], [], []
        self._last = None

    # --- distances ----------------------------------------------------------------------------------------------

    def between(self, ours: Numbers, theirs: Numbers) -> tuple[Array, Array]:
        """d and d̄ of all pairs, each (m, n, S). ``theirs`` are known; so are all of ``ours``, or none but those of number 0."""
        key = ours.tobytes(), theirs.tobytes()
        if self._last is not None and self._last[:2] == key:
            return self._last[2]  # while hyperparameters are sampled, the same pairs are asked for again and again
        d, masses = self._looked_up(ours, theirs)
        sums = masses[:, None] + self._masses[theirs]
        normalised = d * (self.unit / np.maximum(sums, 1e-300))[:, :, None]
        normalised[(ours == 0)[:, None] != (theirs == 0)] = 1.0
        self._last = (*key, (d, normalised))
        return d, normalised

    def described(self, numbers: Numbers) -> Array:
        """The numbers that describe each network (``nets.describe``): (n, len(names))."""
        if (numbers < CANDIDATES).all():
            return self._described[numbers]
        return np.array(
            [self._own[i - CANDIDATES] if i >= CANDIDATES else self._described[i] for i in numbers.tolist()]
        )

    def _looked_up(self, ours: Numbers, theirs: Numbers) -> tuple[Array, Array]:
        new = ours >= CANDIDATES
        if not new.any():
            return self._table[np.ix_(ours, theirs)], self._masses[ours]
        d = np.array([self._row(number)[theirs] for number in ours.tolist()])
        return d, np.array([self._mass(number) for number in ours.tolist()])

    def _row(self, number: int) -> Array:
        """d of one network to all known ones."""
        if number >= CANDIDATES:
            return self._rows[number - CANDIDATES]
        row: Array = self._table[number, : len(self._known)]
        return row

    def _near(self, parent: int, children: list[int]) -> None:
        """Exact distances of some candidates to the networks that are nearest to their parent."""
        far = self._row(parent)
        sums = self._masses[: len(far)] + self._mass(parent)
        order = np.argsort(far[1:, -1] / np.maximum(sums[1:], 1e-300), kind="stable")[:NEAR] + 1
        if not len(order):
            return
        near = [self._known[place] for place in order.tolist()]
        found = distances([self._candidates[i - CANDIDATES] for i in children], near, self.structure, threads=1) / self.unit
        self.computed += found.shape[0] * found.shape[1]
        for number, values in zip(children, found, strict=True):
            self._rows[number - CANDIDATES][order] = values

    def _settle(self, number: int) -> None:
        place = number - CANDIDATES
        self._rows[place] = self._exact_row(self._candidates[place])
        self._exact[place] = True

    def _exact_row(self, value: Any) -> Array:
        """d of a network to all known ones, as far as it is not remembered."""
        row = np.zeros((len(self._known), len(self.structure)))
        row[0] = 1.0  # a typical mass
        old = self._remembered.get(value)
        start = 1 if old is None else len(old)
        if old is not None:
            row[:start] = old
        if start < len(row):
            row[start:] = distances([value], self._known[start:], self.structure)[0] / self.unit
            self.computed += len(row) - start
        return row

    def _mass(self, number: int) -> float:
        if number < CANDIDATES:
            return float(self._masses[number])
        return graph_of(self._candidates[number - CANDIDATES]).mass

    def _grow(self, need: int) -> None:
        size = len(self._masses)
        if need <= size:
            return
        larger = max(2 * size, need)
        masses, table = np.zeros(larger), np.zeros((larger, larger, len(self.structure)))
        described = np.full((larger, len(self.names)), 0.5)
        masses[:size], table[:size, :size], described[:size] = self._masses, self._table, self._described
        self._masses, self._table, self._described = masses, table, described


def _typical_mass(domain: Any) -> float:
    """The median mass of a domain's pool, or of some of its networks."""
    values = getattr(domain, "pool", None)
    if not values:
        rng = np.random.default_rng(0)  # the same networks for all
        values = [domain.sample(rng) for _ in range(SAMPLES)]
    return float(np.median([graph_of(value).mass for value in values]))


def is_of_networks(domain: Any) -> bool:
    """Whether the values of a domain are graphs, or have one."""
    value = domain.sample(np.random.default_rng(0))
    return isinstance(value, Graph) or isinstance(getattr(value, "graph", None), Graph)
