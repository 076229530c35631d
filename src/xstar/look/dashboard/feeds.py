"""Studies as the dashboard follows them: one fold per study, however many pages look at it.

A page never makes the database work: one thread reads what is new, once a second, of the studies that someone looks at. A long
journal is folded in portions, and pages are answered from what is folded so far, with a note of how far that is. Nothing is
written here, no lease is looked at, and no lock of the database is held between two reads.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from xstar.core.clock import wall_clock
from xstar.errors import UnknownStudy, XstarError
from xstar.look.view import StudyView

if TYPE_CHECKING:
    from xstar.storage import SqlJournal, SqlStorage

PORTION = 5000
"""Events folded at a time, as many as the journal reads at once (about 50 ms): so long a page may have to wait for the fold."""
FIRST = 20_000
"""Events folded before the first page of a study is answered: small studies are whole at once."""
MOST_FEEDS, MOST_EVENTS = 16, 4_000_000
"""Studies that are kept folded, and their events (a million take some 700 MB); the study looked at longest ago goes first."""
KEEP_SECONDS = 60.0
"""A study that nobody asked about for so long is no longer followed."""
LOOK_SECONDS = 1.0
MOST_FIGURES = 48
"""Figures and pages of trials kept by study; each is a few hundred kB at most."""


class Feed:
    """One study, folded as far as it was read."""

    def __init__(self, journal: SqlJournal) -> None:
        self.name = journal.name
        self.view = StudyView.of(journal.name, journal, upto=1)
        self.history = self.view.history
        self.lock = threading.RLock()
        self.asked_at = wall_clock()
        self.total = 1
        """Events that the journal has, as of the last look."""
        self._past = self.view
        self._past_lock = threading.RLock()
        self.answers = Shared(MOST_FIGURES)

    def advance(self, portion: int = PORTION) -> int:
        """Fold at most ``portion`` further events; returns how many there were."""
        with self.lock:
            before = self.history.seen
            self.view.extended(before + portion)
            self.total = max(self.total, self.history.seen)
            return self.history.seen - before

    @property
    def caught_up(self) -> bool:
        return self.history.seen >= self.total

    def at(self, seen: int | None, use: Callable[[StudyView], Any]) -> Any:
        """What ``use`` makes of the study as it was after ``seen`` events (``None``: as it is now)."""
        if seen is None or seen >= self.history.seen:
            with self.lock:
                return use(self.view)
        with self._past_lock:  # a replay goes on from where it was
            known = self._past
            ahead = known is not self.view and known.history.seen <= seen
            self._past = known.extended(seen) if ahead else self.view.at(seen)
            return use(self._past)


class Feeds:
    """The studies of a storage that someone looks at."""

    def __init__(self, storage: SqlStorage) -> None:
        self.storage = storage
        self._feeds: dict[str, Feed] = {}
        self._lock = threading.Lock()
        self.trouble = ""
        """Why the storage could not be read at the last look; empty: it could."""
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def counts(self) -> dict[str, int]:
        """How many events each study has."""
        query = "SELECT name, events FROM xstar_studies ORDER BY name"
        return dict(self.storage.database.read(lambda database: database.rows(query)))

    def get(self, name: str) -> Feed:
        """The feed of a study, which is followed from now on."""
        with self._lock:
            feed = self._feeds.get(name)
            if feed is None:
                feed = self._feeds[name] = self.read(name)
            feed.asked_at = wall_clock()
            while len(self._feeds) > 1 and (len(self._feeds) > MOST_FEEDS or self._events() > MOST_EVENTS):
                self._feeds.pop(min(self._feeds, key=lambda each: self._feeds[each].asked_at))
            if self._thread is None:
                self._thread = threading.Thread(target=self._follow, name="xstar-dashboard", daemon=True)
                self._thread.start()
        return feed

    def _events(self) -> int:
        return sum(feed.total for feed in self._feeds.values())

    def peek(self, name: str) -> Feed | None:
        """The feed, if it is there; never waits."""
        return self._feeds.get(name)

    def read(self, name: str) -> Feed:
        """A feed of its own, with the first events folded."""
        feed = Feed(self.storage.open(name))
        feed.total = self.counts().get(name, 1)
        feed.advance(FIRST)
        return feed

    def close(self) -> None:
        """Stop following."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _follow(self) -> None:
        while not self._stop.wait(LOOK_SECONDS):
            try:
                counts = self.counts()
            except XstarError as error:  # the database is away: the pages say so, and it is tried again
                self.trouble = str(error)
                continue
            self.trouble = ""
            for name, feed in list(self._feeds.items()):
                if counts.get(name, 0) < feed.history.seen:
                    self._feeds.pop(name, None)  # deleted, and perhaps another one made by that name
                elif wall_clock() - feed.asked_at < KEEP_SECONDS:
                    feed.total = counts[name]
                    self._catch_up(feed)

    def _catch_up(self, feed: Feed) -> None:
        try:
            while not self._stop.is_set() and not feed.caught_up and feed.advance():
                feed.asked_at = max(feed.asked_at, wall_clock() - KEEP_SECONDS / 2)
                self._stop.wait(0.01)  # pages first
        except UnknownStudy:
            self._feeds.pop(feed.name, None)
        except XstarError as error:
            self.trouble = str(error)


class Shared:
    """The latest ``most`` answers, by question: the first who asks makes one while the others wait for it."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made = 0
        """How many were made."""
        self._lock = threading.Lock()
        self._answers: OrderedDict[Hashable, Future[bytes]] = OrderedDict()

    def get(self, question: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer, made now if there is none. One that could not be made is tried again by the next who asks."""
        mine: Future[bytes] = Future()
        with self._lock:
            answer = self._answers.setdefault(question, mine)
            self._answers.move_to_end(question)
            while len(self._answers) > self.most:
                self._answers.popitem(last=False)
        if answer is mine:
            try:
                answer.set_result(make())
                self.made += 1
            except Exception as error:
                self._answers.pop(question, None)
                answer.set_exception(error)
        return answer.result()
