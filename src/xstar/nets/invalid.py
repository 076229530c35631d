"""What can be wrong with an architecture: one class per rule, all of them ``InvalidArgument``.

::

    InvalidGraph                   (an InvalidArgument)
    ├── UnknownLabel               no such type of layer
    ├── InvalidUnits               units missing, superfluous or out of range
    ├── InvalidStride              a stride the type of layer does not have
    ├── InvalidEdges               an edge to nowhere, to itself, or given twice
    ├── CyclicGraph                the edges run in a circle
    ├── OneInput                   not exactly one input layer
    ├── OneOutput                  not exactly one output layer
    ├── DecisionPlacement          the output is not fed by decision layers, or something else is
    ├── NoProcessing               nothing between the input and the decision
    ├── OffPath                    a layer that is on no path from the input to the output
    ├── MixedFamilies              layers of an MLP and of a CNN in one network
    ├── ImageMismatch              images of different sizes, or an image and a vector, are to be joined
    ├── ImageTooSmall              the image is halved more often than it can be
    └── TooLarge                   more layers, edges, degree or mass than the domain allows

A search never sees them: a modifier whose result breaks a rule is not applied.
"""

from __future__ import annotations

from xstar.errors import InvalidArgument


class InvalidGraph(InvalidArgument):
    """An architecture breaks a rule; the class says which."""


class UnknownLabel(InvalidGraph):
    """No such type of layer."""


class InvalidUnits(InvalidGraph):
    """Units missing, superfluous or out of range."""


class InvalidStride(InvalidGraph):
    """A stride the type of layer does not have."""


class InvalidEdges(InvalidGraph):
    """An edge to nowhere, to itself, or given twice."""


class CyclicGraph(InvalidGraph):
    """The edges run in a circle."""


class OneInput(InvalidGraph):
    """Not exactly one input layer."""


class OneOutput(InvalidGraph):
    """Not exactly one output layer."""


class DecisionPlacement(InvalidGraph):
    """The output is not fed by decision layers alone, or a decision layer feeds something else."""


class NoProcessing(InvalidGraph):
    """Nothing between the input and the decision: such a network has no mass, and no distance to others."""


class OffPath(InvalidGraph):
    """A layer that is on no path from the input to the output."""


class MixedFamilies(InvalidGraph):
    """Layers of different families, such as those of an MLP and of a CNN, in one network or one comparison."""


class ImageMismatch(InvalidGraph):
    """Images of different sizes, or an image and a vector, are to be joined."""


class ImageTooSmall(InvalidGraph):
    """The image is halved more often than its size allows."""


class TooLarge(InvalidGraph):
    """More layers, edges, degree or mass than the domain allows."""
