"""A file appears when it is whole, and what is written meanwhile goes to nobody else's file."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from xstar.core.whole_file import whole_file


def test_the_file_is_there_when_the_block_has_ended(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with whole_file(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
        assert part.parent == tmp_path, "renamed within one file system"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_block_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    def fail() -> None:
        with whole_file(tmp_path / "a.txt") as part:
            part.write_text("half")
            raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        fail()
    assert os.listdir(tmp_path) == []


def test_a_link_under_the_name_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    names: set[str] = set()
    for _ in range(2):
        with whole_file(tmp_path / "a.txt") as part:
            names.add(part.name)
    assert len(names) == 2, "nobody can guess it"
    monkeypatch.setattr("secrets.token_hex", lambda count: "00" * count)
    with whole_file(tmp_path / "a.txt") as part:
        guessed = part
    guessed.symlink_to(victim)
    with pytest.raises(FileExistsError), whole_file(tmp_path / "a.txt") as part:
        part.write_text("theirs")
    assert victim.read_text() == "mine"
    assert guessed.is_symlink(), "what others made is left alone"


def test_others_may_read_what_the_user_lets_them(tmp_path: Path) -> None:
    with whole_file(tmp_path / "a.txt"):
        pass
    plain = tmp_path / "plain"
    plain.touch()
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_pipe_is_written_to_itself(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with whole_file(tmp_path / "pipe") as part:
        assert part == tmp_path / "pipe"
    assert (tmp_path / "pipe").is_fifo()
