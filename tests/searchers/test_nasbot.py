"""NASBOT: spaces with architectures, alone, with other parameters, over budgets, with failures and many workers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import xstar as xs
from tests.searchers.cases import ask, best_value, run
from xstar.errors import InvalidArgument
from xstar.look.audit import audit
from xstar.nets import synthetic
from xstar.searchers import DNGO, GP, NASBOT
from xstar.searchers.bo.inputs import NetworkKernel
from xstar.searchers.bo.observations import Observations
from xstar.searchers.gp.fit import GaussianProcess

SMALL = xs.nets.MLP(inputs=4, max_layers=14, units=(8, 64))
NETS = xs.Space(net=SMALL)
JOINT = xs.Space(lr=xs.Float(1e-4, 1e-1, log=True), net=SMALL, kind=xs.Choice(["a", "b"]))
CONDITIONAL = xs.Space(
    kind=xs.Choice(["net", "tree"]), net=xs.nets.MLP(inputs=4, max_layers=12, when={"kind": "net"}), x=xs.Float(0, 1)
)


def loss(config: dict[str, Any]) -> float:
    value = 0.0
    if "net" in config:
        value -= synthetic.f3(config["net"])
    if "lr" in config:
        value += (np.log10(config["lr"]) + 2.5) ** 2 + (config["kind"] == "a")
    return float(value + (config["x"] - 0.3) ** 2 if "x" in config else value)


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("space", [NETS, JOINT, CONDITIONAL], ids=["nets", "joint", "conditional"])
@pytest.mark.parametrize("searcher", [NASBOT(initial=4), DNGO(initial=4, networks=2, fantasies=3)])
def test_searches_spaces_with_architectures(searcher: NASBOT | DNGO, space: xs.Space) -> None:
    study = xs.Study(space, searcher=searcher, seed=0)
    trials = run(study, 8, loss)
    name = "nasbot" if isinstance(searcher, NASBOT) else "dngo"
    assert [trial.origin.startswith(f"{name}: log EI") for trial in trials] == [False] * 4 + [True] * 4
    assert len({space.key(trial.config) for trial in trials}) == 8
    for trial in trials:
        space.parse(trial.config)  # canonical, or it raises
    assert audit(study).findings == []


def test_with_hyperparameters_drawn_from_their_posterior() -> None:
    """The paper's kernel as the paper has it."""
    study = xs.Study(NETS, searcher=NASBOT(initial=6, samples=2, features=False), seed=0)
    trials = run(study, 8, loss)
    assert all(trial.origin.startswith("nasbot: log EI") for trial in trials[6:])
    assert audit(study).findings == []


def test_the_initial_design_is_the_pool() -> None:
    study = xs.Study(xs.Space(net=xs.nets.MLP(inputs=4)), method="nasbot", seed=1)
    pool = xs.nets.MLP(inputs=4).pool
    trials = [ask(study) for _ in range(10)]
    assert [trial.config["net"] for trial in trials] == list(pool)
    assert trials[2].origin == "nasbot: initial 3, network 3 of 10 of the pool"


def test_it_finds_better_networks_than_chance() -> None:
    space = xs.Space(net=xs.nets.MLP(inputs=4, max_layers=9, units=(8, 32)))
    best = {
        method: [
            best_value(xs.minimize(lambda t: loss(t.config), space, method=method, trials=22, seed=seed))
            for seed in (0, 1)
        ]
        for method in ("nasbot", "random")
    }
    assert np.mean(best["nasbot"]) < np.mean(best["random"])


@pytest.mark.parametrize("kernel", ["matern", "decay"])
def test_over_budgets(kernel: str) -> None:
    """MOBSTER on a space with a net: the product kernel, over (x, r)."""
    scheduler = xs.schedulers.ASHA(9)
    study = xs.Study(JOINT, searcher=GP(initial=4, budget_kernel=kernel), scheduler=scheduler, seed=0)
    origins = []
    for _ in range(14):
        trial = ask(study)
        origins.append(trial.origin)
        while study.history.trials[trial.number].state is xs.State.RUNNING:
            reports = study.history.trials[trial.number].reports
            budget = (reports[-1].budget if reports else 0) + 1
            study.report(trial, loss(trial.config) + 1.0 / budget, budget=budget)
    assert any(origin.startswith("nasbot: log EI") and "at budget 9" in origin for origin in origins), origins
    assert not any("failed" in origin for origin in origins)


@pytest.mark.parametrize("fantasies", [20, 0])
def test_workers_are_given_different_networks(fantasies: int) -> None:
    study = xs.Study(NETS, searcher=NASBOT(initial=3, fantasies=fantasies), seed=2)
    run(study, 4, loss)
    running = [ask(study) for _ in range(5)]
    assert len({trial.config["net"] for trial in running}) == 5


def test_failures_are_learned_from() -> None:
    """Networks of more than 9 layers fail: fewer and fewer of them are suggested, and the search goes on."""

    def fragile(config: dict[str, Any]) -> float:
        if len(config["net"].layers) > 9:
            raise xs.Infeasible("too deep")
        return loss(config)

    study = xs.Study(NETS, searcher=GP(initial=10), seed=0)
    trials = run(study, 30, fragile)
    deep = [len(trial.config["net"].layers) > 9 for trial in trials]
    random = [len(SMALL.sample(np.random.default_rng(seed)).layers) > 9 for seed in range(100)]
    assert np.mean(deep[20:]) < np.mean(random)
    assert study.history.trials[-1].origin.startswith("nasbot: log EI")


