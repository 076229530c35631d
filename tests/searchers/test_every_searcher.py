"""What all searchers stand: the shared suite, wrong settings, foreign domains, resuming; and each is better than chance."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xstar as xs
from tests.searchers.cases import (
    SQUARE,
    best_value,
    bowl,
    run,
)
from tests.space.cases import Words
from xstar.errors import InvalidArgument
from xstar.models import features
from xstar.schedulers import ASHA, FIFO, Hyperband, SearcherBudget, StoppingASHA
from xstar.searchers import (
    BOCA,
    CMA,
    DNGO,
    GP,
    NASBOT,
    PBIL,
    SEARCHERS,
    TPE,
    DNGOPaper,
    Evolution,
    Forest,
    Grid,
    MOBSTERPaper,
    NASBOTPaper,
    NetworkRandom,
    Random,
    RegularisedEvolution,
    Searcher,
    Sobol,
    TreeBO,
)
from xstar.searchers.auto import Auto
from xstar.study.methods import METHODS
from xstar.testing import check_searcher

pytestmark = pytest.mark.usefixtures("short_training")


@pytest.mark.parametrize(
    ("searcher", "trials"),
    [
        (Random(), 25),
        (Sobol(), 25),
        (Grid(points=40), 25),
        (GP(), 25),
        (GP(initial=2, fantasies=0, transform=False), 9),
        (GP(acquisition="thompson"), 18),
        (GP(acquisition="ucb", samples=2, fantasies=3), 18),
        (DNGO(networks=2, samples=2, fantasies=3), 8),
        (DNGO(initial=2, activation="relu-tanh", transform=False, networks=1), 8),
        (Auto(switch=6), 8),
        (NASBOT(), 9),
        (BOCA(), 25),
        (TreeBO(), 15),
        (TPE(), 25),
        (TPE(2, 0.3, 4, 0.3), 25),
        (Forest(), 25),
        (Forest(2, 3, 0.5, 2, 10), 25),
        (Evolution(), 25),
        (Evolution(2, 1), 25),
        (RegularisedEvolution(5, 2), 25),
        (NetworkRandom(), 25),
        (NetworkRandom(2), 25),
        (PBIL(), 25),
        (PBIL("step"), 25),
        (PBIL("none"), 25),
        (PBIL("none", "umda", 1.0, 6), 25),
        (PBIL("samples", "exponential"), 12),
        (CMA(), 25),
        (CMA(population=4, sigma=0.1, restarts=False), 25),
    ],
    ids=repr,
)
def test_conforms(searcher: Searcher, trials: int) -> None:
    if isinstance(searcher, CMA):
        pytest.importorskip("cmaes")
    check_searcher(searcher, trials)


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("searcher", "settings", "argument"),
    [
        *((GP, {"acquisition": value}, "acquisition") for value in ("pi", np.array(["ei"]))),
        (GP, {"budget_kernel": "spline"}, "budget_kernel"),
        (GP, {"transform": None}, "transform"),
        *((GP, {"initial": value}, "initial") for value in (0, 2.5)),
        *((GP, {"samples": value}, "samples") for value in (-1, True)),
        *((GP, {"explore_every": value}, "explore_every") for value in (-1, "often")),
        *((GP, {"fantasies": value}, "fantasies") for value in (-1, True)),
        (GP, {"max_observations": 9}, "max_observations"),
        *((GP, {"prior_weight": value}, "prior_weight") for value in (-1, "much")),
        *((DNGO, {"activation": value}, "activation") for value in ("sigmoid", "gelu")),
        *((DNGO, {"transform": value}, "transform") for value in (1, np.True_)),
        (DNGO, {"device": "tpu"}, "device"),
        *((DNGO, {name: 0}, name) for name in ("initial", "samples", "networks")),
        (DNGO, {"fantasies": True}, "fantasies"),
        (DNGO, {"explore_every": -1}, "explore_every"),
        *((Auto, {"switch": value}, "switch") for value in (0, 1.5)),
        (NASBOT, {"distances": "some"}, "distances"),
        *((NASBOT, {"features": value}, "features") for value in (0, 1)),
        (NASBOT, {"distances": "none", "features": False}, "features"),
        *((TPE, {"gamma": 1.5}, "gamma"), (TPE, {"random_fraction": True}, "random_fraction")),
        (TPE, {"candidates": 0}, "candidates"),
        *((Forest, {"min_samples_leaf": 0}, "min_samples_leaf"), (Forest, {"trees": 1}, "trees")),
        *((Forest, {"max_features": 2.0}, "max_features"), (Forest, {"max_observations": 9}, "max_observations")),
        *((each, {"initial": 0}, "initial") for each in (BOCA, TreeBO, Evolution)),
        *((each, {"max_observations": 9}, "max_observations") for each in (BOCA, TreeBO)),
        *((Evolution, {"per_generation": 0}, "per_generation"), (Evolution, {"initial": 1.5}, "initial")),
        (RegularisedEvolution, {"population": 5, "tournament": 6}, "tournament"),
        *((PBIL, {"weights": "best"}, "weights"), (PBIL, {"step": 2.0}, "step")),
        *((CMA, {"sigma": 0}, "sigma"), (Grid, {"points": 1}, "points")),
    ],
)
def test_a_wrong_setting_is_named_with_a_remedy(searcher: Any, settings: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^{argument}: must .*, but got .*; ") as caught:
        searcher(**settings)
    assert caught.value.argument == argument


def test_settings_are_stored() -> None:
    for searcher in (
        GP(initial=3, budget_kernel="decay", samples=2),
        DNGO(initial=3, activation="relu", samples=4),
        Auto(switch=50),
        PBIL("step"),
    ):
        assert SEARCHERS.load(SEARCHERS.dump(searcher)) == searcher


@pytest.mark.parametrize("method", ["gp", "dngo", "tpe", "forest", "nasbot", "cma"])
def test_domains_without_positions_are_refused(method: str) -> None:
    if method == "cma":
        pytest.importorskip("cmaes")
    with pytest.raises(InvalidArgument, match="word"):
        xs.Study(xs.Space(x=xs.Float(0, 1), word=Words("ab")), method=method).ask()


def test_the_names_of_the_papers() -> None:
    expected: dict[str, tuple[Searcher, Any]] = {
        "bohb": (TPE(gamma=0.15, candidates=64, random_fraction=1 / 3), Hyperband(27)),
        "ts": (GP(acquisition="thompson"), FIFO(27)),
        "boca": (BOCA(), SearcherBudget(27)),
        "dngo-paper": (DNGOPaper(), FIFO(27)),
        "nasbot-paper": (NASBOTPaper(), FIFO(27)),
        "mobster-paper": (MOBSTERPaper(), ASHA(27)),
        "treebo": (TreeBO(), FIFO(27)),
    }
    assert {name: (METHODS[name][0](), METHODS[name][1](27)) for name in expected} == expected
    for name, kind in {"mobster": ASHA, "mobster-stop": StoppingASHA, "mobster-hyperband": ASHA}.items():
        searcher, scheduler = METHODS[name][0](), METHODS[name][1](27)
        assert (searcher, type(scheduler)) == (GP(), kind)
    assert len(scheduler.sizes) == 4  # type: ignore[attr-defined]


def test_import_loads_neither_optimiser_nor_lapack() -> None:
    program = "import sys, xstar, xstar.searchers.dngo.searcher, xstar.searchers.auto; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "xstar.searchers.gp.searcher" in loaded
    assert not {name for name in loaded if name.startswith(("scipy.optimize", "scipy.linalg", "scipy.stats", "torch"))}


# ---------------------------------------------------------------- does it search?

SWITCHES = xs.Space({f"c{place}": xs.Choice(["u", "v", "w", "x"]) for place in range(8)})


def mistakes(config: dict[str, Any]) -> float:
    """Nothing is smooth."""
    return float(sum(config[f"c{place}"] != "uvwxwvux"[place] for place in range(8)))


def valley(config: dict[str, Any]) -> float:
    x, y = 4 * config["x"] - 2, 4 * config["y"] - 2
    return float(100 * (y - x**2) ** 2 + (1 - x) ** 2)


@pytest.mark.parametrize(
    ("searcher", "loss", "trials", "seeds", "share"),
    [
        (GP(), bowl, 30, (1, 2), 0.2),
        (DNGO(networks=2), bowl, 30, (1, 2), 0.2),
        (TPE(), bowl, 60, (0, 1, 2, 3), 0.3),
        (Forest(), mistakes, 50, (0, 1), 0.99),
        (Evolution(), bowl, 150, (0,), 0.99),
        (CMA(), valley, 300, (0,), 1e-2),
    ],
    ids=["gp", "dngo", "tpe", "forest", "evolution", "cma"],
)
def test_it_beats_random_search(
    searcher: Searcher,
    loss: Callable[..., float],
    trials: int,
    seeds: tuple[int, ...],
    share: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if isinstance(searcher, CMA):
        pytest.importorskip("cmaes")
    monkeypatch.setattr(features, "MOST_STEPS", 400)
    space = SWITCHES if loss is mistakes else SQUARE
    ratio = 1.0
    for seed in seeds:
        ours, theirs = (xs.Study(space, searcher=each, seed=seed) for each in (searcher, Random()))
        run(ours, trials, loss)
        run(theirs, trials, loss)
        ratio *= best_value(ours) / best_value(theirs)
        if isinstance(searcher, GP | DNGO):
            assert best_value(ours) < 1e-3
    assert ratio < share ** len(seeds)
