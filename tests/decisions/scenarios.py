"""Small searches of every method on fixed seeds, whose decisions are recorded (``record.py``) and made again (the test).

Each scenario is a searcher and a scheduler on a cheap problem, with several trials at a time, failures and constraints where
those change what is decided. Objectives are plain arithmetic, so that a recording does not depend on a library.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import xstar as xs
from tests.clocks import study_at
from xstar.nets.cell import CellNetwork
from xstar.nets.graph import Graph
from xstar.schedulers import ASHA, FIFO, Hyperband, Median, Scheduler, SearcherBudget, StoppingASHA
from xstar.searchers import (
    BOCA,
    CMA,
    DNGO,
    GP,
    NASBOT,
    NSGA2,
    PBIL,
    TPE,
    Auto,
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
from xstar.study import open_storage

EPOCHS = 27
PLAIN = FIFO()

SPACES: dict[str, xs.Space] = {
    "smooth": xs.Space(x=xs.Float(-1.0, 1.0), y=xs.Float(1e-4, 1.0, log=True), z=xs.Float(0.0, 1.0)),
    "mixed": xs.Space(
        lr=xs.Float(1e-4, 1e-1, log=True),
        layers=xs.Int(1, 4),
        optimizer=xs.Choice(["sgd", "adam", "rms"]),
        momentum=xs.Float(0.0, 0.99, when={"optimizer": "sgd"}),
        wide=xs.Bool(),
    ),
    "finite": xs.Space(a=xs.Choice(["p", "q", "r"]), b=xs.Int(0, 5), c=xs.Ordinal([1, 2, 4, 8])),
    "bits": xs.Space(mask=xs.Bits(10), kind=xs.Choice(["u", "v", "w"])),
    "mlp": xs.Space(net=xs.nets.MLP(inputs=8, outputs=2)),
    "cell": xs.Space(net=xs.nets.Cell(), lr=xs.Float(1e-3, 1.0, log=True)),
    "cnn": xs.Space(net=xs.nets.CNN(image=16), lr=xs.Float(1e-3, 1.0, log=True)),
    "smooth, wider": xs.Space(
        x=xs.Float(-2.0, 2.0), y=xs.Float(1e-4, 1.0, log=True), z=xs.Float(0.0, 1.0), w=xs.Int(1, 3)
    ),
    "chain": xs.Space(net=xs.nets.Chain(("nor_conv_1x1", "nor_conv_3x3", "skip_connect"), max_length=5)),
}
FILL = {"w": 2}
"""What parameters of a wider space were before."""


@dataclass(frozen=True)
class Scenario:
    """One search."""

    space: str
    searcher: Searcher
    scheduler: Scheduler = PLAIN
    trials: int = 18
    workers: int = 1
    failing: bool = False
    """A region fails, and one trial in seven does by chance."""
    bound: float | None = None
    """The largest allowed ``cost``."""
    warm: bool = False
    """Begin with what a search of a related problem observed."""
    wider: str = ""
    """The space in which it goes on after half of the trials."""


def _scenarios() -> dict[str, Scenario]:
    asha, stop, brackets = ASHA(EPOCHS), StoppingASHA(EPOCHS), ASHA(EPOCHS, brackets=None)
    return {
        "random": Scenario("mixed", Random(), trials=20, workers=2, failing=True),
        "random-finite": Scenario("finite", Random(), trials=30),
        "sobol": Scenario("mixed", Sobol(), trials=20, failing=True),
        "grid": Scenario("mixed", Grid(points=3), trials=20),
        "pbil": Scenario("bits", PBIL(), trials=40),
        "evolution": Scenario("mixed", Evolution(), trials=30, workers=2, failing=True),
        "asha": Scenario("mixed", Random(), asha, trials=30, workers=4, failing=True),
        "asha-stop": Scenario("mixed", Random(), stop, trials=30, workers=4),
        "async-hyperband": Scenario("mixed", Random(), brackets, trials=30, workers=4),
        "successive-halving": Scenario("mixed", Random(), Hyperband(9, brackets=1), trials=20, workers=3),
        "hyperband": Scenario("mixed", Random(), Hyperband(9), trials=30, workers=3, failing=True),
        "median": Scenario("mixed", Random(), Median(9), trials=15, workers=2),
        "gp": Scenario("smooth", GP(), trials=24),
        "gp-mixed": Scenario("mixed", GP(), trials=24, workers=4),
        "gp-finite": Scenario("finite", GP(), trials=24, workers=2),
        "gp-failing": Scenario("smooth", GP(), trials=24, workers=3, failing=True),
        "gp-bounded": Scenario("mixed", GP(), trials=24, workers=2, bound=0.6),
        "gp-bounded-failing": Scenario("smooth", GP(samples=2), trials=20, workers=2, failing=True, bound=0.5),
        "gp-never-feasible": Scenario("smooth", GP(), trials=14, workers=3, bound=-1.0),
        "gp-ucb": Scenario("smooth", GP(acquisition="ucb"), workers=2, bound=0.7),
        "gp-thompson": Scenario("smooth", GP(acquisition="thompson"), workers=2, failing=True),
        "gp-thompson-finite": Scenario("finite", GP(acquisition="thompson"), workers=2),
        "gp-untransformed": Scenario("smooth", GP(transform=False, explore_every=0), workers=3),
        "gp-hallucination": Scenario("smooth", GP(fantasies=0), workers=4),
        "gp-subset": Scenario("smooth", GP(max_observations=12), trials=30, workers=2),
        "mobster": Scenario("mixed", GP(), asha, trials=20, workers=4, failing=True),
        "mobster-stop": Scenario("smooth", GP(), stop, trials=20, workers=4),
        "mobster-hyperband": Scenario("smooth", GP(), brackets, trials=20, workers=4, bound=0.7),
        "mobster-decay": Scenario("smooth", GP(budget_kernel="decay"), asha, workers=3),
        "mobster-paper": Scenario("smooth", MOBSTERPaper(), asha, workers=3),
        "dngo": Scenario("smooth", DNGO(networks=3), trials=24, workers=2),
        "dngo-mixed": Scenario("mixed", DNGO(networks=2, samples=2), trials=20, workers=12, failing=True),
        "dngo-many-workers": Scenario("smooth", DNGO(networks=2), trials=80, workers=55, bound=0.7),
        "dngo-finite": Scenario("finite", DNGO(networks=2), workers=3),
        "dngo-failing": Scenario("smooth", DNGO(networks=2, activation="relu"), workers=3, failing=True, bound=0.5),
        "dngo-never-feasible": Scenario("smooth", DNGO(networks=2), trials=14, workers=3, bound=-1.0),
        "dngo-asha": Scenario("mixed", DNGO(networks=2), asha, trials=20, workers=4, failing=True),
        "auto": Scenario("smooth", Auto(switch=14), trials=20, workers=2),
        "nasbot": Scenario("mlp", NASBOT(), trials=16, workers=2),
        "nasbot-cell": Scenario("cell", NASBOT(), trials=16, failing=True),
        "nasbot-cnn": Scenario("cnn", NASBOT(), trials=14, workers=2, bound=0.7),
        "nasbot-plain": Scenario("mlp", NASBOT(distances="plain", features=False, samples=2), trials=13),
        "nasbot-features": Scenario("mlp", NASBOT(distances="none"), trials=13),
        "mobster-networks": Scenario("cell", NASBOT(), asha, trials=16, workers=3, bound=0.8),
        "gp-networks": Scenario("cell", GP(), trials=14),
        "nasbot-random": Scenario("mlp", NetworkRandom(), trials=16),
        "evolution-networks": Scenario("cnn", Evolution(), trials=16),
        "dngo-networks": Scenario("cell", DNGO(networks=2), trials=16, workers=2, failing=True),
    }


def _more() -> dict[str, Scenario]:
    """Further methods, warm starts and wider spaces."""
    asha, tpe = ASHA(EPOCHS), TPE(random_fraction=1 / 3)
    return {
        "tpe": Scenario("mixed", TPE(), trials=24, workers=3, failing=True),
        "tpe-networks": Scenario("cell", TPE(), trials=18),
        "bohb": Scenario("mixed", tpe, ASHA(EPOCHS, brackets=None), trials=24, workers=4),
        "s-bohb": Scenario("smooth", tpe, Hyperband(9), trials=24, workers=3),
        "forest": Scenario("mixed", Forest(), trials=18, workers=2, bound=0.6),
        "cma": Scenario("smooth", CMA(), trials=30, workers=2),
        "umda": Scenario("bits", PBIL(adapt="none", weights="umda", step=1.0, samples=10), trials=40),
        "regularised-evolution": Scenario("mixed", RegularisedEvolution(10, 4), trials=30, workers=2, failing=True),
        "nsga2": Scenario("mixed", NSGA2(8), trials=30, workers=2, failing=True, bound=0.6),
        "ts": Scenario("smooth", GP(acquisition="thompson"), workers=4),
        "boca": Scenario("smooth", BOCA(), SearcherBudget(EPOCHS), trials=20, workers=3),
        "boca-failing": Scenario("mixed", BOCA(), SearcherBudget(EPOCHS), trials=18, workers=2, failing=True),
        "dngo-paper": Scenario("smooth", DNGOPaper(), workers=3),
        "treebo": Scenario("mlp", TreeBO(), trials=16, workers=2),
        "treebo-cnn": Scenario("cnn", TreeBO(), trials=14, failing=True),
        "nasbot-paper": Scenario("mlp", NASBOTPaper(), trials=13, workers=2),
        "nasbot-chain": Scenario("chain", NASBOT(), trials=14),
        "gp-warm": Scenario("smooth", GP(), trials=14, workers=2, warm=True),
        "mobster-warm": Scenario("mixed", GP(), asha, trials=12, workers=3, failing=True, warm=True),
        "dngo-warm": Scenario("smooth", DNGO(networks=2), trials=12, warm=True),
        "nasbot-warm": Scenario("cell", NASBOT(), trials=12, warm=True),
        "evolution-warm": Scenario("mixed", Evolution(), trials=16, warm=True),
        "gp-wider": Scenario("smooth", GP(), trials=18, workers=2, wider="smooth, wider"),
        "asha-wider": Scenario("smooth", Random(), asha, trials=24, workers=3, wider="smooth, wider"),
        "pbil-wider": Scenario("smooth", PBIL(), trials=30, wider="smooth, wider"),
        "gp-warm-wider": Scenario("smooth", GP(), trials=16, warm=True, wider="smooth, wider"),
    }


SCENARIOS = _scenarios() | _more()


# ---------------------------------------------------------------- a deterministic objective


def _number(value: Any) -> float:
    """A number in [0, 1] that says something of any parameter's value."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return abs(math.log10(abs(value) + 1e-6)) / 6.0
    if isinstance(value, CellNetwork):
        return sum(zlib.crc32(each.encode()) % 100 for each in value.operations) / (100.0 * len(value.operations))
    if isinstance(value, xs.nets.ChainNetwork):
        return sum(zlib.crc32(each.encode()) % 100 for each in value.operations) / (100.0 * len(value.operations))
    if isinstance(value, Graph):
        return (0.07 * len(value.layers) + 0.03 * len(value.edges)) % 1.0
    return zlib.crc32(str(value).encode()) % 1000 / 1000.0


