"""Trials on a Ray cluster: one actor per slot, kept for many trials, and as many slots as the cluster has room for now.

An actor starts the same worker program as local processes are (``relay.py``), so an objective cannot tell the difference. The
driver looks at the cluster every few seconds: nodes that joined get slots, what ran on nodes that left has failed as if its
worker had been killed, and the study runs it again. Actors belong to the driver, and Ray ends them when it dies.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
import time
from pathlib import Path
from typing import Any

import cloudpickle

from xstar.core.clock import monotonic_clock
from xstar.core.goals import Goals
from xstar.core.words import last_line, plural
from xstar.errors import ObjectiveError
from xstar.journal.messages import MACHINE_MEMORY
from xstar.journal.trial import Job, Outcome
from xstar.run.carrying import CHECKPOINT, MessageCarrier, UrlCarrier, packed, unpack
from xstar.run.contract import TICK
from xstar.run.devices import Place
from xstar.run.objective import Objective, check_objective
from xstar.run.orphans import take_over
from xstar.run.pool import FAILED_STARTS, WorkerPool, pickled
from xstar.run.processes import BEGIN
from xstar.run.ray.cluster import (
    LOOK_SECONDS,
    Actors,
    Node,
    Nodes,
    Token,
    check_room,
    connect,
    spread,
    unfit,
)
from xstar.run.ray.settings import OBJECTS, SHARED, Ray
from xstar.run.ray.slot import Slot, Stage

log = logging.getLogger("xstar")

START_SECONDS = 10.0
"""Seconds that a slot may wait for room before another node is tried as well, and before the user hears of it."""

CLOSING_SECONDS = 10.0
"""How long the end of all workers is waited for before their actors are killed."""

FULL_SECONDS = 300.0
"""How long a node whose disk was full gets no trials: someone has to make room first."""


class RayExecutor(WorkerPool[Slot]):
    """Slots on a Ray cluster. ``folder`` is the study's, where checkpoints and output are kept."""

    def __init__(
        self, objective: Objective, goals: Goals, settings: Ray, folder: Path, timeout: float | None = None
    ) -> None:
        super().__init__(timeout)
        check_objective(objective)
        self._settings = settings
        self._folder = folder
        payload = pickled(objective, goals, None)
        self._ray, self._connected = connect(settings.address)
        self._starting: list[Slot] = []
        self._nodes = Nodes(self._ray)
        self._token: Token | None = None
        self._next_look = 0.0
        self._told_at = monotonic_clock()
        self._begun = False
        self.store = (
            UrlCarrier(f"{settings.checkpoints.rstrip('/')}/{folder.name}") if "://" in settings.checkpoints else None
        )
        carrier = self.store or (MessageCarrier() if settings.checkpoints == OBJECTS else None)
        try:
            if settings.checkpoints == SHARED:
                self._token = Token(folder)
            log.info("checkpoints are kept %s", self._kept())
            self._begin = (payload, carrier)
            self._actors = Actors(self._ray, settings, folder)
            self._actors.end_those_of_dead_drivers()
            if settings.slots is None:
                check_room(list(self._nodes.living().values()), settings.needs)
            while not self._workers:
                self._wait(TICK)
            self._begun = True
        except BaseException:
            self.close()
            raise

    def _kept(self) -> str:
        if self.store is not None:
            return f"at {self.store.url}"
        if self._settings.checkpoints == OBJECTS:
            return f"in {self._folder} on this machine, and travel there through Ray's object store"
        return f"in {self._folder}, which all nodes have to see"

    # ------------------------------------------------------------ slots come and go

    def _follow(self) -> None:
        """Every few seconds: ask for slots where there is room, give up those whose node has left."""
        now = monotonic_clock()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        nodes = self._nodes.living()
        for slot in [*self._workers, *self._starting]:
            if slot.node.id not in nodes and slot.lost is None:
                slot.lost = "the node left the cluster"
        for slot in [slot for slot in self._starting if slot.lost is not None]:
            self._give_up(slot)
        self._fill(self._nodes.usable(nodes.values(), now), now)
        if not self._workers and now - self._told_at > START_SECONDS:
            self._told_at = now
            log.warning(
                "no slot: %s waiting for room on %s; the search goes on when there is some",
                plural(len(self._starting), "slot"), plural(len(nodes), "node"),
            )  # fmt: skip

    def _fill(self, nodes: list[Node], now: float) -> None:
        """As many slots as there is room for, spread over the nodes; if they are limited, no more than that."""
        limit = sys.maxsize if self._settings.slots is None else self._settings.slots
        if len(self._workers) >= limit:
            for slot in list(self._starting):  # asked for in vain elsewhere, while others were not there yet
                self._give_up(slot)
            return
        slots = [*self._workers, *self._starting]
        missing = limit - len(slots) + sum(now - slot.since > START_SECONDS for slot in self._starting)
        taken = [slot.node.id for slot in slots]
        for node in spread(nodes, taken, missing, limit, self._settings.needs):
            self._ask_for_slot(node, now)

    def _ask_for_slot(self, node: Node, now: float) -> None:
        used = {slot.number for slot in [*self._workers, *self._starting]}
        number = next(number for number in range(len(used) + 1) if number not in used)
        slot = Slot(number, node, self._actors.make(node), now)
        self._starting.append(slot)
        slot.look(None if self._token is None else str(self._token.path))

    def _give_up(self, slot: Slot) -> None:
        """Forget a slot and end its actor."""
        for slots in (self._workers, self._starting):
            if slot in slots:
                slots.remove(slot)
        slot.end()
        self._actors.end(slot.actor, slot.number)

    # ------------------------------------------------------------ what actors answer

    def _wait(self, seconds: float) -> None:
        self._follow()
        for slot in self._workers:
            slot.listen()
        awaited = {slot.answer: slot for slot in [*self._workers, *self._starting] if slot.answer is not None}
        if not awaited:
            time.sleep(seconds)
            return
        answers = list(awaited)
        ready, _ = self._ray.wait(answers, num_returns=1, timeout=seconds)
        if ready and len(answers) > 1:
            ready, _ = self._ray.wait(answers, num_returns=len(answers), timeout=0)
        for answer in ready:
            self._take(awaited[answer])

    def _take(self, slot: Slot) -> None:
        answer, slot.answer = slot.answer, None
        try:
            given = self._ray.get(answer)
        except self._ray.exceptions.RayError as error:
            self._lose(slot, error)
            return
        if slot.stage is Stage.LOOK:
            self._inspect(slot, given)
        elif slot.stage is Stage.START:
            self._nodes.succeeded(slot.node)
            self._starting.remove(slot)
            self._workers.append(slot)
        else:
            slot.take(given)

    def _inspect(self, slot: Slot, seen: dict[str, Any]) -> None:
        """What its node is like: fit to run trials, or not."""
        if reason := unfit(slot.node, seen, self._folder):
            if not self._begun:
                raise ObjectiveError(f"the search cannot run on this cluster: {reason}")
            if not self._nodes.is_avoided(slot.node, monotonic_clock()):
                self._nodes.leave_alone(slot.node)
                log.error("%s; it gets no trials", reason)
            self._give_up(slot)
            return
        self._start_worker(slot)

    def _start_worker(self, slot: Slot) -> None:
        if slot not in self._starting:
            self._starting.append(slot)
        cores = max(1, int(self._settings.cpus))
        payload, carrier = self._begin
        begin = cloudpickle.dumps(("begin", payload, Place(slot.number, cores), carrier))
        threads = Place(slot.number, cores).environment({})
        slot.start(begin, BEGIN, threads, self._settings.gpus == 0, list(sys.path), os.getcwd())

    def _lose(self, slot: Slot, error: Exception) -> None:
        """The actor does not answer: it, its node, or the way there is dead."""
        slot.lost = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
        self._next_look = 0.0
        if slot not in self._starting:
            return  # poll() sees that it is gone
        self._give_up(slot)
        self._avoid(slot.node, error)

    def _avoid(self, node: Node, error: Exception) -> None:
        """An actor did not start on this node: it is dead, which Ray has yet to notice, or something is wrong with it."""
        now = monotonic_clock()
        if self._nodes.is_avoided(node, now):
            return  # asked for together with one that did not start, either
        if self._nodes.failed(node, now) < FAILED_STARTS:
            return
        text = f"actors do not start on node {node.name}: {error}"
        if not self._begun and node.id in self._nodes.living():
            raise ObjectiveError(text)
        log.warning("%s; it is tried again later", text)

    # ------------------------------------------------------------ what the pool asks for

    def _share(self, memory: str, one: Slot, other: Slot) -> bool:
        if one is other or one.node.id != other.node.id:
            return False
        return memory == MACHINE_MEMORY or 0 < self._settings.gpus < 1  # whole ones are a slot's own

    def _replace(self, worker: Slot) -> None:
        if worker.lost is None:
            with contextlib.suppress(self._ray.exceptions.RayError):
                # Dead before its trial runs elsewhere.
                self._ray.get(worker.actor.end.remote(), timeout=CLOSING_SECONDS)
                self._workers.remove(worker)
                self._start_worker(worker)
                return
        self._give_up(worker)
        self._next_look = 0.0

    def _restart(self, worker: Slot) -> None:
        if worker.job is not None:
            self._later.append(worker.job)
        if worker.lost is None:
            self._failed_starts += 1
            if self._failed_starts >= FAILED_STARTS or (worker.code or 0) >= 0:
                raise ObjectiveError(f"worker processes do not start: {worker.how_it_died()}")
        self._replace(worker)

    def _where(self, worker: Slot) -> str:
        return (
            f"on node {worker.node.name} (install what it imports there, or send it along: "
            "ray.init(address='auto', runtime_env={'working_dir': '.'}) before the search)"
        )

    def _pack(self, job: Job) -> tuple[Any, ...]:
        if self._settings.checkpoints != SHARED:  # else the worker does it
            take_over(job)
        brought = None
        if self._settings.checkpoints == OBJECTS and job.attempt and job.directory is not None:
            brought = packed(Path(job.directory) / CHECKPOINT)
        return ("job", cloudpickle.dumps(job), brought)

    def _hear(self, worker: Slot, kind: str, rest: list[Any], found: list[Outcome]) -> None:
        super()._hear(worker, kind, rest, found)
        node, now = worker.node, monotonic_clock()
        if kind == "failed" and rest[1] == "disk" and str(self._folder) not in (full := last_line(rest[2])):
            # It would fail one trial after the other, and be free for the next one before all others.
            log.error("node %s gets no trials for %g s: %s", node.name, FULL_SECONDS, full)
            self._nodes.leave_alone(node, now + FULL_SECONDS)
        if self._nodes.is_avoided(node, now):
            for slot in [slot for slot in self._workers if slot.node.id == node.id and slot.job is None]:
                self._give_up(slot)

    def _hear_more(self, worker: Slot, kind: str, words: list[Any]) -> None:
        assert worker.job is not None
        assert worker.job.directory is not None
        folder = Path(worker.job.directory)
        folder.mkdir(parents=True, exist_ok=True)
        if kind == "checkpoint":
            unpack(io.BytesIO(words[0]), folder / CHECKPOINT)
        elif kind == "output":
            for name, data in words[0].items():
                with (folder / name).open("ab") as file:
                    file.write(data)
        else:
            super()._hear_more(worker, kind, words)

    def close(self) -> None:
        slots, self._workers, self._starting = [*self._workers, *self._starting], [], []
        if self._token is not None:
            self._token.remove()
        if not self._ray.is_initialized():
            return
        ended = [slot.actor.end.remote() for slot in slots if slot.lost is None and slot.stage is Stage.SERVE]
        if ended:
            self._ray.wait(ended, num_returns=len(ended), timeout=CLOSING_SECONDS)
        for slot in slots:
            self._give_up(slot)
        if self._connected:
            self._connected = False
            self._ray.shutdown()
