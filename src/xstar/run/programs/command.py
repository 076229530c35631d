"""A command line as an objective: ``xs.minimize(xs.Command("./train.sh {lr}"), space, …)``, and ``xstar run FILE.toml``."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xstar.core.checks import as_float, check_names as check_choices, check_switches, whole_number
from xstar.core.words import BY_WHOM
from xstar.errors import Infeasible, InvalidArgument, MissingMetric, ProgramFailed
from xstar.run.programs.exchange import Exchange
from xstar.run.programs.placeholders import check_names, fill, fill_words
from xstar.run.programs.reports import Ahead, Epochs, Reported, read_report
from xstar.run.programs.session import Session
from xstar.space import Space

SIGNALS = {"TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP}
SIGNALS |= {"USR1": signal.SIGUSR1, "USR2": signal.SIGUSR2}

STOP_GRACE = 10.0
"""Seconds to save a checkpoint: a few gigabytes on a local disk. Batch systems give 30 to 120 before they kill."""

LOG_LIMIT = 10_000_000
"""Bytes: a day's worth of progress lines. A thousand trials that print without end would otherwise fill the disk."""

NO_REPORT = (
    'the program ended without a report. Print a line such as {"loss": 0.3} to standard output (and flush it), append one to '
    'the file named by XSTAR_METRICS, or call "$XSTAR_REPORT" loss=0.3'
)

PRIVATE = ("XSTAR_STORAGE",)
"""Environment variables that are ours: a database's URL may hold its password, and no program needs it."""


