"""What an objective is handed: the configuration, the epochs to train, a place for checkpoints, and ``report``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

from xstar.core.checks import check_attrs
from xstar.errors import InvalidArgument, ObjectiveError, Pruned
from xstar.journal.lookup import no_attribute, no_epochs, value_of
from xstar.journal.trial import Config, Job
from xstar.run import ranks
from xstar.run.devices import HERE, Place
from xstar.run.states import States

UNFINISHED = (".new", ".tmp", ".part")
"""Endings of files on their way to becoming a checkpoint. A run killed before its rename leaves one: it is no checkpoint."""


class Reporter(Protocol):
    """Who takes what an objective says while it runs: :class:`~xstar.run.run.Run`."""

    def report(self, given: Any, budget: int | None) -> bool:
        """Record one report; False: the objective shall end."""

    def note(self, attrs: dict[str, Any]) -> None:
        """Keep attributes for the next report."""

    @property
    def budget(self) -> int:
        """The budget of the last report."""


class RunningTrial:
    """What an objective is handed: ``def train(trial: xs.RunningTrial)``. What stays on record of it is an ``xs.Trial``."""

    def __init__(self, job: Job, place: Place = HERE) -> None:
        self.number = job.trial
        self._config = job.config
        self.attempt = job.attempt
        """0 for the first run; higher after a promotion or a crash."""
        self._folder = Path(job.directory) / "checkpoint" if job.directory else None
        self.resumed = job.attempt > 0 and self._saved()
        """An earlier run left a checkpoint: load it before training on."""
        self.start = job.start if self.resumed else 0
        """Epochs that earlier runs reported (0 without a checkpoint: training begins anew)."""
        self.stop = job.stop
        """The run goes on to this epoch before anyone decides about it."""
        self.max_budget = job.full
        """The epochs of a complete trial; ``None`` where nobody said."""
        self.pruned = False
        """The trial shall go no further: ``report`` raised ``xs.Pruned``, here or in another thread."""
        self._place = place
        self._recorded = job.start  # the budget that the journal has
        self._epoch: int | None = None  # handed out by epochs()
        self._streams = False
        self._reporter: Reporter | None = None

    # ------------------------------------------------------------ what to train

    def __getitem__(self, name: str) -> Any:
        return value_of(self._config, name)

    if not TYPE_CHECKING:  # to a type checker it would mean that every name exists

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # while it is copied
                raise AttributeError(name)
            raise no_attribute(self._config, name)

    @property
    def config(self) -> Config:
        """The configuration, as a dictionary of your own: change it as you like, the trial keeps what was tried."""
        return self._config.copy()

    def epochs(self, done: int | None = None) -> Epochs:
        """The epochs to train, the next one first; ``done`` is how many the checkpoint contains, if it is known.

        After :meth:`load` it is known. A checkpoint of your own making that is behind the reports (it is saved every tenth
        epoch, say) makes the epochs begin earlier; what is reported again is ignored. One that is ahead (it was saved, then
        the program died) does not make them begin later: an epoch that was trained but not reported has to be evaluated.
        So, where you write the checkpoint yourself: ``if epoch > done:`` train, then evaluate.

        An objective that yields is handed all that are left and is closed at a ``yield`` when it shall go no further. One
        that calls :meth:`report` is handed those up to the next decision, and at once the next ones if it may go on. One
        that returns is handed only those of this run, and is called again if it may go on.
        """
        if done is not None:
            self.start = min(self.start, done)
        return Epochs(self, self.start)

    def _last(self) -> int:
        last = self.max_budget if self._streams else self.stop
        if last is None:
            raise no_epochs()
        return last

    def go_on(self, done: int) -> int:
        """Begin the part of the run after ``done`` epochs; returns where it ends. (For executors.)"""
        self.resumed = self._saved()
        self.start = done if self.resumed else 0
        self._recorded = done
        return self.stop or done + 1

    # ------------------------------------------------------------ where

    @property
    def worker(self) -> int:
        """The number of the worker that runs the trial: 0, 1, …, below ``workers``."""
        return self._place.worker

    @property
    def device(self) -> str:
        """Where to train: ``"cuda:0"``, the first GPU that this worker sees, or ``"cpu"``."""
        return self._place.device

    @property
    def cores(self) -> int:
        """How many cores are this worker's share: for a data loader, or a model's ``n_jobs``."""
        return self._place.cores

    # ------------------------------------------------------------ report

    def report(self, metrics: Any, budget: int | None = None) -> None:
        """Record a number or a dictionary of metrics; raises ``xs.Pruned`` when the trial shall go no further.

        For code that owns its loop: a callback of a training library, a loop in a function of yours. Each report is one unit
        of budget, as each ``yield`` is; ``budget`` may say which one it is, and has to be one more than the last. The first
        report of a resumed run may say any budget up to that: it tells where the checkpoint was.

        It may be called from any thread, which is the one that ``xs.Pruned`` is raised in; every further report raises it
        again. An objective that reports returns nothing, or the value that it reported last. It cannot yield as well: who
        reads it could not say which of the two counts as an epoch.

        Where ``torch.distributed`` is initialised, every rank reports: that of rank 0 counts, and all of them end alike.
        Rank 0 has to be the process that the objective was called in; the others may have a copy of the trial, by ``spawn``
        or ``fork``.
        """
        group = ranks.group()
        if group is None:
            alive = self._report(metrics, budget)
        else:
            said = ranks.agree(group, lambda: (self._report(metrics, budget), self.stop))
            alive, self.stop = said or (False, self.stop)  # none: rank 0 failed
        if not alive:
            self.pruned = True
            raise Pruned(f"trial {self.number} ends here")

    def _report(self, metrics: Any, budget: int | None) -> bool:
        if self._reporter is None:
            raise ObjectiveError(
                f"this copy of trial {self.number} cannot report: only the process that the objective was called in can. "
                "With torch.distributed, initialise the process group first and let that process be rank 0"
            )
        return self._reporter.report(metrics, budget)

    def note(self, key: str, value: Any) -> None:
        """Note something about this trial, any JSON, beside its metrics; it is recorded with the next report or the end.

        ``study.annotate`` does the same from outside. It changes no decision.
        """
        attrs = check_attrs({key: value})
        if self._reporter is not None and ranks.leads():
            self._reporter.note(attrs)

    # ------------------------------------------------------------ checkpoints

    def _saved(self) -> bool:
        if self._folder is None or not self._folder.is_dir():
            return False
        return any(not entry.name.endswith(UNFINISHED) for entry in self._folder.iterdir())

    @property
    def checkpoint(self) -> Path:
        """A directory of this trial's own, which survives pauses, crashes and moves between workers."""
        if self._folder is None:
            raise ObjectiveError("this executor gives trials no directory, so there is no trial.checkpoint")
        self._folder.mkdir(parents=True, exist_ok=True)
        return self._folder

    def save(self, state: Any, epoch: int | None = None) -> None:
        """Keep ``state``, which holds ``epoch`` epochs of training, in ``trial.checkpoint``; whole or not at all.

        ``state`` is a dictionary with torch tensors (``model.state_dict()``), anything that can be pickled, or the
        ``pathlib.Path`` of a folder, which is copied. ``epoch`` is the one that ``trial.epochs()`` handed out last; where you
        count epochs yourself, say it. Save *before* you report the epoch. The last two states are kept, so that one stays
        if the program dies between the two.

        On ranks other than 0 of ``torch.distributed`` it does nothing.
        """
        if epoch is None:
            epoch = self._epoch
        if epoch is None:
            remedy = "trial.save(state, epoch=…); trial.epochs() would know it"
            raise InvalidArgument("epoch", "must say how many epochs of training the state holds", None, remedy)
        if ranks.leads():
            States(self.checkpoint).save(state, epoch)

    def load(self) -> Any:
        """The state to train on from, or ``None``: begin anew. ``trial.epochs()`` then begins behind it.

        It is the last saved state whose epoch is on record: if the program died after it saved an epoch and before the report
        was recorded, it is the state before, and the epoch is trained again. A folder is returned as its ``pathlib.Path``:
        read it, do not change it. What was pickled is unpickled: a checkpoint is a program, load none that you do not trust.
        """
        if self._folder is None or not self.resumed:
            self.start = 0
            return None
        found = States(self._folder).find(self._recorded, self.stop)
        self.start = 0 if found is None else found.epoch
        return None if found is None else found.load()

    # ------------------------------------------------------------ copies

    @property
    def copied(self) -> bool:
        """Whether this is a copy in another process than the one that the objective was called in."""
        return self._reporter is None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reporter": None}  # a copy in another process has nobody to report to

    def __repr__(self) -> str:
        return f"RunningTrial({self.number}, config={self._config})"


class Epochs(Sequence[int]):
    """The epochs to train: a sequence like a ``range``, whose iterator goes on if the trial may, after a report at its end."""

    def __init__(self, trial: RunningTrial, start: int) -> None:
        trial._last()  # unknown: say so at once
        self._trial, self._start = trial, start

    def _range(self) -> range:
        return range(self._start + 1, self._trial._last() + 1)

    def __len__(self) -> int:
        return len(self._range())

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> range: ...
    def __getitem__(self, place: int | slice) -> int | range:
        return self._range()[place]

    def __iter__(self) -> Iterator[int]:
        epoch = self._start
        while epoch < self._trial._last():
            epoch += 1
            self._trial._epoch = epoch
            yield epoch

    def __contains__(self, epoch: object) -> bool:
        return epoch in self._range()

    def __eq__(self, other: object) -> bool:
        return other._range() == self._range() if isinstance(other, Epochs) else other == self._range()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Epochs({self._start + 1} to {self._trial._last()})"
