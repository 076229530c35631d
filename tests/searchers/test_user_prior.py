"""πBO: the prior as a term of the acquisition function."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import xstar as xs
from tests.searchers.cases import ask, run
from xstar.look.audit import audit
from xstar.schedulers import ASHA
from xstar.searchers import GP
from xstar.searchers.bo.design import without_priors
from xstar.searchers.bo.observations import Observations
from xstar.searchers.bo.user_prior import UNIFORM, log_ratio, prior_term, trust, trusted
from xstar.space.cube import cube_of

SPACE = xs.Space(
    kind=xs.Choice(["a", "b"], prior=[1, 3]),
    x=xs.Float(0, 1, prior=xs.Normal(0.3, 0.1)),
    y=xs.Float(0, 1, prior=xs.Normal(0.5, 0.2), when={"kind": "a"}),
    z=xs.Float(0, 1),
)


def plain(config: dict[str, object]) -> float:
    """Σ log((1 − ε) exp(−z²/2) + ε) of the numbers, and log of the option's prior in units of the uniform one."""
    shares = {"a": 0.25, "b": 0.75}
    value = math.log((1 - UNIFORM) * shares[str(config["kind"])] * 2 + UNIFORM) - math.log(
        (1 - UNIFORM) * 1.5 + UNIFORM
    )
    for name, mean, std in (("x", 0.3, 0.1), ("y", 0.5, 0.2)):
        if name in config:
            value += math.log((1 - UNIFORM) * math.exp(-0.5 * ((config[name] - mean) / std) ** 2) + UNIFORM)  # type: ignore[operator]
    return value


def test_the_term_is_the_logarithm_of_the_prior() -> None:
    rng = np.random.default_rng(0)
    configs = [SPACE.sample(rng) for _ in range(40)]
    rows = cube_of(SPACE).encoder.encode(configs)[0]
    assert_allclose(prior_term(SPACE, 2.5)(rows)[0], [2.5 * plain(config) for config in configs], atol=1e-12)


def test_its_gradient() -> None:
    rng = np.random.default_rng(1)
    configs = [SPACE.sample(rng) for _ in range(10)]
    rows = cube_of(SPACE).encoder.encode(configs)[0]
    term = prior_term(SPACE, 1.5)
    back = term(rows)[1]
    assert back is not None
    slope = back(np.ones(len(rows)))
    for column in (2, 4):  # x and z; y is inactive in some rows
        step = np.zeros(rows.shape[1])
        step[column] = 1e-6
        differences = (term(rows + step)[0] - term(rows - step)[0]) / 2e-6
        assert_allclose(slope[:, column], differences, atol=1e-4)


def test_a_prior_draws_the_first_suggestions_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xstar.searchers.gp.fit.trusted", lambda history, data: 1.0)
    space = xs.Space(x=xs.Float(0, 1, prior=xs.Normal(0.8, 0.05)), y=xs.Float(0, 1))
    away = {}
    for weight in (0.0, 200.0):
        searcher = GP(initial=5, explore_every=0, prior_weight=weight)
        study = xs.Study(space, searcher=searcher, seed=0)
        trials = run(study, 14, lambda config: config["y"])  # x does not matter
        away[weight] = np.mean([abs(trial.config["x"] - 0.8) for trial in trials[5:]])
        assert audit(study).findings == []
    assert away[200.0] < 0.1 < 0.2 < away[0.0]


# ---------------------------------------------------------------- trust


def test_log_ratio_is_the_density_over_the_uniform_one() -> None:
    """Its exponential has the mean 1 under uniform draws of the parameters that have a prior."""
    rng = np.random.default_rng(2)
    configs = [without_priors(SPACE).sample(rng) for _ in range(20_000)]
    rows = cube_of(SPACE).encoder.encode(configs)[0]
    assert np.exp(log_ratio(SPACE, rows)).mean() == pytest.approx(1.0, abs=0.05)


def test_trust_counts_pairs() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        favour, loss = rng.standard_normal(15), rng.integers(6, size=15).astype(float)
        pairs = [
            (a, b)
            for a, one in zip(loss, favour, strict=True)
            if one > 0
            for b, other in zip(loss, favour, strict=True)
            if other <= 0
        ]
        won = sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)
        assert trust(favour, loss) == pytest.approx(max(0.0, 2 * won - 1))
    assert trust(np.ones(3), np.arange(3.0)) == 1.0  # nothing to compare with


