"""Hydra: the sweep behind ``hydra/sweeper=xstar``. A study chooses the overrides, Hydra's launcher runs the jobs.

The study is durable: the same command goes on where an earlier one ended or was killed, and several may share one sweep. The
class that Hydra finds is in the namespace ``hydra_plugins``, as Hydra demands.
"""

from __future__ import annotations

import logging
import re
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xstar.errors import InvalidArgument, InvalidSpace, ObjectiveError
from xstar.integrations import missing
from xstar.integrations.distributions import number_range
from xstar.journal.trial import State, Trial
from xstar.run.orphans import take_over
from xstar.space import Choice, Constant, Ordinal, Space
from xstar.storage.address import masked
from xstar.study import DEFAULT_STORAGE, Limits, Study
from xstar.study.limits import Fuse
from xstar.study.loop import job_of
from xstar.study.naming import headline

try:
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.core.override_parser.types import Override, QuotedString, Transformer
    from hydra.core.utils import JobReturn, JobStatus
    from omegaconf import OmegaConf
except ImportError as error:
    raise missing("hydra", "hydra-core") from error

log = logging.getLogger("xstar")

RESULTS = "optimization_results.yaml"
"""Written into the folder of the sweep, as other sweepers do."""
POLL_SECONDS = 1.0
"""Between two questions where only other programs have jobs."""


@dataclass(frozen=True)
class Swept:
    """One override of the command line: a parameter of the space, and how a value of it is written for Hydra."""

    name: str
    key: str
    parameter: Any
    texts: Mapping[Any, str] | None = None
    """Of options: the words of the command line. Numbers are written as Python writes them."""

    def override(self, value: Any) -> str:
        """``key=value``."""
        return f"{self.key}={repr(value) if self.texts is None else self.texts[value]}"


class Sweep:
    """One sweep with the settings of ``hydra.sweeper``, which ``XstarSweeperConf`` lists."""

    def __init__(self, sweeper: Any) -> None:
        settings = sweeper.settings
        if settings.workers < 1:
            raise InvalidArgument("hydra.sweeper.workers", "must be at least 1", settings.workers)
        if (settings.max_budget is None) != (settings.budget_key is None):
            rule = "and hydra.sweeper.budget_key belong together: which key of the configuration is the budget?"
            remedy = "e.g. max_budget=27 budget_key=epochs"
            raise InvalidArgument("hydra.sweeper.max_budget", rule, settings.max_budget, remedy)
        self.sweeper, self.settings, self.config = sweeper, settings, sweeper.config
        self.limits = Limits(trials=settings.trials, seconds=settings.seconds)
        self.fuse = Fuse(settings.max_failures)
        self.name = re.sub(r"[^\w.-]", "-", str(settings.study or self.config.hydra.job.name))
        self.storage = settings.storage or DEFAULT_STORAGE
        self.jobs = 0
        self.continuing: list[Trial] = []
        self.overrides: list[str | Swept] = []
        """In the order of the command line; of two overrides of a group and of a key in it, the second counts."""

    def run(self, arguments: Sequence[str]) -> list[list[JobReturn]]:
        """Run jobs until a limit is met; returns what the launcher returned for each batch."""
        space = self._read(arguments)
        folder = Path(self.config.hydra.sweep.dir)
        folder.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(self.config, folder / "multirun.yaml")
        with self._open(space) as study:
            self.jobs = len(study.trials)
            log.info(
                "study %r in %s has %d of %s trials", self.name, masked(self.storage), self.jobs, self.limits.trials
            )
            study._begin()
            try:
                return self._search(study)
            finally:
                study.leases.release("the sweep ended")
                self._conclude(study, folder)

    def _open(self, space: Space) -> Study:
        options = {name: getattr(self.settings, name) for name in ("method", "max_budget", "direction", "seed")}
        metric = self.settings.metric
        options["metric"] = OmegaConf.to_container(metric) if OmegaConf.is_config(metric) else metric
        storage = self.storage
        if "://" not in storage:  # Hydra may change the folder of a job: a path is meant from where the sweep was begun
            storage = str(Path(self.config.hydra.runtime.cwd) / Path(storage).expanduser())
        return Study(space, study=self.name, storage=storage, **options)

    def _read(self, arguments: Sequence[str]) -> Space:
        """The space; what is not swept is a constant of it, so that a sweep with other settings is another study."""
        configured = [f"{key}={'null' if value is None else value}" for key, value in self.settings.params.items()]
        parser = OverridesParser.create(config_loader=self.sweeper.hydra_context.config_loader)
        # The command line comes later and wins.
        given = {override.get_key_element(): override for override in parser.parse_overrides([*configured, *arguments])}
        parameters: dict[str, Any] = {}
        for key, override in given.items():
            name = re.sub(r"\W+", "__", key).strip("_")
            if name in parameters:
                raise InvalidSpace(
                    name, "must be the name of one key", key, "rename one: dots and slashes become two underscores"
                )
            if override.is_sweep_override():
                swept = read(name, override)
                self.overrides.append(swept)
                parameters[name] = swept.parameter
            else:
                line = override.input_line or key
                self.overrides.append(line)
                parameters[name] = Constant(line.partition("=")[2])
        if not any(isinstance(each, Swept) for each in self.overrides):
            remedy = "e.g. lr='tag(log,interval(1e-4,1e-1))' or optimizer=sgd,adam"
            raise InvalidSpace("overrides", "at least one must be swept", self.overrides, remedy)
        return Space(parameters)

    # ------------------------------------------------------------ the loop

    def _search(self, study: Study) -> list[list[JobReturn]]:
        done: list[list[JobReturn]] = []
        while True:
            batch = self.continuing
            while len(batch) < self.settings.workers and (trial := study.ask(self.limits)) is not None:
                batch.append(trial)
            if batch:
                done.append(self._launch(study, batch))
            elif study.ended is not None:
                log.info("%s", study.ended)
                return done
            else:
                time.sleep(POLL_SECONDS)  # others have jobs that the scheduler waits for

    def _launch(self, study: Study, batch: Sequence[Trial]) -> list[JobReturn]:
        lines = [self._overrides(study, trial) for trial in batch]
        self.sweeper.validate_batch_is_legal(lines)
        found: list[JobReturn] = list(self.sweeper.launcher.launch(lines, initial_job_idx=self.jobs))
        self.jobs += len(batch)
        self.continuing = []
        for trial, job in zip(batch, found, strict=True):
            self._record(study, trial, job)
            if trial.state is State.RUNNING:  # told to go on: another job takes it from here to its next rung
                self.continuing.append(trial)
        return found

    def _overrides(self, study: Study, trial: Trial) -> list[str]:
        lines = [each if isinstance(each, str) else each.override(trial[each.name]) for each in self.overrides]
        if self.settings.budget_key is not None:
            lines.append(f"{self.settings.budget_key}={trial.target}")
        if self.settings.checkpoint_key is not None:
            take_over(job_of(study, trial))
            folder = study.files.of(trial) / "checkpoint"
            folder.mkdir(parents=True, exist_ok=True)
            lines.append(f"{self.settings.checkpoint_key}={Transformer.str(str(folder))}")
        return lines

    def _record(self, study: Study, trial: Trial, job: JobReturn) -> None:
        if job.status is not JobStatus.COMPLETED:
            error = job._return_value  # the property would raise it
            reason = "".join(traceback.format_exception(error)) if isinstance(error, BaseException) else str(error)
            study.fail(trial, reason)
            log.warning("trial %d failed: %s", trial.number, error)
            if (why := self.fuse.failed(reason)) is not None and not study.history.has_value:
                raise ObjectiveError(f"{why}. Mend it; max_failures=null lets the sweep go on")
            return
        if job.return_value is None:
            study.fail(trial, "the task function returned nothing")
            names = " and ".join(map(repr, study.goals.metrics))
            raise ObjectiveError(f"the task function must return a number, or a dictionary with {names}")
        self.fuse.succeeded()
        if self.settings.budget_key is None:
            study.tell(trial, job.return_value)
        else:
            study.report(trial, job.return_value, trial.target)
        found = headline(study.history, 5)
        log.info("trial %d: %s%s", trial.number, study.goals.words(trial.metrics, 5), found and f"; best {found}")

    def _conclude(self, study: Study, folder: Path) -> None:
        """Write what was found."""
        if not study.history.has_value:
            return
        found: dict[str, Any] = {"name": "xstar", "study": self.name}
        if study.goals.several:
            found["solutions"] = [
                {"trial": each.number, "params": self._keys(each), "values": list(each.values.values())}
                for each in study.front
            ]
        else:
            best = study.best
            found |= {"trial": best.number, "best_value": best.value, "best_params": self._keys(best)}
        OmegaConf.save(OmegaConf.create(found), folder / RESULTS)

    def _keys(self, trial: Trial) -> dict[str, Any]:
        """A configuration by the keys of the command line."""
        return {each.key: trial[each.name] for each in self.overrides if isinstance(each, Swept)}


