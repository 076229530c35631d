"""The inputs of a surrogate: the parameter of each column, which columns are options, and the kernels of architectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from xstar.models.composite import Sum
from xstar.models.gp_prior import Inputs, over_configurations
from xstar.models.kernels import Kernel
from xstar.models.otmann_kernel import (
    SCALE,
    SMALL_SCALE,
    UNIFORM_NORMALISED_RATE,
    UNIFORM_SCALE,
    Described,
    Transported,
    uniform_rate,
)
from xstar.models.priors import Prior
from xstar.nets.catalogue import Catalogue
from xstar.searchers.bo.observations import Observations


def of_description(name: str, catalogue: Catalogue) -> Inputs:
    """Return the columns of a network's descriptive features."""
    labels = list(dict.fromkeys(catalogue.names))
    groups = tuple(labels.index(what) for what in catalogue.names)
    options = frozenset(index for index, what in enumerate(labels) if catalogue.names.count(what) > 1)
    return Inputs(groups, tuple(f"{what} of {name}" for what in labels), options)


def of_positions(data: Observations) -> Inputs:
    """Return the columns of ``data.positions``: those of the cube, followed by the descriptive features of networks."""
    cube = data.cube
    groups, labels, options = list(cube.groups), list(cube.labels), set(cube.categories)
    for name, catalogue in zip(cube.encoder.domains, data.catalogues, strict=True):
        own, first = of_description(name, catalogue), len(labels)
        groups += [first + group for group in own.groups]
        options |= {first + index for index in own.options}
        labels += own.labels
    return Inputs(tuple(groups), tuple(labels), frozenset(options))


# ---------------------------------------------------------------- architectures


KernelAndPriors = tuple[Kernel, tuple[Prior, ...]]


class NetworkKernelFactory(Protocol):
    """What makes the kernel of each architecture."""

    def of(self, data: Observations) -> tuple[KernelAndPriors, ...]:
        """Return the kernel of each architecture and the priors of its hyperparameters."""
        ...


@dataclass(frozen=True)
class NetworkKernel:
    """Which terms the kernel of an architecture has; the defaults are those of ``NASBOT``."""

    distances: str = "both"
    """Terms over OTMANN distances: ``plain``, ``normalised``, ``both`` or ``none``."""
    features: bool = True
    """A term over the descriptive features of a network."""
    powers: tuple[float, float] = (1.0, 1.0)
    """p and p̄ of kernel (7). The paper has p̄ = 2; its matrices then have eigenvalues down to -12 % of the diagonal (120 MLPs or
    CNNs; -63 % for cells), and predictions become unreliable. With 1 there are none for MLPs and CNNs."""

    def of(self, data: Observations) -> tuple[KernelAndPriors, ...]:
        """Return NASBOT's kernel (7), a Matérn kernel of features, or their sum."""
        domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
        return tuple(
            self._of(name, catalogue, data.cube.width + index) for index, (name, catalogue) in enumerate(domains)
        )

    def _of(self, name: str, catalogue: Catalogue, column: int) -> KernelAndPriors:
        terms: list[KernelAndPriors] = []
        if self.distances != "none":
            scale = SMALL_SCALE if self.features else SCALE
            kernel = Transported(
                catalogue.between, column, name, catalogue.structure, self.distances, self.powers, scale
            )
            terms.append((kernel, kernel.priors))
        if self.features:
            own, priors = over_configurations(of_description(name, catalogue))
            terms.append((Described(own, catalogue.described, column), priors))
        return Sum(tuple(term for term, _ in terms)), tuple(prior for _, each in terms for prior in each)


@dataclass(frozen=True)
class PaperNetworkKernel:
    """Kernel (7) as in B.1, with uniform priors of its hyperparameters."""

    distances: str = "both"
    """Its terms: ``plain``, ``normalised`` or ``both``."""
    powers: tuple[float, float] = (1.0, 2.0)
    """p and p̄."""

    def of(self, data: Observations) -> tuple[KernelAndPriors, ...]:
        """Return the kernel of each architecture and its priors."""
        domains = zip(data.cube.encoder.domains, data.catalogues, strict=True)
        kernels = [
            Transported(
                *(catalogue.between, data.cube.width + index, name, catalogue.structure, self.distances, self.powers),
                scale=UNIFORM_SCALE,
                rates=(uniform_rate(catalogue.unit), UNIFORM_NORMALISED_RATE),
            )
            for index, (name, catalogue) in enumerate(domains)
        ]
        return tuple((kernel, kernel.priors) for kernel in kernels)
