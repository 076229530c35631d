"""TreeBO, which searches feed-forward networks; NASBOT as its paper has it."""

from __future__ import annotations

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.look.audit import audit
from xstar.nets.catalogue import Catalogue
from xstar.nets.modifiers import CHAIN, mutate
from xstar.searchers import TreeBO

MLPS = xs.nets.MLP(inputs=8, outputs=1)


def layers(trial: xs.Trial) -> float:
    return abs(len(trial["net"].layers) - 7) + trial.config.get("lr", 0.0)


@pytest.mark.parametrize("domain", [MLPS, xs.nets.CNN(image=16)], ids=lambda domain: domain.kind)
def test_every_network_is_feed_forward(domain: object) -> None:
    space = xs.Space(net=domain, lr=xs.Float(1e-3, 1.0, log=True))
    study = xs.minimize(layers, space, trials=16, method="treebo", seed=1).study
    assert all(trial["net"].is_chain for trial in study.trials)
    assert study.trials[-1].origin.startswith("treebo: log EI")
    assert study.best.value is not None
    assert study.best.value < min(layers(trial) for trial in study.trials[:10]) + 1e-12
    assert audit(study).findings == []


def test_random_networks_are_feed_forward_too() -> None:
    study = xs.minimize(layers, xs.Space(net=MLPS), trials=14, searcher=TreeBO(initial=14), seed=1).study
    assert all(trial["net"].is_chain for trial in study.trials)
    assert audit(study).findings == []


def test_networks_of_a_user_need_not_be_and_are_no_parents() -> None:
    rng = np.random.default_rng(0)
    branched = next(net for net in (MLPS.sample(rng) for _ in range(100)) if not net.is_chain)
    study = xs.Study(xs.Space(net=MLPS), searcher=TreeBO(initial=2), seed=1)
    study.add({"net": branched}, -10.0)
    for _ in range(6):
        trial = study.ask()
        assert trial is not None
        assert trial["net"].is_chain
        study.tell(trial, layers(trial))


def test_modifiers_that_keep_a_chain() -> None:
    rng = np.random.default_rng(0)
    for domain in (MLPS, xs.nets.CNN(image=32)):
        for graph in domain.pool:
            assert graph.is_chain
            assert mutate(graph, rng, domain.contains, modifiers=CHAIN).is_chain


def test_without_networks_it_is_a_gp() -> None:
    space = xs.Space(x=xs.Float(0, 1), y=xs.Float(0, 1))
    study = xs.minimize(lambda t: t["x"] ** 2 + t["y"], space, trials=9, searcher=TreeBO(), seed=1).study
    assert study.trials[-1].origin.startswith("treebo: log EI")
    assert audit(study).findings == []


def test_other_architectures_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="MLP or CNN"):
        xs.Study(xs.Space(net=xs.nets.Cell()), method="treebo").ask()


def test_the_layers_of_a_catalogue() -> None:
    catalogue = Catalogue(MLPS)
    small, large = sorted(MLPS.pool, key=len)[:: len(MLPS.pool) - 1]
    numbers = catalogue.enter([small, None, large])
    types, units = catalogue.layers(np.array(numbers))
    assert types.shape == units.shape == (3, len(large) - 3)
    assert ((types >= 0).sum(axis=1) == [len(small) - 3, 0, len(large) - 3]).all()
    assert units[0, 0] == np.log2(small.layers[1].units or 0)


def test_nasbot_as_its_paper_has_it() -> None:
    study = xs.minimize(layers, xs.Space(net=MLPS), trials=13, method="nasbot-paper", seed=1).study
    assert study.trials[-1].origin.startswith("nasbot-paper: log EI")
    assert audit(study).findings == []
