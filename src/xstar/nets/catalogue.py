"""Networks by index, with the distances between them: the lookup table of a model over a study's architectures.

Notation

============  ================================================================================  =============
symbol        meaning                                                                           shape
============  ================================================================================  =============
entered       networks that stay; index 0 means "no network" (inactive)
tabulated     the entered networks whose distances were requested                               (N,)
``table``     d of all pairs of them                                                            (N, N, S)
candidates    networks of one decision, indexed from ``FIRST_CANDIDATE`` on; discarded after    C of them
``rows``      d of each candidate to the tabulated networks                                     (N, S) each
============  ================================================================================  =============

Distances are computed on request only: a model that uses only descriptive features never triggers any, and one that is
fitted to 500 of 10,000 networks triggers only theirs.

Distances dominate the cost of a NASBOT decision, and most candidates are discarded. A candidate therefore starts with
the row of its parent, and only the distances to the nearest ``EXACT_NEIGHBOURS`` networks are computed. By the triangle
inequality, the error of the others is at most its distance to its parent, which is small compared to them. ``make_exact``
computes the rest for promising candidates. Provisional distances are discarded after the decision; exact rows are cached, so
that no exact pair is computed twice.

The results of a decision must not depend on the cache. The nearest networks are therefore chosen among those that the
decision itself named (``begin_decision``), in its own order, and a candidate is provisional until this decision makes it exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xstar.nets.describe import describe, described_by, graph_of
from xstar.nets.distance import STRUCTURE, Array, distances
from xstar.nets.distance_table import DistanceTable, Numbers, larger
from xstar.nets.graph import Graph
from xstar.nets.labels import label, number as label_number

FIRST_CANDIDATE = 1 << 30
"""The index of the first candidate."""
EXACT_NEIGHBOURS = 5
"""The number of exact distances of a provisional candidate: a twentieth of them with 100 networks, and of the time."""
MOST_TABULATED = 2_000
"""Maximum number of networks with stored distances: 128 MB. Beyond it, those not currently requested are dropped."""
SAMPLES = 16
"""The number of random networks whose median mass is the unit, for a domain without a pool."""


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

    structure = STRUCTURE
    """The ν_str of its distances."""
    _references: list[int]
    _exact_neighbours: int | None

    def __init__(self, domain: Any) -> None:
        self.domain = domain
        self.unit = _typical_mass(domain)
        """The unit of d."""
        self.names = described_by(domain)
        """Names of the features in ``described``."""
        self._entered: list[Any] = [None]
        self._numbers: dict[Any, int] = {}
        self._masses = np.zeros(64)
        self._described = np.full((64, len(self.names)), 0.5)
        self._table = DistanceTable(self.unit)
        self._last: tuple[bytes, bytes, tuple[Array, Array]] | None = None
        self._drop_candidates()

    @property
    def computed(self) -> int:
        """The number of pairs computed so far."""
        return self._table.computed

    # --- numbers ------------------------------------------------------------------------------------------------

    def enter(self, values: Sequence[Any]) -> list[int]:
        """Enter networks permanently and return their indices; None has the index 0."""
        new = list(dict.fromkeys(value for value in values if value is not None and value not in self._numbers))
        if new:
            start, end = len(self._entered), len(self._entered) + len(new)
            if end > len(self._masses):
                room = max(2 * len(self._masses), end)
                self._masses = larger(self._masses, (room,), 0.0)
                self._described = larger(self._described, (room, len(self.names)), 0.5)
                self._table.make_room(room)
            self._masses[start:end] = [graph_of(value).mass for value in new]
            self._described[start:end] = [describe(value, self.names) for value in new]
            self._entered += new
            self._numbers.update(zip(new, range(start, end), strict=True))
        return [0 if value is None else self._numbers[value] for value in values]

    def value(self, number: int) -> Any:
        """Return the network with an index."""
        return self._entered[number] if number < FIRST_CANDIDATE else self._candidates[number - FIRST_CANDIDATE]

    def begin_decision(self, numbers: Sequence[int], exact: int | None = EXACT_NEIGHBOURS) -> None:
        """The nearest networks of candidates, ``exact`` of them or all, are chosen among these entered ones, in this order."""
        self._drop_candidates()
        self._exact_neighbours = exact
        self._references = [number for number in dict.fromkeys(numbers) if number]

    def propose(self, values: Sequence[Any], parents: Sequence[int]) -> list[int]:
        """Return indices of candidates for the current decision; ``parents`` are the indices they were mutated from."""
        made: list[int] = []
        for value, parent in zip(values, parents, strict=True):
            number = 0 if value is None else self._numbers.get(value, self._candidate_numbers.get(value, -1))
            if number < 0:
                number = self._candidate_numbers[value] = FIRST_CANDIDATE + len(self._candidates)
                self._candidates.append(value)
                self._own.append(describe(value, self.names))
                self._parents.append(parent)
            made.append(number)
        return made

    def make_exact(self, numbers: Sequence[int]) -> None:
        """Compute the distances of these networks to all tabulated networks exactly."""
        for number in numbers:
            if number >= FIRST_CANDIDATE and number not in self._exact:
                self._make_exact(number)
        self._last = None

    def end_decision(self) -> None:
        """Discard candidates and cache their exact rows."""
        self._table.remember({self._candidates[each - FIRST_CANDIDATE]: self._rows[each] for each in self._exact})
        if len(self._table) > MOST_TABULATED:
            self._table.keep([0, *self._references])
        self._drop_candidates()

    def _drop_candidates(self) -> None:
        self._references = []
        self._exact_neighbours = EXACT_NEIGHBOURS
        self._candidates: list[Any] = []
        self._candidate_numbers: dict[Any, int] = {}
        self._own: list[Array] = []
        self._parents: list[int] = []
        self._rows: dict[int, Array] = {}
        self._exact: set[int] = set()
        self._last = None

    # --- queries --------------------------------------------------------------------------------------------------

    def between(self, ours: Numbers, theirs: Numbers) -> tuple[Array, Array]:
        """Return d and d̄ of all pairs, each (m, n, S). ``theirs`` are entered networks."""
        key = ours.tobytes(), theirs.tobytes()
        if self._last is not None and self._last[:2] == key:
            return self._last[2]  # while hyperparameters are sampled, the same pairs are requested repeatedly
        new = ours >= FIRST_CANDIDATE
        self._tabulate(np.unique(np.concatenate([theirs, ours[~new]])).tolist())
        if new.any():
            self._make_rows(ours[new].tolist())
            rows = [self._row(number) for number in ours.tolist()]
            d = np.array(rows)[:, self._table.columns(theirs)]
        else:
            d = self._table.between(ours, theirs)
        masses = np.array([self._mass(number) for number in ours.tolist()])
        normalised = d * (self.unit / np.maximum(masses[:, None] + self._masses[theirs], 1e-300))[:, :, None]
        normalised[(ours == 0)[:, None] != (theirs == 0)] = 1.0
        self._last = (*key, (d, normalised))
        return d, normalised

    def described(self, numbers: Numbers) -> Array:
        """Return the descriptive features of each network (``nets.describe``): (n, len(names))."""
        if (numbers < FIRST_CANDIDATE).all():
            return self._described[numbers]
        return np.array(
            [self._own[i - FIRST_CANDIDATE] if i >= FIRST_CANDIDATE else self._described[i] for i in numbers.tolist()]
        )

    def layers(self, numbers: Numbers) -> tuple[Numbers, Array]:
        """Return the types of the processing layers of each network, in order, and log₂ of their units: (n, most) each.

        A type is a number, with the stride; −1 stands beyond the last layer, and everywhere if there is no network.
        """
        found = [self._layers_of(self._value(number)) for number in numbers.tolist()]
        most = max((len(types) for types, _ in found), default=0)
        types, units = np.full((len(found), most), -1, dtype=np.int64), np.zeros((len(found), most))
        for row, (own, sizes) in enumerate(found):
            types[row, : len(own)] = own
            units[row, : len(own)] = sizes
        return types, units

    def _value(self, number: int) -> Any:
        return self._candidates[number - FIRST_CANDIDATE] if number >= FIRST_CANDIDATE else self._entered[number]

    def _layers_of(self, value: Any) -> tuple[list[int], list[float]]:
        if value is None:
            return [], []
        inner = [one for one in graph_of(value).layers if label(one.op).role == "processing"]
        types = [2 * label_number(one.op) + (one.stride == 2) for one in inner]
        return types, [float(np.log2(one.units)) if one.units else 0.0 for one in inner]

    # --- distances ----------------------------------------------------------------------------------------------

    def _tabulate(self, numbers: list[int]) -> None:
        """Ensure that the table has the distances of these entered networks."""
        new = self._table.untabulated(numbers)
        if new:
            self._table.add(new, [self._entered[number] for number in new])

    def _make_rows(self, numbers: list[int]) -> None:
        """Create rows for candidates without one or with fewer columns than the table has, parents first."""
        line: dict[int, None] = {}  # children before parents
        todo = list(dict.fromkeys(numbers))
        while todo:
            line |= dict.fromkeys(todo)
            todo = [
                parent
                for parent in (self._parents[each - FIRST_CANDIDATE] for each in todo)
                if parent >= FIRST_CANDIDATE
            ]
        parents = {self._parents[each - FIRST_CANDIDATE] for each in line}
        self._tabulate(sorted({*self._references, *(number for number in parents if number < FIRST_CANDIDATE)}))
        # A parent has a lower index than its children.
        by_parent: dict[int, list[int]] = {}
        for number in sorted(line):
            if len(self._rows.get(number, ())) == len(self._table):
                continue
            if number in self._exact:
                self._make_exact(number)
            else:
                by_parent.setdefault(self._parents[number - FIRST_CANDIDATE], []).append(number)
        for parent in sorted(by_parent):
            self._estimate(parent, by_parent[parent])

    def _estimate(self, parent: int, children: list[int]) -> None:
        """Copy the parent's row to its children, with exact distances to the nearest references."""
        far = self._row(parent)
        columns = self._table.columns(self._references)
        sums = self._masses[self._references] + self._mass(parent)
        order = np.argsort(far[columns, -1] / np.maximum(sums, 1e-300), kind="stable")[
            : self._exact_neighbours
        ].tolist()
        near = [self._entered[self._references[place]] for place in order]
        candidates = [self._candidates[number - FIRST_CANDIDATE] for number in children]
        found = distances(candidates, near, threads=1) / self.unit
        self._table.computed += found.shape[0] * found.shape[1]
        for number, values in zip(children, found, strict=True):
            self._rows[number] = far.copy()
            self._rows[number][columns[order]] = values

    def _row(self, number: int) -> Array:
        """Return d of one network to all tabulated ones."""
        return self._rows[number] if number >= FIRST_CANDIDATE else self._table.row(number)

    def _make_exact(self, number: int) -> None:
        self._rows[number] = self._table.exact_row(self._candidates[number - FIRST_CANDIDATE])
        self._exact.add(number)

    def _mass(self, number: int) -> float:
        if number < FIRST_CANDIDATE:
            return float(self._masses[number])
        return graph_of(self._candidates[number - FIRST_CANDIDATE]).mass


def _typical_mass(domain: Any) -> float:
    """Return the median mass of a domain's pool, or of a sample of its networks."""
    values = getattr(domain, "pool", None)
    if not values:
        rng = np.random.default_rng(0)  # the same networks for every catalogue
        values = [domain.sample(rng) for _ in range(SAMPLES)]
    return float(np.median([graph_of(value).mass for value in values]))


def is_of_networks(domain: Any) -> bool:
    """Return whether the values of a domain are graphs, or have one."""
    value = domain.sample(np.random.default_rng(0))
    return isinstance(value, Graph) or isinstance(getattr(value, "graph", None), Graph)
