"""NASBOT's model on the synthetic functions of its paper: the time of a suggestion, and how well kernels predict."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

import xstar as xs
from benchmarks.harness.records import Found, significant
from xstar.models.gp import Posterior, fit, sample_fits
from xstar.models.standardise import Targets
from xstar.models.surrogate import Inputs, at_full_budget
from xstar.nets import synthetic
from xstar.nets.distance import distances
from xstar.searchers import NASBOT
from xstar.searchers.model_based.observations import Observations
from xstar.searchers.model_based.schedule import last_refit
from xstar.searchers.nasbot.kernel import Architectures, network_kernels

DOMAINS: dict[str, Any] = {
    "f1": xs.nets.CNN(image=32, channels=3, classes=10),
    "f2": xs.nets.MLP(inputs=16, outputs=1),
    "f3": xs.nets.MLP(inputs=16, outputs=1),
}
SEEN, ASKED = 60, 40
SPECTRA: dict[str, Any] = {"CNNs": DOMAINS["f1"], "MLPs": DOMAINS["f2"], "cells": xs.nets.Cell()}
POWERS = (1.0, 1.5, 2.0)
SCALES = tuple(float(scale) for scale in np.geomspace(0.1, 100.0, 13))
"""Values of β, the same for all four ν_str; the paper's authors search from 0.1 to 100 for p̄ = 2."""
KERNELS: dict[str, tuple[Architectures, int]] = {
    "d and d̄, p = p̄ = 1": (Architectures(describe=False), 0),
    "the same with p̄ = 2": (Architectures(describe=False, powers=(1.0, 2.0)), 0),
    "p̄ = 2, projected": (Architectures(describe=False, powers=(1.0, 2.0), project=True), 0),
    "p̄ = 1, sampled": (Architectures(describe=False), 4),
    "p̄ = 2, sampled": (Architectures(describe=False, powers=(1.0, 2.0)), 4),
    "p̄ = 2, sampled and projected": (Architectures(describe=False, powers=(1.0, 2.0), project=True), 4),
    "z alone": (Architectures("none"), 0),
    "all three, p = p̄ = 1": (Architectures(), 0),
}
"""The kernel, and how many draws of its hyperparameters are averaged over; 0: the MAP estimate."""


def suggestion_time(function: str, t: int, repeats: int) -> Found:
    """Processor time of a suggestion after t networks with its share of a refit, of the refit alone, and the mean layers."""
    space, value = xs.Space(net=DOMAINS[function]), getattr(synthetic, function)
    drawn = xs.Study(space, method="evolution", direction="maximize", seed=0)
    networks = []
    for _ in range(t):
        trial = drawn.ask()
        assert trial is not None
        drawn.tell(trial, value(trial["net"]))
        networks.append(trial["net"])
    spent = []
    for seed in range(repeats):
        study = xs.Study(space, searcher=NASBOT(), direction="maximize", seed=seed)
        for network in networks:
            study.add({"net": network}, value(network))
        # In a search each of these pairs is computed when its network is new, not all at once.
        data = Observations.of(study.history)
        data.networks[0].between(data.X[:, 0].astype(np.int64), data.X[:, 0].astype(np.int64))
        first = one_suggestion(study)
        spent.append((first, one_suggestion(study)))
    refits = len({last_refit(count) for count in range(t, t + t // 10 + 1)})
    with_refit, without = (statistics.median(times) for times in zip(*spent, strict=True))
    refit = max(with_refit - without, 0.0)
    layers = round(statistics.mean(len(network.layers) for network in networks))
    return significant({"seconds": without + refits / (t // 10 + 1) * refit, "refit": refit, "layers": layers})


def one_suggestion(study: xs.Study) -> float:
    begun = time.process_time()
    trial = study.ask()
    spent = time.process_time() - begun
    assert trial is not None
    assert trial.origin.startswith("nasbot: log EI"), trial.origin
    return spent


def kernel_errors(function: str, method: str, seed: int) -> dict[str, float]:
    """Kernel → root mean square error of predictions, in standard deviations of the targets."""
    study = xs.Study(xs.Space(net=DOMAINS[function]), method=method, seed=seed)
    for _ in range(SEEN + ASKED):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, -getattr(synthetic, function)(trial["net"]))
    data = Observations.of(study.history)
    targets = Targets.of(data.loss[:SEEN], straighten=True)(data.loss)
    found = {}
    for name, (kernel, samples) in KERNELS.items():
        surrogate = at_full_budget(Inputs((), (), (), frozenset(), network_kernels(data, kernel, "matern52")))
        X, t, rng = data.X[:SEEN], targets[:SEEN], np.random.default_rng(0)
        thetas = sample_fits(surrogate, X, t, rng, samples) if samples else [fit(surrogate, X, t, rng)]
        means = [Posterior.of(surrogate, theta, X, t).means(data.X[SEEN:])[:, 0] for theta in thetas]
        mean = np.mean(means, axis=0)
        found[name] = significant(float(np.sqrt(np.mean((mean - targets[SEEN:]) ** 2))))
    return found


def lowest_eigenvalues(domain: str, networks: int, seed: int) -> dict[str, list[float]]:
    """p̄ → for each β of ``SCALES``, the lowest eigenvalue of exp(-Σ β d̄_ν^p̄) over random networks; its diagonal is 1."""
    rng = np.random.default_rng(seed)
    drawn = [SPECTRA[domain].sample(rng) for _ in range(networks)]
    apart = distances(drawn, normalised=True)  # (n, n, ν)
    found: dict[str, list[float]] = {}
    for power in POWERS:
        total = np.sum(apart**power, axis=-1)
        total = 0.5 * (total + total.T)
        found[f"{power:g}"] = [float(np.linalg.eigvalsh(np.exp(-scale * total))[0]) for scale in SCALES]
    return significant(found)
