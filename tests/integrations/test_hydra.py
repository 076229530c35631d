"""The sweeper of Hydra: real sweeps, resumed, shared, with budgets, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from tests.integrations.hydra_logging import undone
from xstar.errors import InvalidArgument, InvalidSpace, ObjectiveError, StudyMismatch

hydra = pytest.importorskip("hydra", reason="hydra-core is not installed")

from hydra.core.config_store import ConfigStore  # noqa: E402
from hydra.core.override_parser.overrides_parser import OverridesParser  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402

from xstar.integrations.hydra import read  # noqa: E402

QUIET = ["hydra/job_logging=disabled", "hydra/hydra_logging=disabled"]
SWEPT = ["lr=tag(log,interval(1e-4,1))", "net.layers=int(interval(1,4))", "net.kind=relu,tanh"]
Sweep = Callable[..., xs.Study]


def task(cfg: Any) -> float:
    assert cfg.seed == 7
    return float((cfg.lr - 0.01) ** 2 + cfg.net.layers + (cfg.net.kind == "tanh"))


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sweep]:
    """``python app.py --multirun hydra/sweeper=xstar …`` in this process; returns the study."""
    conf = {"lr": 0.1, "epochs": 1, "folder": "", "seed": 7, "net": {"layers": 1, "kind": "relu"}}
    ConfigStore.instance().store(name="xstar_tests", node=conf)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")

    def run(
        *words: str, function: Callable[[Any], Any] = task, swept: list[str] = SWEPT, storage: str = "xstar.db"
    ) -> xs.Study:
        fixed = ["--multirun", "hydra/sweeper=xstar", "hydra.sweeper.study=s", "hydra.sweep.dir=out", *QUIET]
        monkeypatch.setattr(sys, "argv", ["app.py", *fixed, *swept, *words])
        hydra.main(version_base="1.3", config_path=None, config_name="xstar_tests")(function)()
        return xs.Study.open("s", storage)

    with undone():
        yield run


def test_a_sweep_goes_on_where_it_ended_and_is_the_same_as_one_in_one_go(sweep: Sweep, tmp_path: Path) -> None:
    given = ["hydra.sweeper.seed=1", "hydra.sweeper.method=gp", "hydra.sweeper.trials"]
    with sweep(*given[:2], f"{given[2]}=5") as study:
        assert len(study.trials) == 5
    with sweep(*given[:2], f"{given[2]}=9") as study:
        found = [trial.config for trial in study.trials]
        best = study.best
    assert len(found) == 9
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == [str(n) for n in range(9)]
    said = OmegaConf.load(tmp_path / "out" / "optimization_results.yaml")
    assert said.best_value == best.value
    assert said.best_params == {"lr": best["lr"], "net.layers": best["net__layers"], "net.kind": best["net__kind"]}
    sweep(*given[:2], f"{given[2]}=9", "hydra.sweeper.study=whole").close()
    with xs.Study.open("whole", "xstar.db") as whole:
        assert [trial.config for trial in whole.trials] == found


@pytest.mark.parametrize("method", ["asha", pytest.param("asha-stop", marks=pytest.mark.slow)])
def test_trials_are_paused_and_promoted_over_the_budget(sweep: Sweep, method: str) -> None:
    seen: list[tuple[str, int, int]] = []

    def train(cfg: Any) -> dict[str, float]:
        """Goes on from its folder, as a training does."""
        done = Path(cfg.folder) / "epochs"
        before = int(done.read_text()) if done.exists() else 0
        seen.append((cfg.folder, before, cfg.epochs))
        done.write_text(str(cfg.epochs))
        return {"loss": cfg.lr + 1 / cfg.epochs, "other": 1.0}

    words = [
        f"method={method}",
        "max_budget=9",
        "budget_key=epochs",
        "checkpoint_key=folder",
        "metric=loss",
        "trials=9",
    ]
    with sweep(*(f"hydra.sweeper.{word}" for word in words), "hydra.sweeper.seed=0", function=train) as study:
        trials = study.trials
    assert {trial.budget for trial in trials} == {1, 3, 9}
    last: dict[str, int] = {}
    for folder, before, epochs in seen:
        assert before == last.get(folder, 0)
        last[folder] = epochs
    assert sorted(last.values()) == sorted(trial.budget for trial in trials)
    assert not [trial for trial in trials if trial.state is xs.State.RUNNING]


def test_a_sweep_over_several_metrics_writes_its_front(sweep: Sweep, tmp_path: Path) -> None:
    def both(cfg: Any) -> dict[str, float]:
        return {"error": task(cfg), "speed": cfg.net.layers}

    with sweep("hydra.sweeper.metric={error:min,speed:max}", "hydra.sweeper.trials=8", function=both) as study:
        assert study.goals.goal == "minimize error, maximize speed"
        front = study.front
    said = OmegaConf.load(tmp_path / "out" / "optimization_results.yaml")
    assert [each["values"] for each in said.solutions] == [list(trial.values.values()) for trial in front]
    assert [each["params"]["lr"] for each in said.solutions] == [trial["lr"] for trial in front]


def test_several_jobs_are_handed_to_the_launcher_at_once_and_numbered_on(sweep: Sweep, tmp_path: Path) -> None:
    with sweep("hydra.sweeper.workers=3", "hydra.sweeper.trials=7", "hydra.sweeper.method=random") as study:
        assert [trial.runs.seen for trial in study.trials][:3] == [
            1,
            2,
            3,
        ]  # the first three without a report in between
        assert len(study.trials) == 7
    assert (tmp_path / "out" / "6").is_dir()


FILE = """
defaults:
  - override hydra/sweeper: xstar
  - _self_
