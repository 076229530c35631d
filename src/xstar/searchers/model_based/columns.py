"""What the columns of a surrogate's inputs are: which parameter each belongs to, and which of them are options."""

from __future__ import annotations

import numpy as np

from xstar.models.surrogate import Inputs
from xstar.nets.catalogue import Catalogue
from xstar.searchers.model_based.observations import Observations


def of_description(name: str, catalogue: Catalogue) -> Inputs:
    """The columns that describe a network."""
    labels = list(dict.fromkeys(catalogue.names))
    groups = tuple(labels.index(what) for what in catalogue.names)
    options = frozenset(place for place, what in enumerate(labels) if catalogue.names.count(what) > 1)
    return Inputs(groups, tuple(f"{what} of {name}" for what in labels), (), options)


def of_cube(data: Observations) -> Inputs:
    """The columns of all parameters but architectures."""
    cube = data.cube
    ranges = tuple(np.flatnonzero(cube.numeric).tolist())
    return Inputs(cube.groups, cube.labels, ranges, cube.categories)


def of_positions(data: Observations) -> Inputs:
    """The columns of ``data.positions``: those of the cube, and behind them those that describe networks."""
    cube = data.cube
    groups, labels, options = list(cube.groups), list(cube.labels), set(cube.categories)
    for name, catalogue in zip(cube.encoder.domains, data.networks, strict=True):
        own, first = of_description(name, catalogue), len(labels)
        groups += [first + group for group in own.groups]
        options |= {first + place for place in own.options}
        labels += own.labels
    return Inputs(tuple(groups), tuple(labels), (), frozenset(options))
