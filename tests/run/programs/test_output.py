"""Lines, logs and reports of a program, however much it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from xstar.errors import ProgramFailed
from xstar.run.programs.output import LONGEST_LINE, TAIL, Lines, Log
from xstar.run.programs.reports import Epochs, Reported, read_report


def test_lines_are_whole_and_none_is_held_beyond_the_limit() -> None:
    lines = Lines()
    assert list(lines.feed(b"one\ntw")) == [b"one"]
    assert lines.done == 4
    assert list(lines.feed(b"o\n\n")) == [b"two", b""]
    for _ in range(5):
        assert list(lines.feed(b"x" * LONGEST_LINE)) == []
        assert len(lines._rest) <= LONGEST_LINE
    assert list(lines.feed(b"x\nlast")) == []
    assert lines.done == 9 + 5 * LONGEST_LINE + 2
    assert list(lines.rest()) == [b"last"]


@pytest.mark.parametrize("size", [1, 3, 7])
def test_lines_do_not_depend_on_how_they_arrive(size: int) -> None:
    data, lines = b'{"a": 1}\nlog\n\xff\xfe\n{"b":\n', Lines()
    found = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
    assert found == data.split(b"\n")[:-1]
    assert lines.done == len(data)


def test_a_log_says_that_it_is_full_and_knows_the_last_words(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", 10)
    for _ in range(1000):
        log.write(b"abcdefg\n")
    log.write("the end: é".encode("latin-1"))
    log.close()
    text = (tmp_path / "log").read_text()
    assert text.startswith("abcdefg\nab\n[xstar] this run wrote 10 bytes here")
    assert len(text) < 200
    assert log.last_words().endswith("the end: \N{REPLACEMENT CHARACTER}")
    assert len(log.last_words()) <= TAIL


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"epoch 3", b"{", b"{}", b"[1]", b"3", b'{"a": "x"}', b'{"a": true}', b'{"epoch": 3}', b'{"a": 1} tail'),
        *(b'{"a": ' * 5000 + b"1" + b"}" * 5000, b'{"a": \xff}', b"{1: 2}"),
    ],
)
def test_what_is_no_report(line: bytes) -> None:
    assert read_report(line) is None


def test_what_is_a_report() -> None:
    line = b' {"loss": 1, "epoch": 2, "name": "n", "ok": true, "big": 1' + b"0" * 400 + b"} \r"
    assert read_report(line) == Reported({"loss": 1.0}, 2.0)
    assert read_report(b'{"loss": 1, "bad": "\xff"}') == Reported({"loss": 1.0})
    nan = read_report(b'{"loss": NaN}')
    assert nan is not None
    assert nan.metrics["loss"] != nan.metrics["loss"]
    assert read_report(b'{"infeasible": "too large"}') == Reported({}, infeasible="too large")
    assert read_report(b'{"infeasible": false, "loss": 1}') == Reported({"loss": 1.0})


class _Trial:
    def __init__(self, start: int, resumed: bool) -> None:
        self.start, self.resumed = start, resumed


@pytest.mark.parametrize(
    ("start", "epochs", "counts", "begins"),
    [
        (0, [1, 2, 3], [1, 1, 1], 0),
        (4, [5, 6], [1, 1], 4),
        (4, [3, 4, 5], [1, 1, 1], 2),  # its checkpoint is behind the reports
        (4, [7, 8], [3, 1], 4),  # and here ahead of them
        (0, [1, 1, 2], [1, 0, 1], 0),
        (0, [None, None, 3], [1, 1, 1], 0),
    ],
)
def test_epochs_are_counted(start: int, epochs: list[float | None], counts: list[int], begins: int) -> None:
    trial = _Trial(start, resumed=start > 0)
    counter = Epochs(trial)
    assert [counter.count(None if epoch is None else float(epoch)) for epoch in epochs] == counts
    assert trial.start == begins


@pytest.mark.parametrize("epochs", [[0.0], [0.5], [2.0], [1.0, 3.0], [float("nan")]])
def test_epochs_that_cannot_be_are_refused(epochs: list[float]) -> None:
    counter = Epochs(_Trial(0, resumed=False))
    with pytest.raises(ProgramFailed, match="epoch"):
        list(map(counter.count, epochs))
