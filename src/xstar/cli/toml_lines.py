"""On which line a key of a TOML file stands: ``tomllib`` says so for broken syntax, but not for what it has read."""

from __future__ import annotations

import re
from collections.abc import Mapping

Path = tuple[str, ...]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}' r"|'''.*?'{3,5}" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r"[^,\]}\n#]+")


def key_lines(text: str) -> Mapping[Path, int]:
    """Key, as a path from the root → number of its line. The text is TOML that ``tomllib`` has accepted.

    >>> key_lines("[space]\\nlr = {float = [1, 2]}")[("space", "lr", "float")]
    2
    """
    return _Scan(text).run()


class _Scan:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, int] = {}

    def run(self) -> dict[Path, int]:
        table: Path = ()
        while self._skip_blank() < len(self.text):
            if self.text[self.at] == "[":
                brackets = 2 if self.text.startswith("[[", self.at) else 1
                self.at += brackets
                table = self._key(())
                self.at = self.text.index("]", self.at) + brackets
            else:
                self._pair(table)
        return self.found

    def _skip_blank(self) -> int:
        found = _BLANK.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return self.at

    def _pair(self, table: Path) -> None:
        key = self._key(table)
        self.at = self.text.index("=", self.at) + 1
        self._value(key)

    def _key(self, table: Path) -> Path:
        """A dotted key; every part of it is noted."""
        key = table
        while True:
            self._skip_blank()
            quoted = _STRING.match(self.text, self.at)
            part = quoted or _BARE.match(self.text, self.at)
            assert part is not None
            key = (*key, part[0][1:-1] if quoted else part[0])
            self.found.setdefault(key, self.text.count("\n", 0, self.at) + 1)
            self.at = part.end()
            if self.text[self._skip_blank()] != ".":
                return key
            self.at += 1

    def _value(self, key: Path) -> None:
        self._skip_blank()
        opened = self.text[self.at]
        if opened in "[{":
            self.at += 1
            while self.text[self._skip_blank()] not in "]}":
                if self.text[self.at] == ",":
                    self.at += 1
                elif opened == "{":
                    self._pair(key)
                else:
                    self._value(key)
            self.at += 1
            return
        scalar = _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at)
        assert scalar is not None
        self.at = scalar.end()
