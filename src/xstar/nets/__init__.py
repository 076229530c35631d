"""Architectures as values: graphs of layers, domains of graphs, and OTMANN, a distance between architectures.

Reading order: ``labels.py`` (layer types), ``graph.py`` with ``validation.py`` and ``canonical.py`` (one network),
``measures.py``, ``distance.py``, ``parts.py`` and ``transport.py`` (two networks), ``modifiers.py``,
``domains.py`` with ``feedforward.py``, ``cell.py``, ``node_cell.py`` and ``chain.py`` (many networks), ``torch.py`` and
``draw.py``.
"""

from xstar.nets.cell import Cell as Cell
from xstar.nets.cell import CellNetwork as CellNetwork
from xstar.nets.chain import Chain as Chain
from xstar.nets.chain import ChainNetwork as ChainNetwork
from xstar.nets.distance import STRUCTURE as STRUCTURE
from xstar.nets.distance import Transport as Transport
from xstar.nets.distance import distances as distances
from xstar.nets.distance import normalise as normalise
from xstar.nets.distance import otmann as otmann
from xstar.nets.feedforward import CNN as CNN
from xstar.nets.feedforward import MLP as MLP
from xstar.nets.graph import Graph as Graph
from xstar.nets.graph import Layer as Layer
from xstar.nets.invalid import InvalidGraph as InvalidGraph
from xstar.nets.labels import Family as Family
from xstar.nets.labels import Label as Label
from xstar.nets.labels import register_family as register_family
from xstar.nets.labels import register_label as register_label
from xstar.nets.modifiers import MODIFIERS as MODIFIERS
from xstar.nets.modifiers import mutate as mutate
from xstar.nets.node_cell import NodeCell as NodeCell
from xstar.nets.node_cell import NodeCellNetwork as NodeCellNetwork
