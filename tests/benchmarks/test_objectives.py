"""The problems with several losses have the fronts that are claimed, and a search is judged by what is feasible alone."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from benchmarks import objectives
from benchmarks.harness.front_ranks import ahead, full_report, holm
from benchmarks.harness.records import Record, Task
from benchmarks.harness.report import Results
from benchmarks.harness.trade_offs import Case, bnh, c2_dtlz2, dtlz, osy, wfg, zdt
from xstar.core.pareto import hypervolume

CLOSED: dict[str, Callable[[], Case]] = {
    **{f"zdt{which}": partial(zdt, which, 4) for which in (1, 2, 3, 4, 6)},
    **{f"dtlz{which}": partial(dtlz, which, 3, 2) for which in (1, 2)},
    **{f"wfg{which}-{m}": partial(wfg, which, m) for which in (4, 9) for m in (2, 3)},
    "c2-dtlz2": partial(c2_dtlz2, 2),
    "bnh": bnh,
    "osy": osy,
}


@pytest.mark.parametrize("name", CLOSED)
def test_random_configurations_cover_some_of_the_front_and_no_more(name: str) -> None:
    case = CLOSED[name]()
    rng = np.random.default_rng(0)
    configs = [case.space.sample(rng) for _ in range(300)]
    losses = [case.losses(c) for c in configs if case.excess is None or max(case.excess(c)) <= 0]
    assert np.isfinite(losses).all()
    assert hypervolume(np.array(losses), case.reference) <= case.volume
    assert not (np.array(losses) < case.front.min(axis=0) - 1e-9).any()


@pytest.mark.parametrize("which", [1, 2])
def test_the_volume_of_a_surface_is_that_of_its_points(which: int) -> None:
    case = dtlz(which, 3, 1)
    grid = np.linspace(0.0, 1.0, 12)
    points = [case.losses({"x0": a, "x1": b, "x2": 0.3}) for a in grid for b in grid]
    assert 0.0 < case.missing(points) < 0.04


def test_wfg4_reaches_its_sphere_where_all_variables_of_distance_are_at_their_places() -> None:
    case, scale = wfg(4, 3), np.array([2.0, 4.0, 6.0])
    rng = np.random.default_rng(0)
    x = np.append(rng.random(4), [0.35] * 4)
    losses = np.array(case.losses({f"x{i}": float(each) for i, each in enumerate(x)}))
    np.testing.assert_allclose(((losses / scale) ** 2).sum(), 1.0)


def test_the_front_of_osy_is_feasible_where_it_is_said_to_lie() -> None:
    case = osy()
    for point, losses in (((5, 1, 5, 0, 5, 0), (-274.0, 76.0)), ((0, 2, 1, 0, 1, 0), (-116.0, 6.0))):
        config = {f"x{i}": float(each) for i, each in enumerate(point)}
        assert case.excess is not None
        assert max(case.excess(config)) <= 0
        assert case.losses(config) == losses
        assert (np.abs(case.front - losses).max(axis=1) < 0.01).any()


def test_what_is_infeasible_covers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objectives, "COUNTS", (4, 8))
    plain = bnh()
    cases = {"osy": osy(), "never": Case(plain.space, plain.losses, plain.front, excess=lambda config: (1.0,))}
    monkeypatch.setattr(objectives, "case_of", cases.__getitem__)
    for method in ("xstar-random", "xstar-gp", "optuna-nsga2"):
        found = objectives.run(Task.of(0, "never", method), Namespace())
        assert found["regrets"] == [1.0, 1.0]
    found = objectives.run(Task.of(1, "osy", "xstar-gp"), Namespace())
    assert found["regrets"][0] >= found["regrets"][1]


def test_a_peer_is_ahead_where_it_covers_more_throughout() -> None:
    def record(seed: int, method: str, regret: float) -> Record:
        found = {"regrets": [regret, regret], "processor": 1.0}
        return Record(Task.of(seed, "zdt1", method), found, {"commit": "abc", "machine": "one", "versions": {}})

    records = [record(s, m, r + s / 100) for s in range(10) for m, r in (("xstar-gp", 0.2), ("a", 0.1), ("b", 0.3))]
    results = Results([each.task for each in records], {each.task: each for each in records})
    text = "\n".join(full_report(results, {"zdt1": "ZDT"}, (50, 100)))
    assert "| ZDT (1) | 2.00 | 1.00 | 3.00 | a (50), a (100) |" in text
    pairs = {("zdt1", s): {"xstar-gp": [0.2], "a": [0.2]} for s in range(5)}
    assert ahead(pairs, "xstar-gp", "a", 0) == 1.0
    assert holm({("a",): 0.2}) == []
