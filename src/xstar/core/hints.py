"""Warnings that are logged once in a process."""

from __future__ import annotations

import logging

log = logging.getLogger("xstar")
_told: set[str] = set()


def warn_once(key: str, text: str) -> None:
    """A warning in the log, the first time in this process."""
    if key not in _told:
        _told.add(key)
        log.warning("%s", text)
