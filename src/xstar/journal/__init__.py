"""What happened: events, the journal that keeps them and the history that is their fold."""

from xstar.journal.events import SCHEMA as SCHEMA
from xstar.journal.events import Event as Event
from xstar.journal.history import History as History
from xstar.journal.incumbent import Step as Step
from xstar.journal.journal import Journal as Journal
from xstar.journal.journal import MemoryJournal as MemoryJournal
from xstar.journal.journal import Readable as Readable
from xstar.journal.journal import SharedJournal as SharedJournal
from xstar.journal.journal import Turn as Turn
from xstar.journal.memo import Memo as Memo
from xstar.journal.memo import SharedCache as SharedCache
from xstar.journal.rung import Rung as Rung
