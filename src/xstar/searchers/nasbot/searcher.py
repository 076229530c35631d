"""NASBOT: Bayesian optimisation of architectures (Kandasamy et al. 2018), a GP with OTMANN in its kernel.

Choose it when a parameter of the space is a network and training takes longer than a few seconds. In a space without
networks it is the GP. With networks, the GP is NASBOT with its default settings: ``method="gp"`` and
``method="mobster"`` accept such spaces, too, and differ only in the scheduler.

    kernel        (7) over networks (``kernel.py``), times a Matérn kernel over the other parameters, and over
                  budgets if the scheduler has rungs
    distances     ``nets/catalogue.py``: each pair is computed once
    parameters    the MAP estimate; ``samples=4`` draws them from their posterior, as the paper does (B.1)
    matrices      jitter where they are not positive definite, or a projection with ``project=True``
    acquisition   expected improvement, maximised by evolution (``model_based/networks.py``)
    workers       fantasies, or hallucination with ``pending="hallucination"`` as in the paper
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from xstar.core.checks import check_names, check_switches
from xstar.core.values import as_float
from xstar.errors import InvalidArgument
from xstar.journal import History
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.earlier import gp_of_earlier_releases, of_earlier_releases
from xstar.searchers.gp.searcher import GP, follow, suggest
from xstar.searchers.gp.settings import GPSettings
from xstar.searchers.model_based.observations import Observations
from xstar.trial import Done, New, Suggestion

if TYPE_CHECKING:
    from xstar.searchers.gp.fit import GPLearner

DISTANCES = ("both", "plain", "normalised", "none")
MODIFIERS = ("all", "units", "structure")


@dataclass(frozen=True)
class NASBOT(GPSettings):
    """The GP with additional settings for architectures."""

    distances: str = "both"
    """Distance terms of the kernel: ``plain``, ``normalised``, ``both`` or ``none``."""
    describe: bool = True
    """Add a term over the descriptive features of a network."""
    powers: tuple[float, float] = (1.0, 1.0)
    """p and p̄ of the kernel. The paper uses p̄ = 2; its matrices then have eigenvalues down to -12 % of the diagonal
    (120 MLPs or CNNs; -63 % for cells), and predictions become unreliable. With 1 there are none for MLPs and CNNs."""
    modifiers: str = "all"
    """Modifiers for maximising the acquisition function: those that change ``units``, the ``structure``, or ``all``."""
    project: bool = False
    """Project matrices of the distance kernel that are not positive semi-definite onto the nearest one that is; otherwise
    jitter is added to their diagonal."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names(self, {"distances": DISTANCES, "modifiers": MODIFIERS})
        check_switches(self, "describe", "project")
        if self.distances == "none" and not self.describe:
            raise InvalidArgument("describe", "must be True where distances is none", False, "leave one of them out")
        powers = self.powers if isinstance(self.powers, (tuple, list)) and len(self.powers) == 2 else ()
        if not powers or any(as_float(power) is None or not 0.0 < power <= 2.0 for power in powers):
            raise InvalidArgument("powers", "must be two numbers above 0 and at most 2", self.powers)
        object.__setattr__(self, "powers", tuple(map(float, powers)))

    def suggest(self, history: History, task: New, rng: np.random.Generator) -> Suggestion | Done:
        return suggest(self, history, task, rng, self._learner)

    def follow(self, history: History) -> None:
        follow(history, self._learner)

    def _learner(self, history: History, data: Observations, begun: int = 0) -> GPLearner:
        from xstar.searchers.gp.fit import GPLearner  # imported at use: see ``model_based/decision.py``
        from xstar.searchers.nasbot.kernel import Architectures

        own = Architectures(self.distances, self.describe, self.powers, self.modifiers, self.project)
        return GPLearner(history, data, self, own, begun)


def _gp_of_schema_1(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Convert "gp" of schema 1, when the GP had NASBOT's settings: either method, unless those are not the defaults."""
    own = {"distances": "both", "describe": True, "powers": [1.0, 1.0], "modifiers": "all"}
    if not set(own) & set(data):
        return gp_of_earlier_releases(data)
    as_gp = gp_of_earlier_releases({name: value for name, value in data.items() if name not in own})
    as_nasbot = of_earlier_releases({**data, "name": "nasbot"})
    return [*as_gp, *as_nasbot] if all(data.get(name, own[name]) == own[name] for name in own) else as_nasbot


SEARCHERS.register("gp", GP, readings=_gp_of_schema_1)
SEARCHERS.register("nasbot", NASBOT, readings=of_earlier_releases)
