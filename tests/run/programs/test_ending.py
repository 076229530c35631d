"""How programs are ended: with grace, with all that they started, also when nobody is left to end them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import xstar as xs
from tests.run.programs.runs import job, run, script, values
from tests.waiting import gone, text_of, until
from xstar.core.goals import read_goals
from xstar.core.processes import session_members
from xstar.journal.trial import Finished, Report
from xstar.look.audit import audit
from xstar.run import InlineExecutor
from xstar.run.programs.reports import FILE
from xstar.run.programs.session import Session

GRANDCHILDREN = """
sleep 1000 & echo $! >> {folder}/pids
(trap '' TERM; sleep 1001) & echo $! >> {folder}/pids
timeout 1000 sleep 1002 & echo $! >> {folder}/pids
echo $$ >> {folder}/pids
"""


def pids(folder: Path) -> list[int]:
    return [int(word) for word in (folder / "pids").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("end", ["exit 0", "sleep 1003", "exit 3"])
def test_all_that_a_program_started_ends_with_it(tmp_path: Path, end: str) -> None:
    text = GRANDCHILDREN.format(folder=tmp_path) + f"""echo '{{"loss": 1}}'; {end}"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=0.3), job(tmp_path, stop=9), stop_at=1)
    assert values(outcomes) == [1.0]
    assert len(pids(tmp_path)) == 4
    assert [pid for pid in pids(tmp_path) if not gone(pid)] == []
    assert not (tmp_path / "program.txt").exists()


def test_a_program_saves_its_checkpoint_within_the_grace(tmp_path: Path) -> None:
    text = """trap 'sleep 0.2; echo saved > $XSTAR_CHECKPOINT/state; exit 1' TERM
              echo '{"loss": 1}'; while :; do sleep 0.02; done"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=30), job(tmp_path, stop=1), stop_at=1)
    assert isinstance(outcomes[-1], Finished)
    assert (tmp_path / "checkpoint" / "state").read_text() == "saved\n"


def test_a_program_that_ignores_the_signal_is_killed(tmp_path: Path) -> None:
    text = f"""trap '' TERM; echo $$ > {tmp_path}/pids; echo '{{"loss": 1}}'; while :; do sleep 0.02; done"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=0.3), job(tmp_path, stop=9), stop_at=1)
    assert isinstance(outcomes[-1], Finished)
    assert gone(pids(tmp_path)[0])


def test_another_signal_may_be_chosen(tmp_path: Path) -> None:
    text = f"""trap 'echo usr1 > {tmp_path}/got; exit' USR1; echo '{{"loss": 1}}'; while :; do sleep 0.02; done"""
    run(xs.Command(script(tmp_path, text), stop_grace=30, stop_signal="USR1"), job(tmp_path, stop=9), stop_at=1)
    assert (tmp_path / "got").read_text() == "usr1\n"


def test_a_program_that_prints_while_it_ends_is_not_stuck(tmp_path: Path) -> None:
    text = f"""trap 'head -c 400000 /dev/zero; echo yes > {tmp_path}/ended; exit' TERM
               echo '{{"loss": 1}}'; while :; do sleep 0.02; done"""
    run(xs.Command(script(tmp_path, text), stop_grace=30), job(tmp_path, stop=9), stop_at=1)
    assert (tmp_path / "ended").exists()


def test_a_program_that_goes_on_beyond_its_budget_is_ended(tmp_path: Path) -> None:
    text = """while :; do echo '{"loss": 1}'; done"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=5), job(tmp_path, stop=3))
    assert [outcome.budget for outcome in outcomes if isinstance(outcome, Report)] == [1, 2, 3]


def test_asha_stops_programs_by_their_reports(tmp_path: Path) -> None:
    text = """for i in 1 2 3 4 5 6 7 8 9; do "$XSTAR_REPORT" loss=$1 epoch=$i || exit $?; done; echo whole"""
    space = xs.Space(x=xs.Float(0, 1))
    result = xs.minimize(
        *(xs.Command(script(tmp_path, text) + " {x}"), space),
        trials=5,
        max_budget=9,
        method="asha-stop",
        seed=3,
        directory=tmp_path / "runs",
    )
    states = [trial.state for trial in result.study.trials]
    assert states.count(xs.State.STOPPED) >= 1
    assert states.count(xs.State.STOPPED) + states.count(xs.State.COMPLETE) == 5
    for trial in result.study.trials:
        whole = "whole" in (result.study.files.of(trial.number) / "stdout.txt").read_text()
        assert whole == (trial.state is xs.State.COMPLETE)
    result.study.close()


DRIVER = """
import sys
import xstar as xs
command = xs.Command(sys.argv[1] + " {x}", stop_grace=float(sys.argv[3]))
xs.minimize(command, xs.Space(x=xs.Float(0, 1)), trials=2, max_budget=4, method="random", seed=0, study="s",
            storage=sys.argv[2], workers=int(sys.argv[4]))
