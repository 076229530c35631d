"""Command lines with placeholders: ``python train.py --lr {lr}`` and a configuration → the words to run.

A placeholder is a name in braces. Other braces stay as they are, so awk and shell scripts need no escapes; ``{{name}}`` stands
for a literal ``{name}``. A word whose parameter takes no part (its condition does not hold) is left out, and with it the
option before it: of ``--momentum {momentum}`` neither is left.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from xstar.core.checks import nearest
from xstar.errors import InvalidArgument

_PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")

RUN_NAMES = ("trial", "attempt", "start", "budget", "checkpoint", "config", "folder")
"""What a command line may name beside parameters. A parameter of the same name goes first."""


def names_in(text: str) -> list[str]:
    """The names of the placeholders."""
    return [match[2] for match in _PLACEHOLDER.finditer(text) if match[2]]


def check_names(words: Sequence[str], parameters: Collection[str]) -> None:
    """Refuse a placeholder that is neither a parameter nor something every run has."""
    for word in words:
        for name in names_in(word):
            if name not in parameters and name not in RUN_NAMES:
                remedy = f"{nearest(name, [*parameters, *RUN_NAMES])}; {{{{{name}}}}} stands for the word itself"
                rule = "a placeholder must be a parameter of the space, or " + ", ".join(RUN_NAMES)
                raise InvalidArgument("command", rule, f"{{{name}}} in {word!r}", remedy)


def to_text(value: Any) -> str:
    """A value as a program reads it: text as it is, everything else as JSON (``true``, ``0.001``, ``[0, 1]``)."""
    return value if isinstance(value, str) else to_json(value)


def to_json(value: Any) -> str:
    """A value, or a whole configuration, as JSON; an architecture as its layers and edges."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return value.to_json()
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def fill(text: str, values: Mapping[str, Any], *, quoted: bool = False) -> str:
    """The text with its placeholders filled in; what is not there becomes empty. ``quoted``: for a shell."""

    def value(match: re.Match[str]) -> str:
        if match[1]:
            return f"{{{match[1]}}}"
        shown = to_text(values[match[2]]) if match[2] in values else ""
        return shlex.quote(shown) if quoted and shown else shown

    return _PLACEHOLDER.sub(value, text)


def fill_words(words: Sequence[str], values: Mapping[str, Any]) -> list[str]:
    """The words to run.

    >>> fill_words(["train", "--lr", "{lr}", "--momentum", "{momentum}"], {"lr": 0.1})
    ['train', '--lr', '0.1']
    """
    found: list[str] = []
    for place, word in enumerate(words):
        if all(name in values for name in names_in(word)):
            found.append(fill(word, values))
        elif place and _is_option(words[place - 1]) and found and found[-1] == words[place - 1]:
            found.pop()
    return found


def _is_option(word: str) -> bool:
    return word.startswith("-") and "=" not in word and not names_in(word)
