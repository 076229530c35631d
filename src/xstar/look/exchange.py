"""Studies in and out: the journal as JSON lines, which loses nothing, and a table of trials, which others can read.

    {"schema":1,"seq":0,"kind":"created","event":{…}}       one line per event, in order
    {"schema":1,"seq":1,"kind":"asked","event":{…}}

An import is all or nothing: every line is read, checked and folded before the first row is written. What an import cannot
bring along is what was never in the journal — checkpoints, output, and the programs that were running trials.
"""

from __future__ import annotations

import csv
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol, TextIO

from xstar.core.clock import wall_clock
from xstar.core.words import readable
from xstar.errors import CorruptJournal, XstarError
from xstar.journal import SCHEMA, Event, History, Readable, event_json, events as ev
from xstar.storage.files import check_folder
from xstar.study import open_storage, table
from xstar.study.settings import check_name

LOST_AT_EXPORT = "running when it was exported"


class Source(Protocol):
    """What can be exported: a :class:`~xstar.study.study.Study`, or a mere view of one."""

    @property
    def journal(self) -> Readable: ...

    def refresh(self) -> History:
        """The history of all events so far."""
        ...


# ---------------------------------------------------------------- the journal


def export_events(study: Source) -> Iterator[str]:
    """The journal as JSON lines (without line ends), in order."""
    for seq, event in enumerate(study.journal.read(0)):
        # The body is JSON already; only the frame around it is new.
        yield f'{{"schema":{SCHEMA},"seq":{seq},"kind":"{ev.kind_of(event)}","event":{event_json.dump(event)}}}'


def import_events(lines: Iterable[str], name: str, storage: str | os.PathLike[str]) -> None:
    """Create the study ``name`` in ``storage`` from what :func:`export_events` wrote.

    Raises :class:`~xstar.errors.CorruptJournal` with the number of the first bad line, and
    :class:`~xstar.errors.StudyExists` if the name is taken; nothing is written then. Trials that were running have no
    program that runs them here: they are recorded as lost, so that whoever resumes the study runs them again.
    """
    check_name(name)
    history = History()
    events: list[Event] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        event = _parse(line, len(events), where)
        if isinstance(event, ev.Created):
            check_folder(event.files)
            # A folder of its own: the study it was exported from may live beside this one and keeps its checkpoints.
            event = replace(event, files=f"{name}-{secrets.token_hex(3)}", directory=None)
        _fold(history, event, where)
        events.append(event)
    if not events:
        raise CorruptJournal("there is no event to import; write the file with `xstar export STUDY --output FILE`")
    now = wall_clock()
    events += [ev.Lost(trial.number, LOST_AT_EXPORT, now, trial.attempt) for trial in history.running.values()]
    target = open_storage(storage)
    try:
        target.create(name, events)
    finally:
        target.close()


def _parse(line: str, seq: int, where: str) -> Event:
    """One line's event, which must be number ``seq``."""
    try:
        data = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise CorruptJournal(f"{where} is not JSON ({error}): {line.strip()[:80]!r}") from None
    if not isinstance(data, dict) or not {"schema", "seq", "kind", "event"} <= data.keys():
        raise CorruptJournal(f'{where} must have the fields "schema", "seq", "kind" and "event": {line.strip()[:80]!r}')
    if not isinstance(data["schema"], int) or not isinstance(data["kind"], str):
        raise CorruptJournal(
            f"{where}: schema must be a number and kind a word, but they are {data['schema']!r}, {data['kind']!r}"
        )
    if data["seq"] != seq:
        raise CorruptJournal(
            f"{where} is event {data['seq']!r}, but event {seq} was expected; lines are missing or in disorder"
        )
    return event_json.load(data["kind"], json.dumps(data["event"]), data["schema"], where)


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON; metrics write it as a string")


def _fold(history: History, event: Event, where: str) -> None:
    """Fold an event that came from outside: what a study wrote is trusted, what a file says is checked."""
    try:
        if history.seen == 0 and not isinstance(event, ev.Created):
            raise CorruptJournal(f"a journal begins with a created event, not with {ev.kind_of(event)}")
        if isinstance(event, ev.Asked | ev.Added):
            history.space.parse(history.space.load(event.config))
        elif isinstance(event, ev.Enqueued):
            history.space.parse_partial(history.space.load(event.config))
        elif isinstance(event, ev.PriorStudy):
            for config in event.configs:
                history.space.parse(history.space.load(config))
        history.extend([event])
        event_json.dump(
            event
        ).encode()  # what cannot be written (1e999, half a surrogate pair) must be found before we write
    except (XstarError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, XstarError) else f"{type(error).__name__}: {error}"
        raise CorruptJournal(f"{where} ({ev.kind_of(event)}): {why}") from error


# ---------------------------------------------------------------- the table of trials


def export_csv(study: Source, file: TextIO) -> None:
    """One row per trial, with a header. Values that are not numbers or words are written as JSON; inactive ones are empty."""
    columns, rows = table.table(study.refresh())
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if value is table.ABSENT:
        return ""
    if isinstance(value, str):
        return readable(value)
    if isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    return readable(json.dumps(value, ensure_ascii=False))
