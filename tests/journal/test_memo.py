"""What is kept beside a history: typed, and nothing that an answer depends on."""

from __future__ import annotations

from dataclasses import dataclass

from xstar.journal import History, Memo


@dataclass
class Reads:
    """Counts how often it was brought up to date."""

    times: int = 0

    def catch_up(self, history: History) -> None:
        self.times += 1


def test_a_value_is_found_by_its_type_and_key() -> None:
    memo = Memo()
    memo.put(3, "loss")
    memo.put("three", "loss")
    assert memo.get(int, "loss") == 3
    assert memo.get(str, "loss") == "three"
    assert memo.get(int, "cost") is None
    memo.put(4, "loss")
    assert memo.get(int, "loss") == 4
    memo.clear()
    assert memo.get(int, "loss") is None


def test_a_fold_is_made_once_and_follows_the_history() -> None:
    memo, history = Memo(), History()
    first = memo.fold(Reads, history)
    assert memo.fold(Reads, history) is first
    assert first.times == 2
    assert memo.fold(Reads, history, "another") is not first
