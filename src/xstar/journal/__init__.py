"""What happened: events, the journal that keeps them and the history that is their fold."""

from xstar.journal.events import SCHEMA as SCHEMA
from xstar.journal.events import Event as Event
from xstar.journal.history import History as History
from xstar.journal.incumbent import Step as Step
from xstar.journal.journal import Journal as Journal
from xstar.journal.journal import LeasedJournal as LeasedJournal
from xstar.journal.journal import MemoryJournal as MemoryJournal
from xstar.journal.journal import Readable as Readable
from xstar.journal.journal import RenewableJournal as RenewableJournal
from xstar.journal.journal import ShelvedJournal as ShelvedJournal
from xstar.journal.journal import TalliedJournal as TalliedJournal
from xstar.journal.journal import Tally as Tally
from xstar.journal.memo import Memo as Memo
from xstar.journal.memo import Shelf as Shelf
from xstar.journal.rung import Rung as Rung