@dataclass(frozen=True)
class Command:
    """A program that is run once per trial: its parameters on the command line, its metrics as lines of JSON.

    A report is a line of standard output, or of the file named by ``XSTAR_METRICS``, that is a JSON object with numbers;
    ``{"loss": 0.3, "epoch": 3}`` says which epoch it is of. With ``max_budget`` there is one per epoch, and the program may be
    stopped at each; without, the last one counts.
    """

    command: str | Sequence[str]
    """The words to run, or one string that is split as a shell would; ``{lr}`` stands for a parameter."""
    shell: bool = False
    """Whether a string is run by ``/bin/sh``; values are then quoted."""
    directory: str | os.PathLike[str] | None = None
    """The folder the program runs in; by default, the current one."""
    env: Mapping[str, str] = field(default_factory=dict)
    """Environment variables beside those of this process; placeholders are filled in."""
    reports: str = "epochs"
    """``"epochs"``: one report per epoch. ``"last"``: the program trains from ``XSTAR_START`` to ``XSTAR_BUDGET`` and only its
    last report counts."""
    metric: str | None = None
    """A line without this metric is no report. ``None``: the metric of the search, or any number if that names none."""
    stop_grace: float = STOP_GRACE
    """Seconds between the signal to stop and the end of the program and all that it started."""
    stop_signal: str = "TERM"
    """``TERM``, ``INT``, ``HUP``, ``USR1``, ``USR2``; ``none``: the file named by ``XSTAR_VERDICT`` says it alone."""
    infeasible_exit: int | None = None
    """The exit code that says that a configuration cannot be evaluated."""
    log_limit: int = LOG_LIMIT
    """Bytes of standard output, and of standard error, that are kept of one run."""

    def __post_init__(self) -> None:
        example = 'e.g. command = ["python", "train.py", "--lr", "{lr}"]'
        given = self.command
        words = [given] if isinstance(given, str) else list(given) if isinstance(given, Sequence) else []
        if not words or not all(isinstance(word, str) and "\0" not in word for word in words) or not words[0].strip():
            raise InvalidArgument("command", "must be a string or a list of strings", given, example)
        check_switches(self, "shell")
        if self.shell and not isinstance(given, str):
            raise InvalidArgument("command", "must be one string with shell=True", given, "or leave shell out")
        if not isinstance(given, str):
            object.__setattr__(self, "command", tuple(words))
        else:
            self._split()
        grace = as_float(self.stop_grace)
        if grace is None or not 0 <= grace < 1e6:
            raise InvalidArgument("stop_grace", "must be a number of seconds, 0 or more", self.stop_grace, "e.g. 30")
        object.__setattr__(self, "stop_grace", grace)
        check_choices(self, {"reports": ("epochs", "last"), "stop_signal": (*SIGNALS, "none")})
        if (
            self.infeasible_exit is not None
            and not 1 <= whole_number("infeasible_exit", self.infeasible_exit, least=1) < 256
        ):
            raise InvalidArgument("infeasible_exit", "must be an exit code from 1 to 255", self.infeasible_exit)
        object.__setattr__(self, "log_limit", whole_number("log_limit", self.log_limit, least=0))
        if not isinstance(self.env, Mapping) or not all(
            isinstance(text, str) for item in self.env.items() for text in item
        ):
            raise InvalidArgument(
                "env", "must map names to strings", self.env, 'e.g. env = {CUDA_VISIBLE_DEVICES = "0"}'
            )

    def fitted(self, space: Space, metric: str | None) -> Command:
        """The command for a search: its placeholders are in the space, and a line without the metric is no report."""
        check_names([*self.words(), *self.env.values()], list(space))
        return self if self.metric is not None else replace(self, metric=metric)

    def _split(self) -> list[str]:
        assert isinstance(self.command, str)
        try:
            return [self.command] if self.shell else shlex.split(self.command)
        except ValueError as error:
            remedy = "close it, or write a list of words"
            raise InvalidArgument(
                "command", f"must be words as a shell has them ({error})", self.command, remedy
            ) from None

    def words(self) -> list[str]:
        """The command line, placeholders and all."""
        return self._split() if isinstance(self.command, str) else list(self.command)

    # ------------------------------------------------------------ one trial

    def __call__(self, trial: Any) -> Any:
        """Run the program for a trial: its last metrics, or with epochs to count a generator of those of each epoch."""
        if trial.stop is None or self.reports == "last":
            return self._last(trial)
        return self._per_epoch(trial)

    def _last(self, trial: Any) -> Mapping[str, float]:
        last: Reported | None = None
        with self._run(trial, trial.stop, trial.start) as run:
            for report, end in run.reports():
                last = report
                run.exchange.judge("continue", end)
        if last is None:
            raise run.no_report()
        return last.metrics

    def _per_epoch(self, trial: Any) -> Generator[Mapping[str, float], None, None]:
        ahead = Ahead(trial.checkpoint, trial.start, resumed=trial.resumed)
        try:
            yield from ahead.take()
            some, epochs = ahead.last > 0, Epochs(trial, ahead.last)
            with self._run(trial, trial.max_budget, ahead.last) as run:
                reports = run.reports()
                try:
                    for report, end in reports:
                        some = True
                        ahead.add(report.metrics, run.counted(report, epochs))
                        yield from ahead.take()
                        run.exchange.judge("continue", end)
                except GeneratorExit:  # it shall go no further; what it has reported by then is for its next run
                    run.stop()
                    with contextlib.suppress(Infeasible, ProgramFailed):
                        while epochs.last < trial.max_budget and (found := next(reports, None)) is not None:
                            ahead.add(found[0].metrics, run.counted(found[0], epochs))
                    raise
            if not some:
                raise run.no_report()
        finally:
            ahead.keep()

    @contextlib.contextmanager
    def _run(self, trial: Any, budget: int | None, start: int) -> Iterator[_Run]:
        """The running program; it is ended when the block is left, and then asked how it ended."""
        run = _Run(self, trial, budget, start)
        try:
            run.session.begin()
            yield run
        except BaseException as error:
            run.exchange.judge("stop")
            run.session.close(at_once=isinstance(error, KeyboardInterrupt))
            raise
        run.session.close()
        run.check_end()