lr: 0.1
net: {layers: 1}
hydra:
  sweeper:
    trials: 4
    params:
      lr: tag(log, interval(0.1, 0.2))
      net.layers: 2,3
"""


def test_parameters_of_the_configuration_are_swept_and_the_command_line_wins(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(FILE)
    words = [f"--config-dir={tmp_path}", "--config-name=file"]
    with sweep(*words, swept=["net.layers=3,4"], function=lambda cfg: cfg.lr) as study:
        assert study.space == xs.Space(lr=xs.Float(0.1, 0.2, log=True), net__layers=xs.Ordinal([3, 4]))
        assert len(study.trials) == 4


def test_another_sweep_by_the_same_name_is_refused(sweep: Sweep) -> None:
    sweep("hydra.sweeper.trials=2", "hydra.sweeper.method=random").close()
    with pytest.raises(StudyMismatch, match="seed"):
        sweep("hydra.sweeper.trials=3", "seed=7")  # not swept, and not said before
    with pytest.raises(StudyMismatch, match=r"lr: low is 0\.001 here, 0\.0001 there"):
        sweep(swept=["lr=tag(log,interval(1e-3,1))", *SWEPT[1:]])


def test_failed_jobs_are_recorded_and_a_mistake_ends_the_sweep(sweep: Sweep) -> None:
    def sometimes(cfg: Any) -> float:
        if cfg.net.layers == 2:
            raise ValueError("two layers do not fit")
        return float(cfg.lr)

    with sweep(
        "hydra.sweeper.trials=7", "hydra.sweeper.method=random", "hydra.sweeper.seed=1", function=sometimes
    ) as study:
        failed = [trial for trial in study.trials if trial.state is xs.State.FAILED]
        assert failed
        assert len(study.trials) == 7
        assert {trial["net__layers"] for trial in failed} == {2}
        assert "two layers do not fit" in str(failed[0].reason)

    def mistaken(cfg: Any) -> float:
        return float(cfg.lr + cfg.not_there)

    with pytest.raises(ObjectiveError, match=r"failed in the same way.*line \d+.*max_failures=null"):
        sweep("hydra.sweeper.study=m", "hydra.sweeper.trials=20", function=mistaken)
    with pytest.raises(ObjectiveError, match="must return a number"):
        sweep("hydra.sweeper.study=n", function=lambda cfg: None)


def test_what_cannot_be_a_sweep_is_refused_by_name(sweep: Sweep) -> None:
    with pytest.raises(InvalidSpace, match=r"overrides: .* swept"):
        sweep(swept=["lr=0.5"])
    with pytest.raises(InvalidArgument, match=r"max_budget: .*budget_key"):
        sweep("hydra.sweeper.max_budget=9")
    with pytest.raises(InvalidArgument, match=r"workers: .* 1, but got 0"):
        sweep("hydra.sweeper.workers=0")
    with pytest.raises(InvalidSpace, match=r"lr: .*log.*loud"):
        sweep(swept=["lr=tag(log,loud,interval(1e-3,1))"])
    with pytest.raises(InvalidSpace, match=r"net__layers: .* one key"):
        sweep(swept=["net.layers=1,2", "+net__layers=1,2"])


def test_null_is_none_to_the_task_whether_swept_fixed_or_of_the_configuration(sweep: Sweep) -> None:
    seen = []

    def maybe(cfg: Any) -> float:
        seen.append((cfg.drop, cfg.fixed, cfg.epochs))
        return 1.0 if cfg.drop is None else 0.0

    words = ["+fixed=null", "+hydra.sweeper.params.epochs=null", "hydra.sweeper.method=grid"]
    with sweep(*words, swept=["+drop=null,'null',0.5"], function=maybe) as study:
        assert [trial["drop"] for trial in study.trials] == [None, "null", 0.5]
    assert seen == [(None, None, None), ("null", None, None), (0.5, None, None)]


def test_options_that_are_equal_in_python_are_refused_not_dropped() -> None:
    with pytest.raises(InvalidSpace, match=r"must differ .* True == 1"):
        read("x", OverridesParser.create().parse_overrides(["x=1,true"])[0])


@pytest.mark.parametrize(
    ("line", "parameter", "written"),
    [
        ("lr=interval(0,1)", xs.Float(0, 1), {0.25: "lr=0.25", 1e-05: "lr=1e-05"}),
        ("n=int(tag(log,interval(1,64)))", xs.Int(1, 64, log=True), {8: "n=8"}),
        ("n=range(1,9)", xs.Int(1, 8), {8: "n=8"}),
        ("n=range(0,1,0.25)", xs.Ordinal([0.0, 0.25, 0.5, 0.75]), {0.75: "n=0.75"}),
        ("n=8,16,32", xs.Ordinal([8, 16, 32]), {16: "n=16"}),
        ("n=32,8,16", xs.Choice([32, 8, 16]), {8: "n=8"}),
        ("+a.b=x,'y z',null", xs.Choice(["x", "y z", None]), {"y z": "+a.b='y z'", None: "+a.b=null"}),
        ("a='null',null", xs.Choice(["null", None]), {"null": "a='null'", None: "a=null"}),
        ("shape=[1,2],[3,4]", xs.Choice(["[1,2]", "[3,4]"]), {"[3,4]": "shape=[3,4]"}),
        ("on=true,false", xs.Choice([True, False]), {True: "on=True"}),
        ("n=range(3,4)", xs.Constant(3), {3: "n=3"}),
    ],
)
def test_overrides_become_parameters_and_values_overrides(line: str, parameter: Any, written: dict[Any, str]) -> None:
    parser = OverridesParser.create()
    swept = read("x", parser.parse_overrides([line])[0])
    assert xs.Space(x=swept.parameter) == xs.Space(x=parameter)
    for value, expected in written.items():
        assert swept.override(value) == expected
        assert not parser.parse_overrides([expected])[0].is_sweep_override()


PROGRAM = """
import hydra, os, signal
from pathlib import Path

