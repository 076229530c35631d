"""Errors of invalid architectures: one class per rule, all of them ``InvalidArgument``.

::

    InvalidGraph                   (an InvalidArgument)
    ├── UnknownLabel               unknown layer type
    ├── InvalidUnits               units missing, superfluous or out of range
    ├── InvalidStride              a stride that the layer type does not support
    ├── InvalidEdges               an edge to a missing layer, a self-loop, or a duplicate edge
    ├── CyclicGraph                the edges form a cycle
    ├── OneInput                   not exactly one input layer
    ├── OneOutput                  not exactly one output layer
    ├── DecisionPlacement          an input of the output is no decision layer, or a decision layer has another child
    ├── NoProcessing               no layer between the input and the decision
    ├── OffPath                    a layer that is on no path from the input to the output
    ├── MixedFamilies              layers of an MLP and of a CNN in one network
    ├── ImageMismatch              a layer joins images of different sizes, or an image and a vector
    ├── ImageTooSmall              the image is halved more often than its size allows
    └── TooLarge                   more layers, edges, degree or mass than the domain allows

A search never raises them: a modifier whose result violates a rule is not applied.
"""

from __future__ import annotations

from xstar.errors import InvalidArgument


class InvalidGraph(InvalidArgument):
    """An architecture violates a rule; the class identifies the rule."""


class UnknownLabel(InvalidGraph):
    """Unknown layer type."""


class InvalidUnits(InvalidGraph):
    """Units missing, superfluous or out of range."""


class InvalidStride(InvalidGraph):
    """A stride that the layer type does not support."""


class InvalidEdges(InvalidGraph):
    """An edge to a missing layer, a self-loop, or a duplicate edge."""


class CyclicGraph(InvalidGraph):
    """The edges form a cycle."""


class OneInput(InvalidGraph):
    """Not exactly one input layer."""


class OneOutput(InvalidGraph):
    """Not exactly one output layer."""


class DecisionPlacement(InvalidGraph):
    """An input of the output is not a decision layer, or a decision layer has another child."""


class NoProcessing(InvalidGraph):
    """No layer between the input and the decision: such a network has no mass and no distance to others."""


class OffPath(InvalidGraph):
    """A layer that is on no path from the input to the output."""


class MixedFamilies(InvalidGraph):
    """Layers of different families, such as those of an MLP and of a CNN, in one network or one comparison."""


class ImageMismatch(InvalidGraph):
    """A layer joins images of different sizes, or an image and a vector."""


class ImageTooSmall(InvalidGraph):
    """The image is halved more often than its size allows."""


class TooLarge(InvalidGraph):
    """More layers, edges, degree or mass than the domain allows."""