class _Run:
    """One run of a command."""

    def __init__(self, command: Command, trial: Any, budget: int | None, start: int) -> None:
        self.command = command
        config = trial.config
        self.exchange = exchange = Exchange(trial.checkpoint.parent, trial.checkpoint, config)
        numbers = {"trial": trial.number, "attempt": trial.attempt, "start": start, "budget": budget}
        paths = {"checkpoint": exchange.checkpoint, "config": exchange.config, "folder": exchange.folder}
        values = {name: str(path) for name, path in paths.items()}
        values = {**values, **{name: number for name, number in numbers.items() if number is not None}, **config}
        self._other: set[str] = set()
        self.session = Session(
            self._argv(values, config),
            env=self._environment(values, exchange.variables(**numbers, worker=trial.worker, device=trial.device)),
            cwd=None if command.directory is None else os.fspath(command.directory),
            folder=exchange.folder,
            log_limit=command.log_limit,
            grace=command.stop_grace,
            stop_signal=SIGNALS.get(command.stop_signal, 0),
        )

    def _argv(self, values: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
        command = self.command
        if command.shell:
            return ["/bin/sh", "-c", fill(str(command.command), values, quoted=True)]
        words = fill_words(command.words(), values)
        if not words:
            raise ProgramFailed(f"nothing is left of the command for the configuration {dict(config)}")
        return words

    def _environment(self, values: Mapping[str, Any], own: Mapping[str, str]) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if name not in PRIVATE}
        # Python keeps what it prints to a pipe until it has 8 kB: reports would come late, or after the end.
        inherited.setdefault("PYTHONUNBUFFERED", "1")
        given = {name: fill(text, values) for name, text in self.command.env.items()}
        return {**inherited, **own, **given}

    def reports(self) -> Iterator[tuple[Reported, int]]:
        """(report, how far the file of metrics is read with it) until the program is over."""
        waiting: deque[tuple[Reported, int]] = deque()
        for line in self.session.lines():
            if line is None:
                self._take_from_file(waiting, last=False)
            elif (report := self._watched(read_report(line))) is not None:
                waiting.append((report, 0))
            while waiting:
                yield waiting.popleft()
        self._take_from_file(waiting, last=True)
        yield from waiting

    def _take_from_file(self, waiting: deque[tuple[Reported, int]], *, last: bool) -> None:
        for end, line in self.exchange.last_lines() if last else self.exchange.new_lines():
            report = self._watched(read_report(line))
            if report is not None:
                waiting.append((report, end))
                continue
            shown = line[:200].decode(errors="replace")
            self.session.errors.note(f"a line of {self.exchange.metrics.name} is no report and is left out: {shown!r}")
            self.exchange.judge("continue", end)

    def _watched(self, report: Reported | None) -> Reported | None:
        if report is None:
            return None
        if report.infeasible is not None:
            raise Infeasible(report.infeasible)
        metric = self.command.metric
        if metric is not None and metric not in report.metrics:
            self._other.update(report.metrics)
            return None
        return report

    def counted(self, report: Reported, epochs: Epochs) -> range:
        """The epochs that a report stands for; the log says so, unless it is one."""
        count = epochs.count(report.epoch)
        if count != 1:
            what = "repeats an earlier one and does not count" if not count else f"stands for {count} epochs"
            self.session.errors.note(f"the report of epoch {report.epoch:g} {what}")
        return range(epochs.last - count + 1, epochs.last + 1)

    def stop(self) -> None:
        """Tell the program to stop, and wait for its end; what it reported until then can still be read."""
        self.exchange.judge("stop")
        self.session.stop()

    def no_report(self) -> Exception:
        """What is wrong with a program that ended well without a report."""
        if self._other:
            rule = f"must contain the watched metric {self.command.metric!r}"
            remedy = f"print it, or set metric to one of {sorted(self._other)}"
            return MissingMetric("metrics", rule, sorted(self._other), remedy)
        return ProgramFailed(f"{NO_REPORT}{self._last_words()}")

    def check_end(self) -> None:
        """Nothing, if the program ended with code 0."""
        how, _, what = (self.session.ended or "").partition(" ")
        if how == "exit" and what == "0":
            return
        if how == "exit" and what == str(self.command.infeasible_exit):
            raise Infeasible(self.session.errors.last_words() or f"the program ended with exit code {what}")
        if how == "exit":
            raise ProgramFailed(f"the program ended with exit code {what}{self._last_words()}")
        if how == "error":
            raise ProgramFailed(f"the program cannot be started: {what}: {shlex.join(self.command.words())}")
        name = signal.Signals(int(what)).name if what.isdecimal() and int(what) in set(signal.Signals) else what
        by = BY_WHOM if name == "SIGKILL" else ""
        raise ProgramFailed(f"the program was killed by signal {name}{by}{self._last_words()}", "killed")

    def _last_words(self) -> str:
        words = self.session.errors.last_words()
        return f"; the end of its standard error:\n{words}" if words else ""
