"""A program in any language: ask, report, tell over the wire; and what a person may change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

pytest.importorskip("fastapi", reason="the dashboard needs its extra")

import httpx

import xstar as xs
from tests.look.dashboard.servers import TOKEN, Server, client, stored
from tests.trials import ask
from tests.waiting import PATIENCE
from xstar.look.audit import audit
from xstar.look.dashboard.writing import MOST_STUDIES, Writers


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return stored(tmp_path, trials=4, method="asha", max_budget=9)


@pytest.fixture
def asking(storage: Path) -> Iterator[httpx.Client]:
    with client(storage, token=TOKEN, write=True, headers={"authorization": f"Bearer {TOKEN}"}) as made:
        yield made


def ok(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_training_loop_over_the_wire(asking: httpx.Client, storage: Path) -> None:
    for _ in range(6):
        trial = ok(asking.post("/api/studies/s/ask"))["trial"]
        verdict = "continue"
        for epoch in range(trial["budget"] + 1, trial["target"] + 1):
            body = {"metrics": {"loss": trial["config"]["x"] + 1 / epoch}, "budget": epoch}
            verdict = ok(asking.post(f"/api/studies/s/trials/{trial['number']}/report", json=body))["verdict"]
        assert verdict in ("pause", "continue")
    trial = ok(asking.post("/api/studies/s/ask"))["trial"]
    assert (
        ok(asking.post(f"/api/studies/s/trials/{trial['number']}/tell", json={"metrics": 0.01}))["state"] == "complete"
    )
    trial = ok(asking.post("/api/studies/s/ask"))["trial"]
    assert ok(asking.post(f"/api/studies/s/trials/{trial['number']}/fail", json={"reason": "no"}))["state"] == "failed"
    with xs.Study.open("s", storage) as study:
        assert study.best.value == 0.01
        assert audit(study).findings == []


def test_people_pause_stop_and_go_on(asking: httpx.Client, storage: Path) -> None:
    for state, held in (("pause", "pause"), ("stop", "stop"), ("resume", "go")):
        assert ok(asking.post("/api/studies/s/hold", json={"state": state}))["hold"] == held
    assert asking.post("/api/studies/s/hold", json={"state": "wait"}).status_code == 422
    with xs.Study.open("s", storage) as study:
        assert study.history.hold == "go"


def test_people_enqueue_add_and_annotate(asking: httpx.Client, storage: Path) -> None:
    config = {"x": 0.25, "lr": 0.5, "kind": "b"}
    assert ok(asking.post("/api/studies/s/enqueue", json={"config": config}))["queued"] == 1
    ok(asking.post("/api/studies/s/add", json={"config": config, "metrics": {"loss": 0.5}}))
    ok(asking.post("/api/studies/s/trials/0/annotate", json={"attrs": {"by": "me"}}))
    with xs.Study.open("s", storage) as study:
        assert study.trials[0].attrs == {"by": "me"}
        assert study.trials[-1].config == config
        asked = study.ask()
        assert asked is not None


def test_a_study_with_a_running_trial_is_not_released(tmp_path: Path) -> None:
    names = [f"s{number}" for number in range(MOST_STUDIES + 1)]
    for name in names:
        xs.Study(xs.Space(x=xs.Float(0, 1)), study=name, storage=tmp_path / "x.db", method="random").close()
    writers = Writers(str(tmp_path / "x.db"), None)
    first, *others = (writers.get(name) for name in names[:-1])
    running = ask(first)
    writers.get(names[-1])
    assert writers.get(names[0]) is first
    first.tell(running, 0.5)
    assert writers.get(names[1]) is not others[0]  # the idle one in its place
    writers.close()


@pytest.mark.parametrize(
    ("address", "body", "status"),
    [
        ("enqueue", {"config": {"nothing": 1}}, 422),
        ("enqueue", {}, 422),
        ("enqueue", {"config": {}, "more": 1}, 422),
        ("add", {"config": {"x": 0.5}, "metrics": 1.0}, 422),
        ("trials/0/report", {"metrics": {"loss": 1.0}}, 422),
        ("trials/99/tell", {"metrics": 1.0}, 404),
        ("trials/-1/tell", {"metrics": 1.0}, 422),
        ("trials/0/fail", {"reason": "x", "kind": "nothing"}, 422),
    ],
)
def test_what_cannot_be_is_refused(asking: httpx.Client, storage: Path, address: str, body: Any, status: int) -> None:
    before = len(ok(asking.get("/api/studies/s/trials"))["trials"])
    answer = asking.post(f"/api/studies/s/{address}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"]
    assert len(ok(asking.get("/api/studies/s/trials"))["trials"]) == before


def test_no_request_is_answered_by_a_crash(storage: Path) -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, Phase, given, settings

    with Server(storage, token=TOKEN, write=True) as server:
        guard: Any = server.app
        schema = schemathesis.openapi.from_dict(guard._app.openapi())
        headers = {"authorization": f"Bearer {TOKEN}", "host": "localhost"}
        with httpx.Client(base_url=server.address, headers=headers, timeout=PATIENCE, trust_env=False) as asking:
            for found in schema.get_all_operations():
                operation = found.ok()
                if operation.path.endswith("/events"):
                    continue  # has no end

                @settings(
                    max_examples=6,
                    deadline=None,
                    phases=[Phase.generate],
                    derandomize=True,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                )
                @given(case=operation.as_strategy())
                def check(case: Any) -> None:
                    path = quote(case.formatted_path.replace("/studies/0", "/studies/s"), safe="/%")
                    sent = (
                        json.dumps(case.body).encode()
                        if isinstance(case.body, dict | list | str | float | bool)
                        else b""
                    )
                    kind = {"content-type": "application/json"}
                    answer = asking.request(case.method, path, params=case.query or None, content=sent, headers=kind)
                    assert answer.status_code < 500, (case.method, path, sent, answer.text)

                check()
