"""Architectures as values: graphs of layers, domains of graphs, and OTMANN, a distance between architectures.

Reading order: ``labels.py`` (layer types), ``graph.py`` with ``validation.py`` and ``canonical.py`` (one network),
``measures.py``, ``distance.py``, ``parts.py`` and ``transport.py`` (two networks), ``modifiers.py``,
``domains.py`` with ``feedforward.py``, ``cell.py`` and ``chain.py`` (many networks), ``torch.py`` and
``draw.py``.
"""

from xstar.nets.cell import Cell as Cell, CellNetwork as CellNetwork
from xstar.nets.chain import Chain as Chain, ChainNetwork as ChainNetwork
from xstar.nets.distance import (
    STRUCTURE as STRUCTURE,
    distances as distances,
    normalise as normalise,
    otmann as otmann,
)
from xstar.nets.feedforward import CNN as CNN, MLP as MLP
from xstar.nets.graph import Graph as Graph, Layer as Layer
from xstar.nets.labels import (
    Family as Family,
    InvalidGraph as InvalidGraph,
    Label as Label,
    register_family as register_family,
    register_label as register_label,
)
from xstar.nets.modifiers import MODIFIERS as MODIFIERS, mutate as mutate
