"""Where people already work: one small file for each library that a training script may be written with.

Nothing here is imported by ``import xstar``. A module imports its library when it is imported itself, and says what to install
if that is missing.
"""

from __future__ import annotations

from xstar.errors import MissingExtra


def missing(module: str, package: str) -> MissingExtra:
    """What is raised where a library is not installed."""
    return MissingExtra(f"xstar.integrations.{module} needs {package}: pip install {package}")