"""

SLOW = """
[ -e {folder}/fast ] || echo $$ >> {folder}/pids
done=$(cat $XSTAR_CHECKPOINT/epoch 2>/dev/null || echo 0)
echo "began at $done with start $XSTAR_START in attempt $XSTAR_ATTEMPT"
while [ $done -lt $XSTAR_BUDGET ]; do
    done=$((done + 1))
    echo $done > $XSTAR_CHECKPOINT/epoch.new; mv $XSTAR_CHECKPOINT/epoch.new $XSTAR_CHECKPOINT/epoch
    echo "{{\\"loss\\": $1, \\"epoch\\": $done}}"
    if [ $done = 2 ] && [ ! -e {folder}/fast ]; then trap '' TERM; sleep 1000; fi
done
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(("workers", "grace"), [(1, 1000.0), (2, 0.0)])
def test_a_search_whose_driver_was_killed_goes_on_from_the_checkpoint(
    tmp_path: Path, workers: int, grace: float
) -> None:
    """With endless grace the orphan is still there when the search goes on: it is killed first, so no two run at once."""
    command, storage = script(tmp_path, SLOW.format(folder=tmp_path)), str(tmp_path / "s.db")
    arguments = [sys.executable, "-c", DRIVER, command, storage, str(grace), str(workers)]
    driver = subprocess.Popen(arguments, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        text_of(tmp_path / "pids")
        with xs.Study.open("s", storage=storage) as study:
            until(lambda: [trial.budget for trial in study.refresh().trials] == [2] * workers)
    finally:
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    (tmp_path / "fast").touch()
    space = xs.Space(x=xs.Float(0, 1))
    result = xs.minimize(
        xs.Command(command + " {x}"), space, trials=2, max_budget=4, method="random", seed=0, study="s", storage=storage
    )
    assert [(trial.state, trial.budget) for trial in result.study.trials] == [(xs.State.COMPLETE, 4)] * 2
    assert [pid for pid in pids(tmp_path) if not gone(pid)] == []
    printed = (result.study.files.of(0) / "stdout.txt").read_text()
    assert "began at 2 with start 2 in attempt 1" in printed
    assert printed.count('"epoch": 2}') == 1
    assert audit(result.study).findings == []
    result.study.close()


def test_ctrl_c_ends_the_program_at_once(tmp_path: Path) -> None:
    """The second Ctrl-C is raised while the program is listened to; a grace of minutes is not waited for."""
    text = f"""trap '' TERM; echo $$ > {tmp_path}/pids; kill -INT {os.getpid()}; while :; do sleep 0.02; done"""
    executor = InlineExecutor(xs.Command(script(tmp_path, text), stop_grace=10_000), read_goals("loss", None))
    executor.submit(job(tmp_path, stop=9))
    with pytest.raises(KeyboardInterrupt):
        executor.poll()
    assert gone(pids(tmp_path)[0])
    executor.close()


def test_ctrl_c_while_the_program_begins_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs from ``begin`` on, before anybody listens to it."""
    begin, file = Session.begin, tmp_path / "pids"

    def interrupted(session: Session) -> None:
        begin(session)
        until(lambda: file.exists() and file.read_text().endswith("\n"))
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "begin", interrupted)
    text = f"""trap '' TERM; echo $$ > {file}; while :; do sleep 0.02; done"""
    executor = InlineExecutor(xs.Command(script(tmp_path, text), stop_grace=10_000), read_goals("loss", None))
    executor.submit(job(tmp_path, stop=9))
    with pytest.raises(KeyboardInterrupt):
        executor.poll()
    assert gone(pids(tmp_path)[0])
    executor.close()


def test_a_killed_supervisor_takes_the_program_with_it(tmp_path: Path) -> None:
    text = f"""echo $$ > {tmp_path}/pids; kill -KILL $PPID; sleep 1000"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=0.1), job(tmp_path, stop=9))
    assert "SIGKILL" in str(outcomes[-1])
    assert gone(pids(tmp_path)[0])


def test_the_record_names_the_session(tmp_path: Path) -> None:
    text = f"""cp {tmp_path}/program.txt {tmp_path}/copy; echo '{{"loss": 1}}'"""
    run(xs.Command(script(tmp_path, text)), job(tmp_path))
    _, leader, start = (tmp_path / "copy").read_text().strip().split("|")
    assert start
    assert session_members(int(leader)) == []
    assert json.loads((tmp_path / "config.json").read_text()) == {"x": 1}


QUICK = """
done=$(cat $XSTAR_CHECKPOINT/epoch 2>/dev/null || echo 0)
echo "began at $done with start $XSTAR_START" >&2
while [ $done -lt $XSTAR_BUDGET ]; do
    done=$((done + 1))
    echo $done > $XSTAR_CHECKPOINT/epoch.new; mv $XSTAR_CHECKPOINT/epoch.new $XSTAR_CHECKPOINT/epoch
    {report}
done
"""
"""It does not notice that it should pause: it has trained on before the signal comes."""

BY_LINE = """echo "{\\"loss\\": $done}" """
BY_EPOCH = """echo "{\\"loss\\": $done, \\"epoch\\": $done}" """
BY_FILE = """echo "{\\"loss\\": $done}" >> $XSTAR_METRICS"""


@pytest.mark.parametrize("report", [BY_LINE, BY_EPOCH, BY_FILE], ids=["lines", "epochs", "file"])
def test_what_a_quick_program_reported_before_it_paused_is_not_lost(tmp_path: Path, report: str) -> None:
    """It ignores the signal, so all nine epochs are trained at once; each run is told of those up to its rung alone."""
    command = xs.Command(script(tmp_path, "trap '' TERM\n" + QUICK.replace("{report}", report)), stop_grace=30)
    for attempt, (start, stop) in enumerate([(0, 1), (1, 3), (3, 9)]):
        outcomes = run(command, job(tmp_path, stop=stop, start=start, attempt=attempt), stop_at=stop)
        reports = [outcome for outcome in outcomes if isinstance(outcome, Report)]
        assert [outcome.budget for outcome in reports] == list(range(start + 1, stop + 1))
        assert [outcome.metrics["loss"] for outcome in reports] == list(range(start + 1, stop + 1))
    assert (tmp_path / "stderr.txt").read_text().count("began at") == 1, "it had nothing left to train"


def test_a_program_that_was_stopped_in_between_goes_on_behind_its_reports(tmp_path: Path) -> None:
    """Four epochs are trained before it ends; of those that it repeats or skips later nothing counts twice."""
    text = QUICK.replace("{report}", BY_EPOCH + '\n    [ $done = 4 ] && [ "$XSTAR_START" = 0 ] && exit 0')
    command = xs.Command(script(tmp_path, "trap '' TERM\n" + text), stop_grace=30)
    assert values(run(command, job(tmp_path, stop=1), stop_at=1)) == [1]
    (tmp_path / "checkpoint" / "epoch").write_text("2")  # its last checkpoint is behind its last report
    outcomes = run(command, job(tmp_path, stop=9, start=1, attempt=1))
    assert values(outcomes) == [2, 3, 4, 5, 6, 7, 8, 9]
    errors = (tmp_path / "stderr.txt").read_text()
    assert "began at 2 with start 4" in errors
    assert "the report of epoch 3 repeats an earlier one" in errors
    assert not (tmp_path / "checkpoint" / FILE).exists()


def test_without_a_checkpoint_a_trial_begins_anew_whatever_was_reported(tmp_path: Path) -> None:
    text = f"""trap '' TERM; for done in 1 2 3 4 5 6 7 8 9; do {BY_LINE}; done"""
    command = xs.Command(script(tmp_path, text), stop_grace=30)
    assert values(run(command, job(tmp_path, stop=1), stop_at=1)) == [1]
    outcomes = run(command, job(tmp_path, stop=3, start=1, attempt=1), stop_at=3)
    assert [(outcome.budget, outcome.metrics["loss"]) for outcome in outcomes if isinstance(outcome, Report)] == [
        (2, 2.0),
        (3, 3.0),
    ]


def test_what_a_program_says_while_it_ends_breaks_no_pause(tmp_path: Path) -> None:
    text = """trap '' TERM; echo 1 > $XSTAR_CHECKPOINT/epoch
              echo '{"loss": 1, "epoch": 1}'; echo '{"loss": 2, "epoch": 2}'; echo '{"loss": 9, "epoch": 9}'
              echo '{"infeasible": "out of memory"}'; exit 1"""
    outcomes = run(xs.Command(script(tmp_path, text), stop_grace=30), job(tmp_path, stop=1), stop_at=1)
    assert values(outcomes) == [1]
    assert isinstance(outcomes[-1], Finished)