# ---------------------------------------------------------------- one override


def read(name: str, override: Override) -> Swept:
    """The parameter that a swept override describes."""
    key, value = override.get_key_element(), override.value()
    if override.is_interval_sweep():
        return Swept(name, key, _interval(key, value))
    if override.is_range_sweep():
        return Swept(name, key, _range(key, value))
    elements = list(override.sweep_iterator())
    options = [_plain(element) for element in elements]
    pairs = dict(zip(options, map(Transformer.str, elements), strict=True))
    if len(options) == 1:
        return Swept(name, key, Constant(options[0]), pairs)
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in options)
    parameter: Any = Ordinal(options) if numbers and options == sorted(options) else Choice(options)
    return Swept(name, key, parameter, pairs)


def _plain(element: Any) -> Any:
    """An option as the study stores it: a number, a truth value, ``None`` or words; lists and dictionaries are words."""
    if isinstance(element, QuotedString):
        return element.text
    return element if isinstance(element, str | int | float | bool | None) else Transformer.str(element)


def _interval(key: str, given: Any) -> Any:
    low, high, log_scale = given.start, given.end, "log" in given.tags
    unknown = sorted(given.tags - {"log"})
    if unknown:
        raise InvalidSpace(key, "may have the tag log and no other", unknown, "tag(log, interval(1e-4, 1e-1))")
    return number_range(low, high, whole=isinstance(low, int) and isinstance(high, int), log=log_scale)


def _range(key: str, given: Any) -> Any:
    """Of a range the upper end is not among the values, as in Python."""
    values = list(given.range())
    if not values:
        raise InvalidSpace(key, "must have at least one value", f"range({given.start}, {given.stop}, {given.step})")
    if len(values) == 1:
        return Constant(values[0])
    if all(isinstance(each, int) for each in values) and given.step in (1, None):
        return number_range(values[0], values[-1], whole=True, log="log" in given.tags)
    return Ordinal(sorted(values))
