"""The input columns of a surrogate: the parameter that each belongs to, and which of them are categorical options."""

from __future__ import annotations

import numpy as np

from xstar.models.surrogate import Inputs
from xstar.nets.catalogue import Catalogue
from xstar.searchers.model_based.observations import Observations


def of_description(name: str, catalogue: Catalogue) -> Inputs:
    """Return the columns of a network's descriptive features."""
    labels = list(dict.fromkeys(catalogue.names))
    groups = tuple(labels.index(what) for what in catalogue.names)
    options = frozenset(place for place, what in enumerate(labels) if catalogue.names.count(what) > 1)
    return Inputs(groups, tuple(f"{what} of {name}" for what in labels), (), options)


def of_cube(data: Observations) -> Inputs:
    """Return the columns of all parameters except architectures."""
    cube = data.cube
    ranges = tuple(np.flatnonzero(cube.numeric).tolist())
    return Inputs(cube.groups, cube.labels, ranges, cube.categories)


def of_positions(data: Observations) -> Inputs:
    """Return the columns of ``data.positions``: those of the cube, followed by the descriptive features of networks."""
    cube = data.cube
    groups, labels, options = list(cube.groups), list(cube.labels), set(cube.categories)
    for name, catalogue in zip(cube.encoder.domains, data.networks, strict=True):
        own, first = of_description(name, catalogue), len(labels)
        groups += [first + group for group in own.groups]
        options |= {first + place for place in own.options}
        labels += own.labels
    return Inputs(tuple(groups), tuple(labels), (), frozenset(options))
