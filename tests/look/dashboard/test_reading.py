"""What the dashboard answers: the study as it is, as it was, its plots, its trials, and nothing beyond its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("fastapi", reason="the dashboard needs its extra")

import xstar as xs
from tests.look.dashboard.servers import client, stored
from tests.look.plots.studies import HALF, unreadable
from xstar.journal import History
from xstar.look.dashboard.feeds import Feeds
from xstar.look.plots.kinds import KINDS
from xstar.storage import SqlStorage


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stored(tmp_path_factory.mktemp("dashboard"))


@pytest.fixture(scope="module")
def asking(storage: Path) -> Iterator[httpx.Client]:
    with client(storage) as made:
        yield made


def read(asking: httpx.Client, address: str, status: int = 200, **params: Any) -> Any:
    answer = asking.get(address, params=params)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_studies_and_one_of_them(asking: httpx.Client, storage: Path) -> None:
    (card,) = read(asking, "/api/studies")["studies"]
    found = read(asking, "/api/studies/s")
    assert card["name"] == found["name"] == "s"
    assert found["counts"] == {"complete": 9, "failed": 3}
    assert found["trials"] == 12
    assert found["epochs"] == 27
    assert found["seen"] == found["total"] == found["now"]
    others = ("front", "networks", "rungs", "theta", "comparison")
    assert found["plots"] == [name for name in KINDS if name not in others]
    with xs.Study.open("s", storage) as study:
        assert found["best"]["value"] == study.best.value
    assert found["front"] == {"count": 0, "trials": []}, "one objective has a best trial, and no front"


def test_what_is_not_there_is_said(asking: httpx.Client) -> None:
    assert "no study 'none'" in read(asking, "/api/studies/none", 404)["error"]
    assert "no trial 99" in read(asking, "/api/studies/s/trials/99", 404)["error"]
    assert "must be one of" in read(asking, "/api/studies/s/plots/none", 422)["error"]
    assert "over" in read(asking, "/api/studies/s/plots/history", 422, over="nothing")["error"]
    assert "others" in read(asking, "/api/studies/s/plots/comparison", 422, others="a")["error"]
    assert "at" in read(asking, "/api/studies/s", 422, at=0)["error"]


@pytest.mark.parametrize("kind", [name for name, each in KINDS.items() if each.objectives != "several"])
def test_every_plot_is_served(asking: httpx.Client, storage: Path, kind: str) -> None:
    figure = read(asking, f"/api/studies/s/plots/{kind}")
    with xs.Study.open("s", storage) as study:
        assert figure == KINDS[kind].figure(study)


def test_an_earlier_moment_is_the_fold_of_the_events_before(asking: httpx.Client, storage: Path) -> None:
    with xs.Study.open("s", storage) as study:
        events = list(study.journal.read(0))
    for at in (1, 9, 5, len(events), len(events) + 50):  # forwards and back
        found = asking.get("/api/studies/s", params={"at": at}).json()
        history = History()
        history.extend(events[:at])
        assert found["seen"] == history.seen
        assert found["trials"] == len(history.trials)
        assert (found["best"] or {}).get("number") == (history.best.number if history.best else None)
    early = asking.get("/api/studies/s/plots/timeline", params={"at": 9}).json()
    late = asking.get("/api/studies/s/plots/timeline").json()
    bars = [sum(len(trace.get("x", ())) for trace in figure["data"]) for figure in (early, late)]
    assert 0 < bars[0] < bars[1] == 12


def test_trials_are_filtered_sorted_and_paged(asking: httpx.Client) -> None:
    def numbers(**params: Any) -> list[int]:
        answer = asking.get("/api/studies/s/trials", params={"size": 200, **params})
        assert answer.status_code == 200, answer.text
        return [trial["number"] for trial in answer.json()["trials"]]

    assert numbers() == list(range(11, -1, -1))
    assert numbers(descending=False, size=5, page=1) == [5, 6, 7, 8, 9]
    assert numbers(state=["failed"]) == [11, 7, 3]
    values = {trial: asking.get(f"/api/studies/s/trials/{trial}").json()["value"] for trial in range(12)}
    ranked = numbers(sort="value", descending=False)
    known = [trial for trial in ranked if values[trial] is not None]
    assert known == sorted(known, key=lambda trial: values[trial])
    assert ranked[len(known) :] == [3, 7, 11]  # without a value: last
    some = numbers(filter="x<0.5 kind=a")
    assert some == [t for t in range(11, -1, -1) if _config(asking, t)["x"] < 0.5 and _config(asking, t)["kind"] == "a"]
    assert numbers(filter="valueerror") == [11, 7, 3]
    assert numbers(filter="kind!=a,b") == []
    assert asking.get("/api/studies/s/trials", params={"sort": "nothing"}).status_code == 422
    assert asking.get("/api/studies/s/trials", params={"filter": "lr<abc"}).status_code == 422
    assert asking.get("/api/studies/s/trials", params={"size": 100_000}).status_code == 422


def _config(asking: httpx.Client, trial: int) -> dict[str, Any]:
    found: dict[str, Any] = asking.get(f"/api/studies/s/trials/{trial}").json()["config"]
    return found


def test_one_trial_with_all_it_left(asking: httpx.Client) -> None:
    found = read(asking, "/api/studies/s/trials/0")
    assert [report["budget"] for report in found["reports"]] == [1, 2, 3]
    why = read(asking, "/api/studies/s/trials/0/why")
    assert "the decision is the same" in why["recomputed"]
    assert read(asking, "/api/studies/s/trials/0/log")["missing"] is True


def test_what_cannot_be_written_is_shown_all_the_same(tmp_path: Path) -> None:
    storage = tmp_path / "x.db"
    unreadable(storage)
    with xs.Study.open("s", storage) as study:
        folder = study.files.of(0)
    folder.mkdir(parents=True)
    (folder / os.fsdecode(b"\xff.txt")).touch()
    with client(storage) as asking:
        read(asking, "/api/studies")
        found = read(asking, "/api/studies/s")
        assert len(read(asking, "/api/studies/s/trials")["trials"]) == 9
        for number in range(9):
            shown = read(asking, f"/api/studies/s/trials/{number}")
            assert shown["attrs"][f"{HALF} name"] == HALF
            assert "…" in json.dumps(shown["attrs"]["deep"], ensure_ascii=False)
        assert shown["reason"].endswith(HALF)
        assert read(asking, "/api/studies/s/trials/0")["reports"][0]["metrics"][f"{HALF} size"] == 1.0
        assert read(asking, "/api/studies/s/trials/0")["files"] == [{"name": f"{HALF}.txt", "bytes": 0}]
        for plot in found["plots"]:
            read(asking, f"/api/studies/s/plots/{plot}")


def _folder(storage: Path, trial: int) -> Path:
    with xs.Study.open("s", storage) as study:
        folder = study.files.of(trial)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_log_is_read_from_its_end(asking: httpx.Client, storage: Path) -> None:
    (_folder(storage, 1) / "stdout.txt").write_text("x" * 70_000 + "the end", encoding="utf-8")
    found = read(asking, "/api/studies/s/trials/1/log")
    assert found["text"].endswith("the end")
    assert len(found["text"]) == 65_536
    assert (found["offset"], found["size"]) == (70_007 - 65_536, 70_007)
    assert read(asking, "/api/studies/s/trials/1/log", 422, stream="../../x.db")["error"].startswith("stream")


def test_a_log_cannot_lead_out_of_its_folder(asking: httpx.Client, storage: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    linked = _folder(storage, 2)
    (linked / "stdout.txt").symlink_to(secret)
    os.mkfifo(linked / "stderr.txt")
    for stream in ("stdout", "stderr"):
        answer = read(asking, "/api/studies/s/trials/2/log", 503, stream=stream)
        assert "secret" not in answer.get("text", "")
    assert [file["name"] for file in read(asking, "/api/studies/s/trials/2")["files"]] == []
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "stdout.txt").write_text("secret", encoding="utf-8")
    folder = _folder(storage, 4)
    folder.rmdir()
    folder.symlink_to(outside, target_is_directory=True)
    assert "secret" not in json.dumps(read(asking, "/api/studies/s/trials/4/log", 503))


def test_a_feed_reads_what_is_new(tmp_path: Path) -> None:
    storage = stored(tmp_path, trials=3)
    place = SqlStorage(storage)
    feed = Feeds(place).read("s")
    before = feed.history.seen
    with xs.Study.open("s", storage) as study:
        study.annotate(1, {"seen": True})
    assert (feed.advance(), feed.advance()) == (1, 0)
    assert feed.history.seen == before + 1
    assert feed.history.trials[1].attrs == {"seen": True}
    place.close()


def test_studies_are_compared(asking: httpx.Client, storage: Path) -> None:
    stored(storage.parent, "t", seed=2)
    figure = read(asking, "/api/compare", study=["s", "t"])
    assert "2 seeds" in json.dumps(figure)
    read(asking, "/api/compare", 422)
    read(asking, "/api/compare", 404, study=["s", "gone"])
