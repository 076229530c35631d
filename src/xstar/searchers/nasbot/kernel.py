"""The kernel of a GP over architectures: NASBOT's kernel (7) of OTMANN distances, and a term over features."""

from __future__ import annotations

from dataclasses import dataclass

from xstar.models.composite import Sum
from xstar.models.kernels import Kernel
from xstar.models.otmann_kernel import SCALE, SMALL_SCALE, Described, Transported
from xstar.models.priors import Prior
from xstar.models.projection import Projected
from xstar.models.surrogate import over_configurations
from xstar.models.tree_kernel import Tree
from xstar.searchers.model_based.columns import of_description
from xstar.searchers.model_based.observations import Observations


@dataclass(frozen=True)
class Architectures:
    """How a GP treats architecture parameters; the fields correspond to the settings of ``NASBOT``."""

    distances: str = "both"
    """``tree``: the kernel of TreeBO instead."""
    describe: bool = True
    powers: tuple[float, float] = (1.0, 1.0)
    modifiers: str = "all"
    project: bool = False


def network_kernels(
    data: Observations, settings: Architectures, shape: str
) -> tuple[tuple[Kernel, tuple[Prior, ...]], ...]:
    """Return the kernel of each architecture: kernel (7), a Matérn kernel of descriptive features, or their sum; or that of
    TreeBO."""
    made: list[tuple[Kernel, tuple[Prior, ...]]] = []
    for place, (name, catalogue) in enumerate(zip(data.cube.encoder.domains, data.networks, strict=True)):
        column = data.cube.width + place
        if settings.distances == "tree":
            tree = Tree(catalogue.layers, column, name)
            made.append((tree, tree.priors))
            continue
        terms: list[tuple[Kernel, tuple[Prior, ...]]] = []
        if settings.distances != "none":
            scale = SMALL_SCALE if settings.describe else SCALE
            kernel = Transported(
                catalogue.between, column, name, catalogue.structure, settings.distances, settings.powers, scale
            )
            terms.append((Projected(kernel) if settings.project else kernel, kernel.priors))
        if settings.describe:
            own, priors = over_configurations(of_description(name, catalogue), shape=shape)
            terms.append((Described(own, catalogue.described, column), priors))
        made.append((Sum(tuple(term for term, _ in terms)), tuple(prior for _, each in terms for prior in each)))
    return tuple(made)
