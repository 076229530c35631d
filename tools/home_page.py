"""The documentation's first page begins as the README does: the same text, with links that hold there.

    python tools/home_page.py

A test compares (``tests/test_docs.py``).
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README, PAGE = ROOT / "README.md", ROOT / "docs" / "index.md"
LAST, FIRST = "## See it run", "## Where to go on"
"""What follows in the README, and what the page goes on with by itself."""


def shared(readme: str) -> str:
    """What the page has of the README."""
    text = readme.partition(LAST)[0].replace("](docs/", "](")
    return re.sub(r"\[\w+\]\((benchmarks/[^)]+)\)", r"`\1`", text)


def rewritten(page: str, readme: str) -> str:
    """The page with the README's text of today."""
    return shared(readme) + FIRST + page.partition(FIRST)[2]


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), README.read_text(encoding="utf-8")), encoding="utf-8")