def believing(centre: float) -> xs.Space:
    return xs.Space(
        x=xs.Float(0, 1, prior=xs.Normal(centre, 0.1)),
        y=xs.Float(0, 1, prior=xs.Normal(centre, 0.1)),
        z=xs.Float(0, 1),
        kind=xs.Choice(["a", "b"], prior=[3, 1]),
    )


def bowl(config: dict[str, float]) -> float:
    return (config["x"] - 0.8) ** 2 + (config["y"] - 0.8) ** 2 + 0.1 * config["z"]


def test_the_first_trial_is_where_the_priors_are_largest() -> None:
    study = xs.Study(believing(0.3), searcher=GP(), seed=0)
    first = ask(study)
    assert (first["x"], first["y"], first["kind"]) == (pytest.approx(0.3), pytest.approx(0.3), "a")
    assert str(study.trials[0].origin) == "gp: initial 1, prior: where the priors are largest"


def test_a_wrong_prior_places_two_trials() -> None:
    study = xs.Study(believing(0.1), searcher=GP(), seed=0)
    trials = run(study, 14, bowl)
    plain = run(xs.Study(without_priors(believing(0.1)), searcher=GP(), seed=0), 8, bowl)
    placed = [one.number for one, other in zip(trials, plain, strict=False) if one.config != other.config]
    assert placed == [0, 2]  # all others are the Sobol points of a search without priors
    assert [str(trial.origin).startswith("gp: initial") for trial in trials[7:9]] == [True, False]
    assert audit(study).findings == []


def test_a_good_prior_halves_the_design() -> None:
    study = xs.Study(believing(0.8), searcher=GP(), seed=0)
    trials = run(study, 8, bowl)
    assert [str(trial.origin).startswith("gp: initial") for trial in trials[3:5]] == [True, False]
    assert all(abs(trial["x"] - 0.8) < 0.35 for trial in trials[4:])
    assert audit(study).findings == []


def test_other_workers_do_not_wait_for_trust() -> None:
    study = xs.Study(believing(0.8), searcher=GP(), seed=0)
    asked = [study.ask() for _ in range(6)]
    assert all(trial is not None for trial in asked)
    plain = without_priors(believing(0.8))
    expected = xs.Study(plain, searcher=GP(), seed=0)
    assert [trial.config for trial in asked[1::2]] == [expected.ask().config for _ in range(6)][1::2]  # type: ignore[union-attr]


def test_priors_leave_the_trials_of_a_warm_start_alone() -> None:
    source = xs.Study(believing(0.8), method="random", seed=5)
    best = min(run(source, 6, bowl), key=lambda trial: trial.scores)
    study = xs.Study(believing(0.3), searcher=GP(), seed=0, warm_start=source)
    first, second = study.ask(), study.ask()
    assert first is not None
    assert second is not None
    assert first.config == best.config
    assert second["x"] == pytest.approx(0.3)


def promoted(study: xs.Study, places: list[float]) -> None:
    """Trials at these places; ASHA promotes the best third of a rung."""
    for x in places:
        study.enqueue({"x": x})
    while len(study.trials) < len(places) or study.history.count(xs.State.RUNNING):
        trial = ask(study)
        verdict = xs.Verdict.CONTINUE
        for budget in range(trial.budget + 1, 10):
            if verdict is xs.Verdict.CONTINUE:
                verdict = study.report(trial, abs(trial["x"] - 0.8), budget)


def test_where_a_budget_has_nothing_to_compare_a_lower_one_says_how_far_priors_are_trusted() -> None:
    """What a wrong prior favours is not promoted, so at the larger budget there are others alone."""
    space = xs.Space(x=xs.Float(0, 1, prior=xs.Normal(0.1, 0.1)))
    study = xs.Study(space, searcher=GP(), scheduler=ASHA(9), seed=0)
    promoted(study, [0.1, 0.6, 0.15, 0.65, 0.05, 0.7, 0.12, 0.75, 0.78, 0.81, 0.9, 0.5])
    data = Observations.of(study.history)
    higher = data.budget == 3
    assert higher.sum() >= 2
    assert (log_ratio(space, data.X[higher]) < 0.0).all()
    assert trusted(study.history, data) == 0.0
