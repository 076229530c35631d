"""A program as an objective: what counts as its value, and what becomes of one that fails."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

import xstar as xs
from tests.clocks import Overrun, Time
from tests.run.programs.runs import failure, job, run, script, values
from tests.waiting import gone, text_of
from xstar.errors import InvalidArgument
from xstar.journal.trial import Finished, Report
from xstar.run.programs import report_client


def test_the_last_report_counts_where_there_are_no_epochs(tmp_path: Path) -> None:
    command = script(tmp_path, """echo start; echo '{"loss": 3}'; echo 'not {json'; echo '{"loss": 2, "epoch": 7}'""")
    outcomes = run(xs.Command(command), job(tmp_path))
    assert values(outcomes) == [2.0]
    assert isinstance(outcomes[-1], Finished)
    assert "not {json" in (tmp_path / "stdout.txt").read_text()


def test_each_epoch_is_reported_where_there_are_some(tmp_path: Path) -> None:
    command = script(tmp_path, """for i in 1 2 3; do echo "{\\"loss\\": $i.5, \\"epoch\\": $i}"; done""")
    outcomes = run(xs.Command(command), job(tmp_path, stop=3))
    assert values(outcomes) == [1.5, 2.5, 3.5]
    assert [outcome.budget for outcome in outcomes if isinstance(outcome, Report)] == [1, 2, 3]


def test_only_the_last_counts_if_the_program_trains_to_its_budget(tmp_path: Path) -> None:
    command = script(tmp_path, """echo '{"loss": 9}'; echo "{\\"loss\\": $XSTAR_BUDGET}" """)
    outcomes = run(xs.Command(command, reports="last"), job(tmp_path, stop=3))
    assert [(outcome.budget, outcome.metrics["loss"]) for outcome in outcomes[:-1] if isinstance(outcome, Report)] == [
        (3, 3.0)
    ]


def test_what_a_program_is_told(tmp_path: Path) -> None:
    command = script(tmp_path, """env > env.txt; echo "$@" > words.txt; echo '{"loss": 1}'""")
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "state").touch()
    given = job(tmp_path, stop=3, start=2, attempt=1, lr=0.1, name="a b")
    extra = xs.Command(f"{command} {{lr}} {{trial}} {{budget}} {{start}}", directory=tmp_path, env={"LR": "lr {lr}"})
    os.environ["XSTAR_STORAGE"] = "postgresql://user:hidden@host/db"
    try:
        run(extra, given)
    finally:
        del os.environ["XSTAR_STORAGE"]
    lines = (tmp_path / "env.txt").read_text().splitlines()
    told = dict(line.split("=", 1) for line in lines if "=" in line)
    numbers = {name: told.get(f"XSTAR_{name}") for name in ("TRIAL", "ATTEMPT", "START", "BUDGET")}
    assert numbers == {"TRIAL": "0", "ATTEMPT": "1", "START": "2", "BUDGET": "9"}
    assert told["LR"] == "lr 0.1"
    assert (told["XSTAR_WORKER"], "XSTAR_DEVICE" in told) == ("0", True)
    assert "XSTAR_STORAGE" not in told
    assert json.loads(Path(told["XSTAR_CONFIG"]).read_text()) == {"lr": 0.1, "name": "a b"}
    assert told["XSTAR_CHECKPOINT"] == str(tmp_path / "checkpoint")
    assert (tmp_path / "words.txt").read_text().split() == ["0.1", "0", "9", "2"]


def test_metrics_come_through_the_file_too(tmp_path: Path) -> None:
    text = """echo '{"loss": 1}' >> $XSTAR_METRICS; echo 'nonsense' >> $XSTAR_METRICS
              printf '{"loss": 2}' >> $XSTAR_METRICS"""
    outcomes = run(xs.Command(script(tmp_path, text)), job(tmp_path, stop=3))
    assert values(outcomes) == [1.0, 2.0]
    assert "'nonsense'" in (tmp_path / "stderr.txt").read_text()


def test_a_report_waits_for_its_verdict(tmp_path: Path) -> None:
    text = """for i in 1 2; do "$XSTAR_REPORT" loss=$i epoch=$i; echo "$? for $i" >> codes.txt; done"""
    command = xs.Command(script(tmp_path, text), directory=tmp_path, stop_signal="none", stop_grace=1000)
    outcomes = run(command, job(tmp_path, stop=9), stop_at=2)
    assert values(outcomes) == [1.0, 2.0]
    assert isinstance(outcomes[-1], Finished)
    assert (tmp_path / "codes.txt").read_text().splitlines() == ["0 for 1", "3 for 2"]
    assert (tmp_path / "verdict").read_text().split()[0] == "stop"


def test_a_line_without_the_metric_is_a_line_of_the_log(tmp_path: Path) -> None:
    command = script(tmp_path, """echo '{"time": 3}'; echo '{"loss": 1, "time": 4}'; echo '{"time": 5}'""")
    assert values(run(xs.Command(command, metric="loss"), job(tmp_path))) == [1.0]
    missing = failure(run(xs.Command(command, metric="error"), job(tmp_path)))
    assert missing.kind == "report"
    assert "'loss', 'time'" in missing.reason


@pytest.mark.parametrize("stop", [None, 3])
@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("echo out; echo 'no such data' >&2; exit 5", "exception", "exit code 5"),
        ("""echo '{"loss": 1}'; echo why >&2; exit 42""", "infeasible", "why"),
        ("""echo '{"infeasible": "too large"}'; sleep 60""", "infeasible", "too large"),
        ("echo nothing", "exception", "without a report"),
        ("kill -KILL $$", "killed", "SIGKILL"),
        ("kill -SEGV $$", "killed", "SIGSEGV"),
    ],
)
def test_failures_say_what_happened(tmp_path: Path, text: str, kind: str, words: str, stop: int | None) -> None:
    command = xs.Command(script(tmp_path, text), infeasible_exit=42, stop_grace=0.2)
    found = failure(run(command, job(tmp_path, stop=stop)))
    assert (found.kind, words in found.reason) == (kind, True), found.reason
    assert "Traceback" not in found.reason
    if "exit 5" in text:
        assert found.reason.splitlines()[-1] == "no such data"


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    assert "No such file" in failure(run(xs.Command("./nowhere-at-all"), job(tmp_path))).reason
    gone = xs.Command("true", directory=tmp_path / "gone")
    assert "cannot be started" in failure(run(gone, job(tmp_path))).reason


def test_bytes_that_are_no_text_and_endless_lines_do_no_harm(tmp_path: Path) -> None:
    text = r"""printf '\377\376\n{"loss": 1, "n": "\377"}\n'; printf 'bad \351\n' >&2; head -c 3000000 /dev/zero
               head -c 300000 /dev/zero | tr '\0' 'y'; echo; echo '{"loss": 2}'"""
    outcomes = run(xs.Command(script(tmp_path, text), log_limit=50_000), job(tmp_path, stop=9))
    assert values(outcomes) == [1.0, 2.0]
    assert 50_000 <= (tmp_path / "stdout.txt").stat().st_size < 51_000
    assert b"log_limit" in (tmp_path / "stdout.txt").read_bytes()


def test_a_shell_is_used_when_asked_for_alone(tmp_path: Path) -> None:
    line = """echo "{\\"loss\\": $((1 + {x}))}" """
    assert values(run(xs.Command(line, shell=True), job(tmp_path, x=2))) == [3.0]
    assert failure(run(xs.Command("exit 0"), job(tmp_path))).kind == "exception"


def test_a_search_over_a_program_in_worker_processes(tmp_path: Path) -> None:
    text = (
        """awk -v x=$1 'BEGIN { for (e = 1; e <= 4; e++) { printf "{\\"loss\\": %g}\\n", x * x + 1 / e; fflush() } }'"""
    )
    command = xs.Command(script(tmp_path, text) + " {x}")
    space = xs.Space(x=xs.Float(-1, 1))
    result = xs.minimize(
        command, space, trials=6, max_budget=4, method="asha", workers=2, seed=0, directory=tmp_path / "runs"
    )
    assert result.value == pytest.approx(result.config["x"] ** 2 + 1 / result.best.budget, rel=1e-3)
    assert {trial.state for trial in result.study.trials} <= {xs.State.PAUSED, xs.State.COMPLETE}
    result.study.close()


def test_a_time_limit_ends_the_program(tmp_path: Path, frozen: Time) -> None:
    pids = tmp_path / "pids"
    command = xs.Command(script(tmp_path, f"echo $$ > {pids}; sleep 1000"), stop_grace=0)
    result = xs.minimize(
        *(command, xs.Space(x=xs.Float(0, 1))),
        trials=1,
        max_failures=None,
        method="random",
        directory=tmp_path / "runs",
        watch=Overrun(frozen, pids),
        executor=xs.Processes(timeout=500),
    )
    assert result.study.trials[0].reason == "it ran longer than the time limit of 500 s"
    assert gone(int(text_of(pids)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": ""},
        {"command": []},
        {"command": ["a", 1]},
        {"command": "a 'b"},
        {"command": ["a"], "shell": True},
        {"command": "a", "stop_grace": -1},
        {"command": "a", "stop_signal": "KILL"},
        {"command": "a", "reports": "all"},
        {"command": "a", "infeasible_exit": 0},
        {"command": "a", "infeasible_exit": 256},
        {"command": "a", "log_limit": -1},
        {"command": "a", "env": {"A": 1}},
        {"command": "a", "shell": 1},
    ],
)
def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as error:
        xs.Command(**wrong)
    assert error.value.argument in wrong


def test_a_command_can_be_sent_to_workers() -> None:
    command = xs.Command([sys.executable, "-c", "{x}"], env={"A": "b"})
    assert cloudpickle.loads(cloudpickle.dumps(command)) == command


# ---------------------------------------------------------------- $XSTAR_REPORT


@pytest.fixture
def exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XSTAR_METRICS", str(tmp_path / "metrics.jsonl"))
    monkeypatch.setenv("XSTAR_VERDICT", str(tmp_path / "verdict"))
    return tmp_path


def test_a_program_reports(exchange: Path) -> None:
    (exchange / "verdict").write_text("continue 1000\n")
    assert report_client.main(["loss=0.25", "epoch=3"]) == 0
    (exchange / "verdict").write_text("stop 0\n")
    assert report_client.main(["loss=0.5"]) == 3
    assert report_client.main(["loss=0.5", "--no-wait"]) == 0
    assert report_client.main(["--infeasible", "too large", "--no-wait"]) == 0
    lines = (exchange / "metrics.jsonl").read_text().splitlines()
    assert lines[0] == '{"loss": 0.25, "epoch": 3.0}'
    assert lines[-1] == '{"infeasible": "too large"}'


@pytest.mark.parametrize("words", [("loss=",), ("loss=a",), ("=3",), ("loss=1", "more"), ("a=1", "a=2")])
def test_a_bad_report_is_refused(exchange: Path, words: tuple[str, ...]) -> None:
    assert report_client.main(words) == 2
    assert not (exchange / "metrics.jsonl").exists()
