"""Every error xstar raises on purpose, in one tree.

::

    XstarError
    ├── InvalidArgument            (also a ValueError)  an argument breaks a rule
    │   ├── InvalidSpace                                a parameter or a condition is not well formed
    │   ├── InvalidConfig                               a configuration does not belong to its space
    │   ├── UnknownParameter       (also a KeyError)    a trial has no parameter of that name
    │   ├── SeveralObjectives                           one number or one best trial was asked for, and there are several
    │   └── InvalidReport                               metrics or budgets a study cannot accept
    │       └── MissingMetric                           the watched metric is not among those reported
    ├── UnknownAttribute       (also an AttributeError) a trial has no attribute of that name
    ├── StudyError
    │   ├── UnknownStudy           (also a LookupError) no study of that name in the storage
    │   ├── StudyExists                                 the name is taken
    │   ├── StudyMismatch                               the stored study differs from what was asked for
    │   ├── UnknownTrial           (also a LookupError) the study has no such trial
    │   └── NoValue                                     the best trial was asked for before any trial had a value
    ├── StorageError                                    the database refused
    │   ├── StorageBusy                                 another process holds it for too long
    │   ├── StorageFull                                 no room on the disk
    │   ├── StorageReadOnly                             no permission to write
    │   ├── StorageTooNew                               written by a later release
    │   └── CorruptJournal                              an event cannot be read
    ├── JournalConflict                                 someone appended first: read again, decide again
    ├── ObjectiveError                                  the objective itself cannot be run (not: it failed once)
    ├── SubmitError                                     the batch system did not take a job
    ├── ProgramFailed                                   a run of a program (``xs.Command``) failed: its trial's affair
    ├── MissingExtra               (also an ImportError) an optional dependency is not installed
    └── Infeasible                                      raised by an *objective*: this configuration cannot be evaluated

    BaseException
    └── Pruned                                          raised in an *objective* by trial.report: end here; no error

``assert`` is for our own mistakes only; a user never has to read one.
"""

from __future__ import annotations

RESTORE = "`xstar restore FILE --storage …`"
"""How a backup replaces what is lost, for messages."""


class XstarError(Exception):
    """The root: ``except xs.XstarError`` catches all of xstar's own errors and nothing else."""


class Words(str):
    """What was found, as a description: a message shows it without quotes."""

    __slots__ = ()


def _shown(found: object) -> str:
    try:
        return repr(found)
    except RecursionError:
        return f"a {type(found).__name__} that is nested too deeply to be shown"


class InvalidArgument(XstarError, ValueError):
    """An argument breaks a rule. The message names the argument, the rule, the value found and the remedy."""

    def __init__(self, argument: str, rule: str, found: object, remedy: str = "") -> None:
        self.argument = argument
        self.rule = rule
        self.found = found
        self.remedy = remedy
        plain = isinstance(found, Words) or (isinstance(found, str) and "=" in found)
        shown = found if plain else _shown(found)
        super().__init__(f"{argument}: {rule}, but got {shown}" + (f"; {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[type[InvalidArgument], tuple[str, str, object, str]]:
        # The default would call the class with the finished message: errors cross process borders.
        return type(self), (self.argument, self.rule, self.found, self.remedy)


class InvalidSpace(InvalidArgument):
    """A parameter or a condition of a space is not well formed."""


class InvalidConfig(InvalidArgument):
    """A configuration does not belong to its space."""


class UnknownParameter(InvalidArgument, KeyError):
    """A trial has no parameter of that name: it is misspelt, or its condition does not hold."""

    def __str__(self) -> str:  # a KeyError's own puts the sentence in quotes
        return str(self.args[0])


class UnknownAttribute(XstarError, AttributeError):
    """A trial has no attribute of that name: it is a parameter's, or another library's."""


class InvalidReport(InvalidArgument):
    """Metrics or budgets that a study cannot accept; the journal is unharmed."""


class MissingMetric(InvalidReport):
    """The watched metric is not among those reported."""


class SeveralObjectives(InvalidArgument):
    """One number was asked for of a study or a trial with several objectives."""


class StudyError(XstarError):
    """Something about a study as a whole."""


class UnknownStudy(StudyError, LookupError):
    """No study of that name in the storage."""


class StudyExists(StudyError):
    """The name is taken."""


class StudyMismatch(StudyError):
    """The stored study differs from what was asked for; the message lists every difference."""


class UnknownTrial(StudyError, LookupError):
    """The study has no such trial."""

    @classmethod
    def numbered(cls, number: int, count: int) -> UnknownTrial:
        """No trial has this number; the study has ``count`` trials."""
        return cls(
            f"there is no trial {number}; the study has {f'trials 0 to {count - 1}' if count else 'no trials yet'}"
        )


class NoValue(StudyError):
    """The best trial was asked for before any trial had a value, or a plot's numbers where there are none."""


class StorageError(XstarError):
    """The database refused; the message says what was tried and what the database answered."""


class StorageBusy(StorageError):
    """Another process held the database longer than the retries lasted."""


class StorageFull(StorageError):
    """No room on the disk; nothing was half-written."""


class StorageReadOnly(StorageError):
    """No permission to write to the database."""


class StorageTooNew(StorageError):
    """The database or an event was written by a later release of xstar."""


class CorruptJournal(StorageError):
    """An event of the journal cannot be read."""


class JournalConflict(XstarError):
    """Someone else appended first: read the new events, decide again, append again."""


class ObjectiveError(XstarError):
    """The objective cannot be run at all (it does not pickle, is not callable, …)."""


class SubmitError(XstarError):
    """The batch system did not take a job."""


class ProgramFailed(XstarError):
    """A run of a program (``xs.Command``) failed; the message says how it ended and ends with its last words."""

    def __init__(self, message: str, kind: str = "exception") -> None:
        self.kind = kind
        """What the trial's failure is called: ``killed`` runs are tried again."""
        super().__init__(message)

    def __reduce__(self) -> tuple[type[ProgramFailed], tuple[str, str]]:
        return type(self), (str(self), self.kind)


class MissingExtra(XstarError, ImportError):
    """An optional dependency is not installed; the message gives the command that installs it."""


class Infeasible(XstarError):
    """Raise it in an objective when a configuration cannot be evaluated (too large, too slow, not allowed).

    The trial is recorded as infeasible with the message as its reason; it does not count as a crash.
    """


class Pruned(BaseException):
    """``trial.report`` raises it when the trial shall go no further: a clean end, never a failure.

    Like ``KeyboardInterrupt`` it is no ``Exception``, so that it passes through ``except Exception`` in the code of others,
    which stands between a callback and the objective. Let it pass; ``finally`` and ``with`` do what they always do.
    """
