"""What a user does to a storage while programs that share it are killed: copy, restore, export, import, delete."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xstar.journal import event_json, events as ev
from xstar.journal.events import Event
from xstar.look.exchange import export_events, import_events
from xstar.look.view import existing, look
from xstar.storage import copies
from xstar.storage.address import Address


@dataclass
class Acts:
    """Each leaves the storage as it was, and what it gives must be what the journal of the study says."""

    storage: str
    name: str
    folder: Path

    @property
    def kinds(self) -> tuple[str, ...]:
        """What can be done to this storage: a server is not copied into a file."""
        return ("exchange",) if Address.of(self.storage).path is None else ("copy", "exchange")

    def copy(self) -> None:
        """Back the storage up, and restore the backup in the place of an older one with the log of a killed program."""
        backup, restored = self.folder / "backup.db", self.folder / "restored.db"
        least = len(self.events(self.storage))
        with existing(self.storage) as place:
            counts = place.backup(backup)
        most = len(self.events(self.storage))
        assert least <= counts[self.name] <= most, (least, counts, most)
        log = Path(f"{self.storage}-wal")
        if log.exists():
            shutil.copy(log, restored.with_name("restored.db-wal"))
        assert copies.restore(backup, restored)[0] == counts
        for copy in (backup, restored):
            self.is_the_study(self.events(copy), counts[self.name])
        backup.unlink()
        for kept in self.folder.glob("restored.db.before-*"):
            kept.unlink()

    def exchange(self) -> None:
        """Export the study, import it under another name, into the same storage, and delete that."""
        with look(self.name, self.storage) as view:
            lines = list(export_events(view))
        import_events(lines, "imported", self.storage)
        self.is_the_study(self.events(self.storage, "imported"), len(lines), imported=True)
        with existing(self.storage) as place:
            place.delete("imported")
            assert "imported" not in {info.name for info in place.list()}

    def events(self, storage: str | Path, name: str | None = None) -> Sequence[Event]:
        with look(name or self.name, storage) as view:
            return list(view.journal.read(0))

    def is_the_study(self, copied: Sequence[Event], count: int, *, imported: bool = False) -> None:
        """Whether these are its first ``count`` events; after an import, in a folder of its own, the running trials lost."""
        first, *rest = map(event_json.dump, self.events(self.storage)[:count])
        begun, *others = map(event_json.dump, copied)
        assert imported or begun == first
        assert others[: len(rest)] == rest
        assert all(isinstance(event, ev.Lost) for event in copied[count:])
        assert imported or len(copied) == count
