"""Where a configuration came from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


class Origin(str):
    """Where a configuration came from: a sentence for the user that knows its parts.

    ``detail`` may name ``numbers``, which are filled in: ``{n}``, or ``{value:.3g}`` with up to nine digits. A program reads
    ``origin.method`` and ``origin.numbers``; nothing has to be parsed back out of the sentence.

    >>> made = Origin("gp", "log EI {value:.3g}, n={n}", value=0.3123, n=24)
    >>> str(made), made.method, made.numbers["n"]
    ('gp: log EI 0.312, n=24', 'gp', 24)
    """

    __slots__ = ("detail", "method", "numbers")

    method: str
    """The method that suggested the configuration."""
    detail: str
    """Its reason; may name numbers in braces."""
    numbers: Mapping[str, Any]
    """What the reason names, and whatever else the method wants on record: plain JSON."""

    def __new__(cls, method: str, detail: str = "", **numbers: Any) -> Origin:
        reason = _NAMED.sub(lambda named: _written(named, numbers), detail) if numbers else detail
        made = super().__new__(cls, f"{method}: {reason}" if reason else method)
        made.method, made.detail, made.numbers = method, detail, numbers
        return made

    @classmethod
    def of(cls, text: str) -> Origin:
        """An origin that is nothing but a sentence, of a searcher that says no more."""
        if isinstance(text, Origin):
            return text
        method, _, detail = text.partition(": ")
        return cls(method, detail)

    def within(self, method: str) -> Origin:
        """The same as part of another method, which chose this one."""
        reason = f"{self.method}: {self.detail}" if self.detail else self.method
        return Origin(method, reason, **self.numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return _origin, (self.method, self.detail, dict(self.numbers))


_NAMED = re.compile(r"\{(\w+)(?::(\.\d[efg]))?\}")
LONGEST_NUMBER = 200
"""Characters of what a reason names: a journal may come from anywhere."""


def _written(named: re.Match[str], numbers: Mapping[str, Any]) -> str:
    """A name in braces, replaced. Not by :meth:`str.format`, which would evaluate any text of a journal."""
    name, form = named.groups()
    if name not in numbers:
        return named[0]
    value = numbers[name]
    return format(value, form) if form and isinstance(value, int | float) else str(value)[:LONGEST_NUMBER]


def _origin(method: str, detail: str, numbers: Mapping[str, Any]) -> Origin:
    return Origin(method, detail, **numbers)
