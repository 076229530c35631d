"""Many pages, one computation: figures, tables and messages are made once for all who ask for them."""

from __future__ import annotations

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the dashboard needs its extra")

from tests.look.dashboard.servers import client, stored
from tests.waiting import PATIENCE
from xstar.look.dashboard import reading
from xstar.look.dashboard.feeds import MOST_FEEDS, Feeds, Shared
from xstar.storage import SqlStorage

PAGES = 16


def test_an_answer_is_made_once_however_many_ask_at_the_same_time() -> None:
    shared, gate = Shared(4), threading.Barrier(PAGES)

    def ask(_: int) -> bytes:
        gate.wait(timeout=PATIENCE)
        return shared.get("question", lambda: b"answer")

    with ThreadPoolExecutor(PAGES) as pages:
        assert set(pages.map(ask, range(PAGES))) == {b"answer"}
    assert shared.made == 1


def test_an_answer_that_could_not_be_made_is_tried_again() -> None:
    shared = Shared(4)

    def broken() -> bytes:
        raise ValueError("not yet")

    with pytest.raises(ValueError, match="not yet"):
        shared.get("question", broken)
    assert shared.get("question", lambda: b"now") == b"now"


def test_those_asked_for_longest_ago_are_dropped() -> None:
    shared = Shared(2)
    for question in ("a", "b", "a", "c", "a", "c"):
        shared.get(question, question.encode)
    assert shared.made == 3
    shared.get("b", b"b".strip)
    assert shared.made == 4


def test_pages_share_plots_and_tables_of_a_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed: list[Shared] = []
    begin = Shared.__init__

    def counted(shared: Shared, most: int) -> None:
        begin(shared, most)
        followed.append(shared)

    monkeypatch.setattr(Shared, "__init__", counted)
    addresses = ["/api/studies/s/plots/importance", "/api/studies/s/trials?size=5", "/api/studies/s"]
    with client(stored(tmp_path)) as asking, ThreadPoolExecutor(PAGES) as pages:
        found = list(pages.map(lambda place: asking.get(addresses[place % 3]).text, range(3 * PAGES)))
    assert len(set(found)) == 3
    assert sum(shared.made for shared in followed) == 3


def test_comparisons_take_the_locks_of_their_studies_in_one_order(tmp_path: Path) -> None:
    """Or two pages that compare the same studies, each from the other side, wait for each other for ever."""
    storage = SqlStorage(stored(tmp_path, "a", trials=2))
    stored(tmp_path, "b", trials=2)
    taken: list[str] = []

    class Lock(contextlib.AbstractContextManager[None]):
        def __init__(self, name: str) -> None:
            self.name = name

        def __enter__(self) -> None:
            taken.append(self.name)

        def __exit__(self, *error: object) -> None: ...

    a, b = (Feeds(storage).read(name) for name in "ab")
    for feed in (a, b):
        feed.lock = Lock(feed.name)  # type: ignore[assignment]
    for first, second in ((a, b), (b, a)):
        taken.clear()
        reading.figure(first, "comparison", None, {}, [second])
        assert taken[:2] == ["a", "b"]
    storage.close()


def test_the_study_looked_at_longest_ago_is_let_go(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(MOST_FEEDS + 1)]
    for name in names:
        place = stored(tmp_path, name, trials=1)
    storage = SqlStorage(place)
    feeds = Feeds(storage)
    for name in names[:-1]:
        feeds.get(name)
    assert feeds.get(names[0]) is not None  # a page of it is still open
    feeds.get(names[-1])
    assert [name for name in names if feeds.peek(name) is None] == [names[1]]
    feeds.close()
    storage.close()
