"""What happened: events, the journal that keeps them and the history that is their fold."""

from xstar.journal.events import SCHEMA as SCHEMA, Event as Event
from xstar.journal.history import History as History
from xstar.journal.incumbent import Step as Step
from xstar.journal.journal import (
    Journal as Journal,
    MemoryJournal as MemoryJournal,
    Readable as Readable,
    SharedJournal as SharedJournal,
)
from xstar.journal.memo import Memo as Memo, SharedCache as SharedCache
from xstar.journal.rung import Rung as Rung
