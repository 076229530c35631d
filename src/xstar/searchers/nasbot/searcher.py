"""NASBOT: Bayesian optimisation of architectures (Kandasamy et al. 2018). A GP with OTMANN in its kernel.

Choose it when a parameter of the space is a network and a training takes longer than some seconds. Without a network in the
space it is the GP; with one, the GP is NASBOT: ``method="gp"`` and ``method="mobster"`` take such spaces, too, and differ only
in the settings below and in the scheduler.

    kernel        (7) over networks (``models/transported.py``), times a Matérn kernel over the other parameters, and over
                  budgets where a scheduler has rungs
    distances     ``nets/catalogue.py``: each pair once
    parameters    the most probable ones; ``samples=4`` draws them from their posterior, as the paper does (B.1)
    acquisition   expected improvement, maximised by evolution (``gp_networks.py``)
    workers       fantasies, or hallucination with ``pending="hallucination"`` as in the paper
"""

from __future__ import annotations

from typing import Any

from xstar.searchers.gp.searcher import GP


def NASBOT(**settings: Any) -> GP:
    """The GP under the name that goes with architectures; ``settings`` are those of ``GP``."""
    return GP(**settings)
