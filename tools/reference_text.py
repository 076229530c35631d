"""Docstrings for the API reference: the roles of Sphinx become code, and examples become blocks, as Markdown has them.

Named in ``mkdocs.yml``. The docstrings stay what ``help()`` and editors show.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":[a-z]+:`~?([^`]+)`")
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> |\s*$).*\n?)*)+", re.MULTILINE)


def markdown(text: str) -> str:
    """The docstring as Markdown.

    >>> markdown("See :func:`~xstar.api.minimize`.")
    'See `minimize`.'
    """
    text = ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", text)


class ReferenceText(griffe.Extension):
    """Rewrites every docstring once, when it has been read."""

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