def loss_of(config: Mapping[str, Any]) -> float:
    parts = [_number(value) for value in config.values()]
    return sum((part - 0.3 - 0.1 * place) ** 2 for place, part in enumerate(parts)) + 0.1 * len(parts)


def _chance(number: int) -> bool:
    return zlib.crc32(f"chance {number}".encode()) % 7 == 0


def _fails(config: Mapping[str, Any]) -> bool:
    return _number(next(iter(config.values()))) > 0.6


def _metrics(scenario: Scenario, config: Mapping[str, Any], share: float) -> dict[str, float]:
    loss = loss_of(config) * (1.0 + math.exp(-4.0 * share))
    if scenario.bound is None:
        return {"value": loss}
    cost = sum(_number(value) for value in config.values()) / (1.0 + len(config)) + 0.2
    return {"value": loss, "cost": cost}


# ---------------------------------------------------------------- the search


def play(study: xs.Study, scenario: Scenario, trials: int) -> None:
    """Run the search to ``trials`` trials; which of the running trials is next to report depends on their numbers alone."""
    full = study.scheduler.max_budget
    running: list[xs.Trial] = []
    steps = 0
    limits = xs.Limits(trials=trials)
    while True:
        if scenario.wider and len(study.history.trials) >= scenario.trials // 2:
            study.widen(SPACES[scenario.wider], FILL)
        while len(running) < scenario.workers and (trial := study.ask(limits)) is not None:
            running.append(trial)
        if not running:
            return
        trial = running[(7 * steps) % len(running)]
        steps += 1
        if not _advance(study, scenario, trial, full):
            running.remove(trial)


