"""Files that appear when they are whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(target: Path) -> Iterator[Path]:
    """Give an empty file beside ``target``, which takes its place when the block ends without an error.

    Its name cannot be guessed and it is made exclusively, which follows no link: in a folder that others may write to,
    nobody can have us write to a file of theirs or of ours. What is no file (a pipe, ``/dev/stdout``) is written to itself.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    part = target.with_name(f".{target.name[:200]}-{secrets.token_hex(8)}.part")
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)
