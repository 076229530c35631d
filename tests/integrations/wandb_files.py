"""What W&B wrote offline, read as its format says: frames of LevelDB's log, each record one message of wandb's protocol."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def runs(folder: Path) -> dict[str, Any]:
    """By its name: the configuration of a run, its losses with their steps, and its exit code."""
    found: dict[str, Any] = {}
    for file in folder.glob("wandb/offline-run-*/run-*.wandb"):
        name, code = "", None
        config: dict[str, Any] = {}
        losses: list[tuple[int, float]] = []
        for record in records(file):
            if record.HasField("run"):
                name = record.run.display_name
                config |= {each.key: json.loads(each.value_json) for each in record.run.config.update}
            if record.HasField("history"):
                row = {each.key or each.nested_key[0]: json.loads(each.value_json) for each in record.history.item}
                losses.append((row["_step"], row["loss"]))
            if record.HasField("exit"):
                code = record.exit.exit_code
        config.pop("_wandb", None)  # versions and the like
        found[name] = config, losses, code
    return found


def summaries(folder: Path) -> dict[str, dict[str, Any]]:
    """By the name of a run: what its summary was given."""
    found: dict[str, dict[str, Any]] = {}
    for file in folder.glob("wandb/offline-run-*/run-*.wandb"):
        name, given = "", dict[str, Any]()
        for record in records(file):
            name = record.run.display_name if record.HasField("run") else name
            if record.HasField("summary"):
                given |= {each.key or each.nested_key[0]: json.loads(each.value_json) for each in record.summary.update}
        found[name] = given
    return found