@hydra.main(version_base="1.3", config_path=None)
def main(cfg):
    count = len(list(Path(".").glob("begun-*")))
    Path(f"begun-{count}").touch()
    if count == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return cfg.x ** 2

main()
"""


def test_an_interrupted_sweep_gives_its_job_back_and_loses_nothing(tmp_path: Path) -> None:
    program = tmp_path / "app.py"
    program.write_text(PROGRAM)
    words = ["--multirun", "hydra/sweeper=xstar", "+x=interval(-1,1)", "hydra.sweeper.trials=6", *QUIET]
    command = [sys.executable, str(program), *words, "hydra.sweeper.seed=1", "hydra.sweeper.method=random"]
    ours = {**os.environ, "PYTHONPATH": str(Path(xs.__file__).parents[1])}
    given: dict[str, Any] = {"cwd": tmp_path, "env": ours, "capture_output": True, "text": True, "timeout": 250}
    first = subprocess.run(command, check=False, **given)
    assert first.returncode != 0
    with xs.Study.open("app", tmp_path / "xstar.db") as study:
        assert [trial.state for trial in study.trials] == [xs.State.COMPLETE] * 3 + [xs.State.WAITING]
    subprocess.run(command, check=True, **given)
    with xs.Study.open("app", tmp_path / "xstar.db") as study:
        assert [trial.state for trial in study.trials] == [xs.State.COMPLETE] * 6
        assert study.trials[3].attempt == 1
