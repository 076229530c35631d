"""CNN: convolutional networks as values of a parameter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xstar.core.values import as_int
from xstar.errors import InvalidSpace
from xstar.nets.domains import Networks
from xstar.nets.graph import Graph, Layer
from xstar.nets.labels import label, labels
from xstar.nets.pools import chain, cnn_pool
from xstar.space import register_domain


@dataclass(frozen=True, repr=False)
class CNN(Networks):
    """Convolutional networks for images of ``image`` × ``image`` (or ``image=(height, width)``) and ``classes``
    classes.

    The smaller side of the image limits the number of halvings: 5 for 32 pixels, 3 for 8.

    >>> CNN(image=8, channels=1, classes=10).inputs_of
    (1, 8, 8)
    """

    image: int | tuple[int, int]
    channels: int = 3
    classes: int = 10

    kind: ClassVar[str] = "cnn"

    def __post_init__(self) -> None:
        given = self.image if isinstance(self.image, (tuple, list)) else (self.image, self.image)
        sides = tuple(as_int(side) for side in given)
        if len(sides) != 2 or any(side is None or side < 1 for side in sides):
            raise InvalidSpace("image", "must be a size, or (height, width)", self.image)
        self._set("image", sides[0] if sides[0] == sides[1] else sides)
        self._set("channels", self._whole("channels", 1))
        self._set("classes", self._whole("classes", 2))
        if self.labels is not None and not any(2 in label(name).strides and label(name).units for name in self.labels):
            raise InvalidSpace("labels", "must hold a convolution", self.labels)
        super().__post_init__()

    @property
    def inputs_of(self) -> tuple[int, int, int]:
        height, width = self.image if isinstance(self.image, tuple) else (self.image, self.image)
        return (self.channels, height, width)

    @property
    def outputs_of(self) -> int:
        return self.classes

    @property
    def decision(self) -> str:
        return "softmax"

    def _candidates(self) -> list[Graph]:
        names = self.labels if self.labels is not None else labels("cnn")
        convolution = next(name for name in names if label(name).units and not label(name).flat)
        smallest = chain([Layer(convolution, self.units[0])], self.decision, self.inputs_of, self.classes)
        return [*cnn_pool(self.inputs_of, self.classes, self.units, self.labels, self.max_layers), smallest]


register_domain(CNN.kind, CNN.from_json)
