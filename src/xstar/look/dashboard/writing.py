"""The addresses that change a study, behind the token: for people (enqueue, add, annotate) and for programs in any language.

A program that owns its training loop asks for a trial, reports while it trains and tells the value, as ``xs.Study`` does in
Python. The trials it asks for are held by this server, whose lease is renewed while it lives.
"""

from __future__ import annotations

import pathlib
import threading
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, ConfigDict, Field

from xstar.look.dashboard.reading import Answer
from xstar.look.describe import trial_row
from xstar.study import Study

MOST_STUDIES = 16

Config = dict[str, Any]
Metrics = float | dict[str, float]
Number = Annotated[int, Path(ge=0, le=2**53, description="The trial's number.")]


class Strict(BaseModel):
    """A body without surprises."""

    model_config = ConfigDict(extra="forbid")


class EnqueueBody(Strict):
    """A configuration, or a part of one, to be tried first."""

    config: Config


class AddBody(Strict):
    """An observation made elsewhere."""

    config: Config
    metrics: Metrics
    budget: int | None = Field(None, ge=1, le=2**53)


class AnnotateBody(Strict):
    """Names and values of any JSON."""

    attrs: Config


class ReportBody(Strict):
    """Metrics at a budget (left out: one more than the last)."""

    metrics: Metrics
    budget: int | None = Field(None, ge=1, le=2**53)


class TellBody(Strict):
    """The final value or metrics."""

    metrics: Metrics


class HoldBody(Strict):
    """Whether trials may be started."""

    state: Literal["pause", "stop", "resume"]


class FailBody(Strict):
    """Why a trial has no value."""

    reason: str = Field(max_length=20_000)
    kind: str = Field("exception", max_length=20)


class Writers:
    """The studies that were changed through this server."""

    def __init__(self, storage: str, directory: pathlib.Path | None) -> None:
        self._storage, self._directory = storage, directory
        self._studies: dict[str, Study] = {}
        self._lock = threading.Lock()

    def get(self, name: str) -> Study:
        """The study, to take part in."""
        with self._lock:
            found = self._studies.get(name)
            if found is None:
                found = self._studies[name] = Study.open(name, self._storage, directory=self._directory)
                while len(self._studies) > MOST_STUDIES:
                    idle = next(
                        (key for key, study in self._studies.items() if not study.leases.attempts and key != name), None
                    )
                    if idle is None:
                        break
                    self._studies.pop(idle).close()
            return found

    def close(self) -> None:
        """Give up what still runs here."""
        for study in self._studies.values():
            study.close()


def router(writers: Writers) -> APIRouter:
    """The addresses."""
    api = APIRouter(prefix="/api", tags=["writing"])

    @api.post("/studies/{name}/enqueue")
    def enqueue(name: str, body: EnqueueBody) -> Response:
        """Have a configuration tried before the searcher is asked again."""
        study = writers.get(name)
        study.enqueue(body.config)
        return Answer({"queued": len(study.history.queue)})

    @api.post("/studies/{name}/hold")
    def hold(name: str, body: HoldBody) -> Response:
        """Pause a study, stop it, or let it go on."""
        study = writers.get(name)
        {"pause": study.pause, "stop": study.stop, "resume": study.resume}[body.state]()
        return Answer({"hold": study.history.hold})

    @api.post("/studies/{name}/add")
    def add(name: str, body: AddBody) -> Response:
        """Record an observation made elsewhere."""
        study = writers.get(name)
        return Answer(trial_row(study.history, study.add(body.config, body.metrics, body.budget)))

    @api.post("/studies/{name}/ask")
    def ask(name: str) -> Response:
        """The next trial to run; ``trial`` is null if there is none, and ``ended`` says why if none will come."""
        study = writers.get(name)
        trial = study.ask()
        if trial is None:
            return Answer({"trial": None, "ended": study.ended})
        config = study.space.dump(trial.config)
        found = {"number": trial.number, "config": config, "budget": trial.budget, "target": trial.target}
        return Answer({"trial": {**found, "attempt": trial.attempt}, "ended": None})

    @api.post("/studies/{name}/trials/{number}/report")
    def report(name: str, number: Number, body: ReportBody) -> Response:
        """Record metrics and hear what the trial shall do: continue, pause or stop."""
        return Answer({"verdict": writers.get(name).report(number, body.metrics, body.budget).value})

    @api.post("/studies/{name}/trials/{number}/tell")
    def tell(name: str, number: Number, body: TellBody) -> Response:
        """Record the final value of a trial, which is thereby complete."""
        study = writers.get(name)
        study.tell(number, body.metrics)
        return Answer(trial_row(study.history, study.history.trials[number]))

    @api.post("/studies/{name}/trials/{number}/fail")
    def fail(name: str, number: Number, body: FailBody) -> Response:
        """Record that a run ended without a value."""
        study = writers.get(name)
        study.fail(number, body.reason, body.kind)
        return Answer(trial_row(study.history, study.history.trials[number]))

    @api.post("/studies/{name}/trials/{number}/annotate")
    def annotate(name: str, number: Number, body: AnnotateBody) -> Response:
        """Note something about a trial. It changes no decision."""
        study = writers.get(name)
        study.annotate(number, body.attrs)
        return Answer({"attrs": dict(study.history.trials[number].attrs)})

    return api
