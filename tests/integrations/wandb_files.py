"""What W&B wrote offline, read as its format says: frames of LevelDB's log, each record one message of wandb's protocol."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

BLOCK = 32_768
HEADER, FRAME = struct.Struct("<4sHB"), struct.Struct("<IHB")
"""“:W&B”, a magic number and a version; of a frame the checksum, the length and the kind."""
WHOLE, LAST = 1, 4
"""Kinds of frames that end a record; a record that crosses blocks has a first and middle ones, too."""


def records(file: Path) -> Iterator[Any]:
    messages = pytest.importorskip("wandb.proto.wandb_internal_pb2", reason="wandb is not installed")
    data, at, record = file.read_bytes(), HEADER.size, b""
    assert HEADER.unpack_from(data)[0] == b":W&B"
    while at + FRAME.size <= len(data):
        if BLOCK - at % BLOCK < FRAME.size:  # too little for a frame: the rest of a block is padding
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = FRAME.unpack_from(data, at)
        record += data[at + FRAME.size : at + FRAME.size + length]
        at += FRAME.size + length
        if kind in (WHOLE, LAST):
            yield messages.Record.FromString(record)
            record = b""


class Run(NamedTuple):
    """What one run wrote."""

    config: dict[str, Any]
    losses: list[tuple[int, float]]
    """With their steps."""
    code: int | None
    summary: dict[str, Any]


def runs(folder: Path) -> dict[str, Run]:
    """The runs by name."""
    found: dict[str, Run] = {}
    for file in folder.glob("wandb/offline-run-*/run-*.wandb"):
        name, code = "", None
        config, summary = dict[str, Any](), dict[str, Any]()
        losses: list[tuple[int, float]] = []
        for record in records(file):
            if record.HasField("run"):
                name = record.run.display_name
                config |= {each.key: json.loads(each.value_json) for each in record.run.config.update}
            if record.HasField("history"):
                row = _values(record.history.item)
                losses.append((row["_step"], row["loss"]))
            if record.HasField("summary"):
                summary |= _values(record.summary.update)
            if record.HasField("exit"):
                code = record.exit.exit_code
        config.pop("_wandb", None)  # versions and the like
        found[name] = Run(config, losses, code, summary)
    return found


def _values(items: Any) -> dict[str, Any]:
    return {each.key or each.nested_key[0]: json.loads(each.value_json) for each in items}
