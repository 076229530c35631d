"""``xstar mcp``: an agent reads studies and acts on them, through the official client over stdio."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.cli.conftest import Cli
from tests.trials import ask, run_trials
from xstar.look.audit import audit

mcp = pytest.importorskip("mcp", reason="mcp is not installed: pip install '.[mcp]'")

READ = {"list_studies", "read_study", "read_trial", "best", "why", "importance"}
WRITE = {"propose", "narrow", "widen", "hold"}
Tools = Callable[..., Awaitable[Any]]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    def objective(trial: Any) -> float:
        return float((trial["lr"] - 0.3) ** 2 + (trial["kind"] == "b"))

    space = xs.Space(lr=xs.Float(0.0, 1.0), kind=xs.Choice(["a", "b"]))
    xs.minimize(
        objective, space, trials=15, method="gp", seed=1, study="demo", storage=tmp_path / "x.db", progress=False
    ).study.close()
    return tmp_path / "x.db"


def talk(place: Path, script: Callable[[Tools], Awaitable[None]], *options: str) -> set[str]:
    """Run a client's script against the server; returns the names of its tools."""

    async def run() -> set[str]:
        words = ["-m", "xstar", "mcp", "--storage", str(place), *options]
        async with mcp.Client(mcp.StdioServerParameters(command=sys.executable, args=words)) as client:
            tools = (await client.list_tools()).tools
            named = {tool.name for tool in tools}
            for tool in tools:
                assert tool.annotations.read_only_hint is (tool.name in READ)
                assert tool.annotations.destructive_hint is (tool.name == "hold")
                assert tool.input_schema["additionalProperties"] is False
                assert all(each["description"] for each in tool.input_schema["properties"].values()), tool.name

            async def call(name: str, **arguments: Any) -> Any:
                found = await client.call_tool(name, arguments)
                if found.is_error:
                    raise LookupError(found.content[0].text)
                told = found.structured_content
                return told["result"] if set(told) == {"result"} else told

            await script(call)
            return named

    return asyncio.run(run())


def test_an_agent_reads(place: Path) -> None:
    async def script(call: Tools) -> None:
        (line,) = await call("list_studies")
        assert (line["name"], line["trials"], line["method"]) == ("demo", 15, "gp")
        study = await call("read_study", study="demo", latest=3)
        assert [trial["number"] for trial in study["latest"]] == [12, 13, 14]
        best = await call("best", study="demo")
        assert best == study["best"]
        assert best["config"]["kind"] == "a"
        trial = await call("read_trial", study="demo", trial=14)
        assert trial["reports"][0]["metrics"]["value"] == trial["value"]
        why = await call("why", study="demo", trial=14)
        assert why["trial"] == 14
        assert why["candidates"]
        shares = {row["parameter"]: row["share"] for row in (await call("importance", study="demo"))["parameters"]}
        assert set(shares) == {"lr", "kind"}
        for name, arguments, words in (
            ("read_study", {"study": "none"}, "none"),
            ("read_trial", {"study": "demo", "trial": 99}, "has no trial 99; it has trials 0 to 14"),
            ("read_trial", {"study": "demo"}, "trial: is needed"),
            ("read_trial", {"study": "demo", "trial": "first"}, "trial: .* but got 'first'"),
            (
                "read_study",
                {"study": "demo", "last": 3},
                "last: is no argument of read_study, which has: study, latest",
            ),
            ("importance", {"study": "demo", "metric": "latency"}, "metric: must be in all reports .* value"),
            ("hold", {"study": "demo", "state": "stop", "reason": "no"}, "no tool 'hold'"),
        ):
            with pytest.raises(LookupError, match=words) as refused:
                await call(name, **arguments)
            assert not re.search("pydantic|Traceback|Error executing|validation error", str(refused.value))

    assert talk(place, script) == READ


def test_an_agent_reads_a_front(place: Path) -> None:
    with xs.Study(xs.Space(x=xs.Float(0, 1)), study="both", storage=place, metric=["error", "size"], seed=1) as study:
        run_trials(study, 8, lambda trial: {"error": trial["x"], "size": -trial["x"]})
        front = [trial.number for trial in study.front]
    with xs.Study(xs.Space(x=xs.Float(0, 1)), study="few", storage=place, metric=["error", "size"], seed=1) as study:
        run_trials(study, 2, lambda trial: {"error": trial["x"], "size": -trial["x"]})

    async def script(call: Tools) -> None:
        line = next(line for line in await call("list_studies") if line["name"] == "both")
        shares = (await call("importance", study="both", metric="size"))["parameters"]
        assert [row["parameter"] for row in shares] == ["x"]
        assert "needs 5 trials" in (await call("importance", study="few", metric="size"))["reason"]
        best, study = await call("best", study="both"), await call("read_study", study="both")
        assert [trial["number"] for trial in best["trials"]] == front
        assert line["front"] == best["count"] == len(front)
        assert best["trials"] == study["front"]["trials"]
        assert best["up_to"].keys() == {"error", "size"}

    talk(place, script)


def test_an_agent_acts_and_each_act_is_audited(place: Path, cli: Cli) -> None:
    async def script(call: Tools) -> None:
        await call("propose", study="demo", config={"lr": 0.31}, reason="between the two best")
        await call("narrow", study="demo", changes={"lr": [0.2, 0.4], "kind": "a"}, reason="b loses")
        with pytest.raises(LookupError, match=r"lr: must be narrowed within Float"):
            await call("narrow", study="demo", changes={"lr": [0.0, 9.0]}, reason="why not")
        for reason, rule in (("", "at least 1"), (" ", "at least 1"), ("x" * 20_000_000, "at most 2000")):
            with pytest.raises(LookupError, match=f"reason: .*{rule}") as refused:
                await call("hold", study="demo", state="stop", reason=reason)
            assert len(str(refused.value)) < 1000
        with pytest.raises(LookupError, match=r"state: .*but got 'wait'"):
            await call("hold", study="demo", state="wait", reason="why not")
        await call("hold", study="demo", state="pause", reason="the machine is needed")
        await call("hold", study="demo", state="resume", reason="no more")

    assert talk(place, script, "--write", "--author", "claude") == READ | WRITE
    with xs.Study.open("demo", place) as study:
        assert {act.author for act in study.history.acts} == {"claude"}
        assert [act.reason for act in study.history.acts] == [
            "between the two best",
            "b loses",
            "the machine is needed",
            "no more",
        ]
        for _ in range(4):
            trial = ask(study)
            assert 0.2 <= trial["lr"] <= 0.4
            assert trial["kind"] == "a"
            study.tell(trial, trial["lr"])
        assert study.trials[15]["lr"] == 0.31

    async def wider(call: Tools) -> None:
        more = {"kind": ["a", "b", "c"], "depth": {"int": [1, 4]}, "lr": {"float": [0.0, 2.0]}}
        lines = await call("widen", study="demo", parameters=more, fill={"depth": 2}, reason="c is new")
        assert any("depth" in line for line in lines)

    talk(place, wider, "--write")
    with xs.Study.open("demo", place) as study:
        run_trials(study, 3, lambda trial: trial["lr"])
        assert study.trials[0].config["depth"] == 2
        assert audit(study).findings == []
    shown = json.loads(cli("show", "demo", "--json", "--storage", str(place)).output)
    assert [(act["act"], act.get("author")) for act in shown["acts"]] == [
        ("enqueued", "claude"),
        ("reshaped", "claude"),
        ("held", "claude"),
        ("held", "claude"),
        ("reshaped", "agent"),
    ]
    assert "there is no storage" in cli("mcp", "--storage", str(place.parent / "none.db"), code=2).output