def test_only_failures_and_one_observation() -> None:
    study = xs.Study(NETS, searcher=GP(initial=2), seed=0)
    for _ in range(4):
        study.fail(ask(study), "no", kind="infeasible")
    assert ask(study).origin.startswith("nasbot: log p")
    study = xs.Study(NETS, searcher=GP(initial=1), seed=0)
    run(study, 3, lambda config: 1.0)  # all the same
    assert ask(study).origin.startswith("nasbot: log EI")


def test_a_constraint_metric() -> None:
    study = xs.Study(NETS, searcher=GP(initial=6), constraints={"layers": 9.0}, metric="loss", seed=0)
    for _ in range(22):
        trial = ask(study)
        study.tell(trial, {"loss": loss(trial.config), "layers": float(len(trial.config["net"].layers))})
    sizes = [len(trial.config["net"].layers) for trial in study.history.trials]
    assert np.mean(np.array(sizes[14:]) > 9) <= np.mean(np.array(sizes[:6]) > 9)
    assert len(study.best.config["net"].layers) <= 9


def test_cells_are_tried_to_the_last() -> None:
    """A finite space: three nodes, two operations, eight cells."""
    space = xs.Space(cell=xs.nets.Cell(nodes=3, operations=("skip_connect", "nor_conv_3x3")))
    study = xs.Study(space, method="nasbot", seed=0)
    seen = set()
    while (trial := study.ask()) is not None:
        seen.add(trial.config["cell"])
        study.tell(trial, float(trial.config["cell"].operations.count("skip_connect")))
    assert len(seen) == 8


def test_an_indefinite_kernel_is_met_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """p̄ = 2 makes matrices with negative eigenvalues: what is added to their diagonal stands in the origin."""
    space = xs.Space(cell=xs.nets.Cell())
    kernel = NetworkKernel("normalised", features=False, powers=(2.0, 2.0))

    monkeypatch.setattr(NASBOT, "_surrogate", lambda self: GaussianProcess(network_kernels=kernel))
    study = xs.Study(space, searcher=NASBOT(initial=30), seed=0)
    trials = run(study, 34, lambda config: float(config["cell"].operations.count("nor_conv_3x3")))
    assert any("not positive definite" in trial.origin for trial in trials[30:])
    for trial in trials[30:]:
        assert re.match(r"nasbot: log EI|random: nasbot failed at n=\d+, a covariance matrix of \d+ rows", trial.origin)


def test_the_kernel_is_a_sum_of_what_is_asked_for() -> None:
    study = xs.Study(NETS, searcher=GP(initial=2), seed=0)
    run(study, 2, loss)
    data = Observations.of(study.history)
    described = len(data.catalogues[0].names) + 1
    for parts, describe, size in [("both", False, 10), ("plain", True, 5 + described), ("none", True, described)]:
        ((kernel, priors),) = NetworkKernel(parts, describe).of(data)
        assert len(kernel.names) == len(priors) == size


@pytest.mark.parametrize(
    "space", [NETS, CONDITIONAL, xs.Space(cell=xs.nets.Cell())], ids=["nets", "conditional", "cell"]
)
def test_what_is_cached_does_not_matter(space: xs.Space) -> None:
    kept, cleared = (xs.Study(space, searcher=GP(initial=5), seed=3) for _ in range(2))
    for number in range(14):
        cleared.history.memo.clear()
        one, other = ask(kept), ask(cleared)
        assert one.config == other.config, number
        assert one.origin == other.origin
        for study, trial in ((kept, one), (cleared, other)):
            if number % 5 == 3:
                study.fail(trial, "no", kind="infeasible")
            elif number % 5 != 4 and "cell" in trial.config:
                study.tell(trial, float(trial.config["cell"].operations.count("nor_conv_3x3")))
            elif number % 5 != 4:  # else it runs on
                study.tell(trial, loss(trial.config))


def test_a_climb_switches_no_network_on_or_off() -> None:
    net = xs.nets.MLP(inputs=4, max_layers=9, units=(8, 32), when={"x": xs.at_least(0.5)})
    space = xs.Space(x=xs.Float(0, 1), net=net)
    for searcher in (GP(initial=6), DNGO(initial=6, networks=1)):
        study = xs.Study(space, searcher=searcher, seed=0)
        for trial in run(study, 16, lambda config: abs(config["x"] - 0.5)):
            space.parse(trial.config)


def test_descriptions_stand_in_for_networks_where_positions_are_needed() -> None:
    study = xs.Study(CONDITIONAL, searcher=GP(initial=4), seed=0)
    run(study, 4, loss)
    data = Observations.of(study.history)
    rows = data.described(data.X)
    assert rows.shape == (4, data.cube.width + len(data.catalogues[0].names))
    assert_array_equal(rows[:, : data.cube.width], data.X[:, : data.cube.width])
    for trial, row in zip(study.history.trials, rows, strict=True):
        assert ("net" in trial.config) == (row[data.cube.width] != 0.5)


def test_an_acquisition_that_networks_do_not_have_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="thompson"):
        xs.Study(NETS, searcher=GP(acquisition="thompson")).ask()
