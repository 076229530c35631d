"""The headline ratios in a tiny form: every measure runs, and says how many times better the better one is."""

from __future__ import annotations

import math

import pytest

from benchmarks.quick import __main__ as program
from benchmarks.quick.headlines import MEASURES, Headline, Sizes, there

TINY = Sizes(
    problems=("branin",),
    evaluations=8,
    seeds=1,
    simulated=("curves-mlp",),
    trainings=0.5,
    networks=3,
    bits=8,
    runs=2,
    observations=(30,),
    trials=20,
    stored=3,
    times=1,
)


@pytest.mark.parametrize("name", [name for name in MEASURES if name != "startup"])
def test_every_measure_has_a_peer_in_the_same_run(name: str) -> None:
    found = list(MEASURES[name](TINY))
    assert found
    for headline in found:
        assert math.isfinite(headline.better)
        assert headline.better > 0.0
        assert headline.peer
        assert str(headline).count("×") == 1


def test_a_ratio_is_the_peers_time_over_ours() -> None:
    assert str(Headline("a", "1 ms", "optuna", "5 ms", 5.0)).endswith("5.00×")


def test_peers_that_are_not_installed_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.quick.headlines.installed", lambda package: None)
    assert not there("optuna-tpe")
    assert there("xstar-gp")
    assert list(MEASURES["storage"](TINY)) == []


def test_the_command_prints_what_was_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.quick.headlines.Sizes", lambda: TINY)
    program.main(["--only", "otmann"])
    printed = capsys.readouterr().out
    assert printed.count("OTMANN: exact distances") == 2
    assert "PBIL" not in printed
    with pytest.raises(SystemExit, match="unknown: everything"):
        program.main(["--only", "everything"])
