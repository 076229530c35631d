"""Damage to stored JSON, for Hypothesis: other bytes, other values, other types; fields and lines that go or change places."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

LETTERS = st.text(alphabet='0123456789{}[]":,.-+eEnulltrasf\\\x00 \ud800', max_size=8)
DEEP = 100_000
"""Brackets, more than Python's stack has room for."""

JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([10**400, -(10**30), 2**63, 1e308, 5e-324, -0.0, 1.5]),
    st.sampled_from(["", "x", "nan", "-inf", "1e999", "\x00", "\ud800", "sgd", "..", "/x", "minimize"]),
    st.builds(list[Any]),
    st.builds(dict[str, Any]),
    st.lists(st.integers(0, 2), max_size=3),
    st.dictionaries(st.sampled_from(["kind", "name", "x", "method"]), st.integers(0, 2), max_size=2),
)


@st.composite
def spliced(draw: st.DrawFn, text: str) -> str:
    """A few characters of it replaced by others."""
    place, gone = draw(st.integers(0, len(text))), draw(st.integers(0, 12))
    return text[:place] + draw(LETTERS) + text[place + gone :]


@st.composite
def altered(draw: st.DrawFn, text: str) -> str:
    """A JSON document with one value replaced, taken out, put twice or under another name, or with its fields in disorder."""
    document = json.loads(text)
    holder, key = draw(st.sampled_from(list(_places(document))))
    value, how = (
        holder[key],
        draw(st.sampled_from(["replace", "replace", "remove", "wrap", "as text", "rename", "reverse"])),
    )
    if how == "replace":
        holder[key] = draw(JUNK)
    elif how == "remove":
        del holder[key]
    elif how == "wrap":
        holder[key] = draw(st.sampled_from([[value], {"value": value}, [value, value]]))
    elif how == "as text":
        holder[key] = str(value)
    elif how == "rename" and isinstance(holder, dict):
        holder[draw(st.sampled_from(["", "x", "trial", "budget", "metrics", "kind"]))] = holder.pop(key)
    elif isinstance(holder, dict):
        turned = dict(reversed(holder.items()))
        holder.clear()
        holder.update(turned)
    else:
        holder.reverse()
    return json.dumps(document)


def damaged(text: str) -> st.SearchStrategy[str]:
    """A JSON document that was damaged in one of these ways."""
    return st.one_of(spliced(text), altered(text))


@st.composite
def damaged_lines(draw: st.DrawFn, lines: list[str]) -> list[str]:
    """Lines of JSON, up to three of them damaged, removed, put twice or in another place."""
    made = list(lines)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(made) - 1))
        how = draw(st.sampled_from(["damage"] * 6 + ["remove", "double", "move", "cut", "deep"]))
        if how == "damage":
            made[place] = draw(damaged(made[place])) if _is_json(made[place]) else draw(spliced(made[place]))
        elif how == "double":
            made.insert(place, made[place])
        elif how == "move":
            made.insert(draw(st.integers(0, len(made) - 1)), made.pop(place))
        elif how == "cut":
            made = [*made[:place], made[place][: draw(st.integers(0, len(made[place])))]]
        elif how == "deep":
            made[place] = made[place].replace(":", ':{"x":' * draw(st.sampled_from([300, DEEP])), 1)
        elif len(made) > 1:
            del made[place]
    return made


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value of a document, as what holds it and its key or index there."""
    keys = document.keys() if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    here = [(document, key) for key in keys]
    return here + [place for holder, key in here for place in _places(holder[key])]


def _is_json(text: str) -> bool:
    try:
        return bool(_places(json.loads(text)))
    except (ValueError, RecursionError):
        return False
