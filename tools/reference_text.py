"""Docstrings for the API reference: the roles of Sphinx become code, and examples become blocks, as Markdown has them.

Named in ``mkdocs.yml``. The docstrings stay what ``help()`` and editors show.
"""

from __future__ import annotations

import inspect
import pydoc
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


DERIVED = ("xstar.api.minimize", "xstar.api.maximize", "xstar.study.study.Study.__init__")
"""Functions whose keywords and docstring come from dataclasses: they are as Python has them, not as the source has them."""


def parameters(function: Any) -> griffe.Parameters:
    """The parameters that ``help()`` shows."""
    made = []
    for each in inspect.signature(function).parameters.values():
        empty = each.annotation is each.empty
        annotation = None if empty else inspect.formatannotation(each.annotation).strip("'")
        default = None if each.default is each.empty else repr(each.default)
        kind = griffe.ParameterKind(each.kind.description)
        made.append(griffe.Parameter(each.name, annotation=annotation, default=default, kind=kind))
    return griffe.Parameters(*made)


class ReferenceText(griffe.Extension):
    """Rewrites every docstring once, when it has been read."""

    def on_function_instance(self, *, func: griffe.Function, **kwargs: Any) -> None:
        if func.path in DERIVED:
            found = pydoc.locate(func.path)
            func.parameters = parameters(found)
            if found.__doc__ and func.docstring is not None:
                func.docstring.value = markdown(found.__doc__)

    def on_instance(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
