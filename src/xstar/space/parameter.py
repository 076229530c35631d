"""What every kind of parameter can do: the abstract class behind Float, Int, Choice, Ordinal, Bool, Bits, Constant.

Notation

=============  ===================================================================  ==============
symbol         meaning                                                              shape
=============  ===================================================================  ==============
``u``          uniform numbers a whole configuration is drawn from                  (space.draws,)
``cells``      one row of the unit cube, a configuration as a model sees it         (width of all,)
``start``      where in ``u`` (or ``cells``) the numbers of this parameter begin    int
``size``       how many values there are (``math.inf`` if uncountable)              int or inf
=============  ===================================================================  ==============

Drawing and decoding are *compiled*: ``drawer(start)`` returns a closure that already knows its bounds and its place in
``u``. A random suggestion costs about a microsecond because nothing is looked up while it is made.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields as fields_of
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from xstar.errors import InvalidArgument, InvalidConfig
from xstar.space.conditions import When, read_when
from xstar.space.priors import Normal
from xstar.space.values import Json, Value, thaw

#: Reads the value of one parameter from a row of numbers that holds those of all.
Reader = Callable[[Sequence[float]], Value]


class Parameter(ABC):
    """One named dimension of a space. Frozen; equal when written the same way."""

    kind: ClassVar[str]
    """The name of the kind in JSON."""
    blank: ClassVar[float] = 0.5
    """What the columns of an inactive parameter hold: see ``cube.py`` for the reason."""
    when: Mapping[str, object] | None
    """The conditions under which the parameter takes part; None: always. After construction a ``When`` or None."""

    # --- size ---------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def size(self) -> int | float:
        """How many values there are: an int, or ``math.inf``."""

    @abstractmethod
    def value_at(self, index: int) -> Value:
        """The value at ``0 <= index < size``; only for finite kinds."""

    def grid_values(self, points: int) -> Iterator[Value]:
        """The values a grid visits: all of them, but for numbers with more values than ``points``."""
        assert isinstance(self.size, int)
        return (self.value_at(index) for index in range(self.size))

    # --- drawing ------------------------------------------------------------------------------------------------

    @property
    def draws(self) -> int:
        """How many uniform numbers one sample consumes."""
        return 1

    @abstractmethod
    def drawer(self, start: int) -> Reader:
        """The quantile function of the prior, reading its uniform numbers from ``u[start:start + draws]``."""

    def quantile(self, u: Sequence[float]) -> Value:
        """The value at the uniform numbers ``u`` (``draws`` of them, in [0, 1]) under the prior."""
        return self.drawer(0)(u)

    # --- validation ---------------------------------------------------------------------------------------------

    @abstractmethod
    def parse(self, value: object, name: str) -> Value:
        """The canonical form of a user's value, or InvalidConfig with ``name`` in it."""

    def contains(self, value: object) -> bool:
        """Whether ``parse`` accepts the value."""
        try:
            self.parse(value, "value")
        except InvalidConfig:
            return False
        return True

    # --- JSON ---------------------------------------------------------------------------------------------------

    @property
    def plain(self) -> bool:
        """Whether values are their own JSON form, so that ``dump`` and ``load`` need not be called."""
        return True

    def dump(self, value: Value) -> Json:
        return value

    def load(self, data: Json) -> Value:
        return data

    def fields(self) -> dict[str, Json]:
        """The JSON fields of this kind, without ``kind`` and ``when``; optional ones only where they are given."""
        found: dict[str, Json] = {}
        for one in fields_of(self):  # type: ignore[arg-type]  # every kind is a dataclass
            value = getattr(self, one.name)
            if one.init and one.name != "when" and (value is not None or one.default is MISSING):
                found[one.name] = value.to_json() if isinstance(value, Normal) else thaw(value)
        return found

    def to_json(self) -> dict[str, Json]:
        conditions = {} if self.when is None else {"when": self.conditions.to_json()}
        return {"kind": self.kind, **self.fields(), **conditions}

    # --- the unit cube ------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """How many columns of the unit cube the parameter takes."""
        return 1

    @abstractmethod
    def encode(self, value: Value) -> tuple[float, ...]:
        """The ``width`` numbers in [0, 1] that stand for a canonical value."""

    def encode_column(self, values: Sequence[Value]) -> NDArray[np.float64]:
        """``encode`` of many values: shape (n, width). Kinds override it where it can be faster."""
        return np.array([self.encode(value) for value in values], dtype=np.float64).reshape(len(values), self.width)

    @abstractmethod
    def decoder(self, start: int) -> Reader:
        """The nearest value to the numbers in ``cells[start:start + width]``, each in [0, 1]."""

    def decode(self, cells: Sequence[float]) -> Value:
        """The nearest value to ``width`` numbers in [0, 1]."""
        return self.decoder(0)(cells)

    # --- identity -----------------------------------------------------------------------------------------------

    @property
    def conditions(self) -> When:
        """The conditions as a When, empty where there are none."""
        return read_when(self.when) or When({})

    # By the JSON text, not field by field: Choice([1]) and Choice([True]) have equal fields and are not the same.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parameter):
            return NotImplemented
        return json.dumps(self.to_json()) == json.dumps(other.to_json())

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_json()))

    def __repr__(self) -> str:
        """The call that made it, without what was left at its default."""
        parts = []
        for one in fields_of(self):  # type: ignore[arg-type]
            value = getattr(self, one.name)
            if one.init and value != one.default:
                shown = repr(list(value) if one.name in ("options", "prior") and isinstance(value, tuple) else value)
                parts.append(shown if one.default is MISSING else f"{one.name}={shown}")
        return f"{type(self).__name__}({', '.join(parts)})"


def set_fields(parameter: Parameter, **canonical: Any) -> None:
    """Replace what the user wrote by its canonical form, from within ``__post_init__`` of a frozen dataclass."""
    for field, value in canonical.items():
        object.__setattr__(parameter, field, value)


def check_index(parameter: Parameter, index: int) -> None:
    if not 0 <= index < parameter.size:
        rule = f"must lie in 0 ... {parameter.size - 1}"
        raise InvalidArgument("index", rule, index, f"the parameter has {parameter.size} values")