def _advance(study: xs.Study, scenario: Scenario, trial: xs.Trial, full: int | None) -> bool:
    """One more epoch; whether the run goes on."""
    if scenario.failing and trial.budget == 0:
        if _fails(trial.config):
            study.fail(trial, "too large", kind="infeasible" if trial.number % 2 else "exception")
            return False
        if _chance(trial.number):
            study.fail(trial, "by chance")
            return False
    if full is None:
        study.tell(trial, _metrics(scenario, trial.config, 1.0))
        return False
    study.report(trial, _metrics(scenario, trial.config, (trial.budget + 1) / full))
    return trial.state is xs.State.RUNNING


def make(name: str, clock: Callable[[], float], storage: str | None = None) -> xs.Study:
    """The study of a scenario, new or as stored."""
    scenario = SCENARIOS[name]
    wider = bool(scenario.wider) and storage is not None and _exists(name, storage)
    return study_at(
        clock,
        SPACES[scenario.wider if wider else scenario.space],
        study=name if storage else None,
        storage=storage,
        searcher=scenario.searcher,
        scheduler=scenario.scheduler,
        seed=zlib.crc32(name.encode()) % 1000,
        constraints=None if scenario.bound is None else {"cost": scenario.bound},
        warm_start=_related(scenario) if scenario.warm else None,
    )


def _exists(name: str, storage: str) -> bool:
    place = open_storage(storage)
    try:
        return place.exists(name)
    finally:
        place.close()


def _related(scenario: Scenario) -> xs.Study:
    """A search of a related problem, at all budgets if there are several."""
    study = xs.Study(SPACES[scenario.space], searcher=Random(), scheduler=scenario.scheduler, seed=7)
    for _ in range(15):
        trial = study.ask()
        assert trial is not None
        while trial.state is xs.State.RUNNING:
            loss = 10.0 * loss_of(trial.config) + 3.0
            if study.scheduler.max_budget is None:
                study.tell(trial, loss)
            else:
                study.report(trial, loss + 1.0 / (trial.budget + 1))
    return study
