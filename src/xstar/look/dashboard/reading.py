"""The addresses that read: studies, one study (live or at an earlier moment), its plots and trials, comparisons."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from xstar.core.clock import wall_clock
from xstar.core.words import readable
from xstar.errors import InvalidArgument, XstarError
from xstar.look.dashboard import files, filters
from xstar.look.dashboard.feeds import Feed, Feeds
from xstar.look.describe import describe, trial_row, whole_trial
from xstar.look.plots.kinds import KINDS, kind
from xstar.look.plots.networks import graph_of
from xstar.look.view import StudyView

SMALL = 20_000
"""Events of a study whose card is made at once; a larger one shows what is known once someone opens it."""
MOST_PAGE = 200
MOST_COMPARED = 12
TICK = 1.0
"""Seconds between two looks at what is new."""
MOST_STREAMS = 256
RESERVED = {"at", "study"}

At = Annotated[int | None, Query(ge=1, le=2**53, description="The study after so many events; left out: as it is now.")]
Number = Annotated[int, "The trial's number."]


class Reading:
    """What is read, of one storage."""

    def __init__(self, feeds: Feeds, directory: Path | None) -> None:
        self.feeds = feeds
        self.directory = directory
        self.closing = threading.Event()
        """Set when the server is about to end: streams, which have no end of their own, end then."""
        self.streams = 0
        self._cards: dict[str, tuple[int, dict[str, Any]]] = {}

    def card(self, name: str, events: int) -> dict[str, Any]:
        """A study in the list."""
        feed = self.feeds.peek(name)
        if feed is not None:
            with feed.lock:
                return summarise(feed.view, events)
        known = self._cards.get(name)
        if known is not None and known[0] == events:
            return known[1]
        if events > SMALL:
            return {"name": name, "seen": 0, "total": events}
        try:
            made = summarise(self.feeds.read(name).view, events)
        except XstarError as error:  # say, a kind of parameter that only its own package can read
            made = {"name": name, "seen": 0, "total": events, "error": str(error)}
        self._cards[name] = (events, made)
        return made


def summarise(view: StudyView, total: int | None) -> dict[str, Any]:
    """A study at a glance, and how many events its journal has."""
    return {**describe(view), "total": max(view.history.seen, total or 0)}


def dump_json(made: Any) -> bytes:
    """JSON, in ASCII: half of a surrogate pair in a stored text has no other form."""
    return json.dumps(made, allow_nan=False, separators=(",", ":")).encode()


class Answer(JSONResponse):
    """JSON in ASCII."""

    def render(self, content: Any) -> bytes:
        return dump_json(content)


def answer_once(feed: Feed, question: Hashable, at: int | None, use: Callable[[StudyView], Any]) -> Response:
    """What ``use`` makes of a study at a moment: once for all who ask the same question."""
    return Response(feed.answers.get(question, lambda: dump_json(feed.at(at, use))), media_type="application/json")


def figure(feed: Feed, name: str, at: int | None, words: dict[str, str], others: list[Feed]) -> bytes:
    """A figure as JSON; the same question at the same moment is answered from memory."""
    found = kind(name)
    options = found.read(words)
    moments = tuple(other.history.seen for other in others)
    key = (name, at or feed.history.seen, tuple(sorted(words.items())), tuple(other.name for other in others), moments)

    def make() -> bytes:
        with ExitStack() as stack:
            if others:
                for each in sorted(
                    [feed, *others], key=lambda each: each.name
                ):  # in one order, or two would wait for each other
                    stack.enter_context(each.lock)
                options["others"] = [other.view for other in others]
            made = feed.at(at, lambda moment: found.figure(moment, **options))
        return dump_json(made)

    return feed.answers.get(key, make)


async def new(reading: Reading, name: str, since: int, request: Request) -> AsyncIterator[str]:
    """How far a study is, whenever it got further, as server-sent events: a page then asks for what it shows."""
    feeds = reading.feeds
    reading.streams += 1
    silence = 0.0
    try:
        yield "retry: 2000\n\n"
        while not reading.closing.is_set() and not await request.is_disconnected():
            feed = feeds.peek(name)
            if feed is None:
                feed = await asyncio.to_thread(feeds.get, name)
            feed.asked_at = wall_clock()
            seen = feed.history.seen
            if seen > since or feeds.trouble:
                silence, since = 0.0, seen
                yield f"id: {seen}\ndata: {json.dumps({'seen': seen, 'trouble': feeds.trouble})}\n\n"
            elif silence >= 15:
                silence = 0.0
                yield ": still here\n\n"
            silence += TICK
            await asyncio.sleep(TICK)
    except XstarError as error:
        yield f"event: gone\ndata: {json.dumps({'error': str(error)})}\n\n"
    finally:
        reading.streams -= 1


def router(reading: Reading) -> APIRouter:
    """The addresses."""
    api = APIRouter(prefix="/api", tags=["reading"])
    feeds = reading.feeds

    @api.get("/studies")
    def studies() -> Response:
        """All studies of the storage."""
        cards = [reading.card(name, events) for name, events in feeds.counts().items()]
        return Answer({"storage": feeds.storage.url, "studies": cards, "trouble": feeds.trouble})

    @api.get("/studies/{name}")
    def study(name: str, at: At = None) -> Response:
        """A study at a glance."""
        feed = feeds.get(name)
        total = feed.total if at is None else None

        def use(moment: StudyView) -> dict[str, Any]:
            plots = [each.name for each in KINDS.values() if each.suits(moment.history)]
            return {**summarise(moment, total), "plots": plots, "now": feed.history.seen}

        return answer_once(feed, ("study", at, feed.history.seen, total), at, use)

    @api.get("/studies/{name}/plots/{plot}")
    def plot(request: Request, name: str, plot: str, at: At = None) -> Response:
        """A plot as Plotly's JSON; its options are parameters of the address."""
        words = {key: value for key, value in request.query_params.items() if key not in RESERVED}
        return Response(figure(feeds.get(name), plot, at, words, []), media_type="application/json")

    @api.get("/studies/{name}/trials")
    def trials(
        name: str,
        at: At = None,
        filter: Annotated[str, Query(max_length=500, description="e.g. lr<0.01 optimizer=sgd, or words")] = "",
        state: Annotated[list[str] | None, Query(max_length=10)] = None,
        sort: Annotated[str, Query(max_length=200)] = "number",
        descending: bool = True,
        page: Annotated[int, Query(ge=0, le=10**9)] = 0,
        size: Annotated[int, Query(ge=1, le=MOST_PAGE)] = 50,
    ) -> Response:
        """A page of the table of trials: filtered, sorted and cut here, however many there are."""

        def use(moment: StudyView) -> dict[str, Any]:
            history = moment.history
            found = filters.order(history, filters.select(history, filter, state or ()), sort, descending)
            return {
                "trials": [trial_row(history, trial) for trial in found[page * size : (page + 1) * size]],
                "found": len(found),
                "of": len(history.trials),
                "parameters": list(history.space.parameters),
                "objectives": list(history.goals.metrics),
            }

        feed = feeds.get(name)
        question = ("trials", at or feed.history.seen, filter, tuple(state or ()), sort, descending, page, size)
        return answer_once(feed, question, at, use)

    @api.get("/studies/{name}/trials/{number}")
    def trial(name: str, number: Number, at: At = None) -> Response:
        """All there is to know about one trial."""

        def use(moment: StudyView) -> dict[str, Any]:
            one = moment.trial(number)
            left = files.listed(moment.files(reading.directory), one)
            return {**whole_trial(moment.history, one), "files": left}

        return Answer(feeds.get(name).at(at, use))

    @api.get("/studies/{name}/trials/{number}/log")
    def log(name: str, number: Number, stream: Annotated[str, Query(max_length=20)] = "stdout") -> Response:
        """The end of what the trial printed."""
        view = feeds.get(name).view
        return Answer(files.printed(view.files(reading.directory), view.trial(number), stream))

    @api.get("/studies/{name}/trials/{number}/networks/{parameter}")
    def drawing(name: str, number: Number, parameter: str) -> Response:
        """An architecture as SVG."""
        graph = graph_of(feeds.get(name).view.trial(number).config.get(parameter))
        if graph is None:
            raise InvalidArgument("parameter", f"must hold an architecture in trial {number}", parameter)
        return Response(readable(graph.draw()), media_type="image/svg+xml")

    @api.get("/studies/{name}/trials/{number}/why")
    def why(name: str, number: Number) -> Response:
        """Why the trial was chosen, and why it was paused, promoted or stopped: recomputed from the journal."""
        from xstar.look.why import why as explain  # at use: models

        view = feeds.get(name).view
        view.trial(number)
        return Answer(explain(view, number).to_json())

    @api.get("/studies/{name}/events", response_class=StreamingResponse)
    async def events(request: Request, name: str, since: Annotated[int, Query(ge=0, le=2**53)] = 0) -> Response:
        """What is new, as server-sent events."""
        await asyncio.to_thread(feeds.get, name)  # an unknown study is an answer, not a stream
        if reading.streams >= MOST_STREAMS:
            return Response('{"error": "too many open pages"}', 503, media_type="application/json")
        last = request.headers.get("last-event-id", "")
        start = int(last) if last.isdecimal() and len(last) < 16 else since
        return StreamingResponse(new(reading, name, start, request), media_type="text/event-stream")

    @api.get("/compare")
    def compare(
        study: Annotated[list[str], Query(min_length=1, max_length=MOST_COMPARED)],
        over: Annotated[str, Query(max_length=20)] = "trials",
    ) -> Response:
        """The best so far of several studies."""
        some = [feeds.get(name) for name in dict.fromkeys(study)]
        words = {"over": over}
        return Response(figure(some[0], "comparison", None, words, some[1:]), media_type="application/json")

    return api
