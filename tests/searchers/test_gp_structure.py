"""The kernel's structure is chosen by evidence, is a function of the history, and stored studies keep the one they had."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xstar as xs
from xstar.errors import InvalidArgument
from xstar.inspect.audit import audit
from xstar.models import gp
from xstar.models.likelihood import negative_log_posterior
from xstar.models.surrogate import Inputs, at_full_budget, with_own_terms
from xstar.searchers import GP, Auto
from xstar.searchers.base import SEARCHERS
from xstar.searchers.gp.structure import FEWEST, MARGIN, Data, Structure, evidence, observed
from xstar.space import Config

SPACE = xs.Space({f"x{place}": xs.Float(0, 1) for place in range(4)})


def loss(config: Config) -> float:
    x = np.fromiter(config.values(), float)
    return float(np.sin(9.0 * x).sum() + x.sum())


def searched(trials: int, searcher: GP, at: str | None = None) -> xs.Study:
    study = xs.Study(SPACE, searcher=searcher, seed=4, storage=at)
    for _ in range(trials):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, loss(trial.config))
    return study


def own_terms(study: xs.Study) -> bool | None:
    kept = study.history.memo.get(Structure, (study.searcher, *_rest(study)))
    return None if kept is None else kept.own_terms


def _rest(study: xs.Study) -> tuple[object, str]:
    from xstar.searchers.nasbot.kernel import Architectures

    return Architectures(), "structure"


def test_a_sum_over_parameters_is_found_and_modelled_as_one() -> None:
    study = searched(40, GP(design="sobol", explore_when="always"))
    assert own_terms(study) is True
    assert own_terms(searched(FEWEST - 1, GP())) is None
    assert own_terms(searched(20, GP(structure="product"))) is None


@pytest.mark.parametrize("is_sum", [True, False])
def test_the_search_for_the_evidence_ends_once_it_is_enough(is_sum: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which structure is chosen is what it is if the search goes on to its end."""
    rng = np.random.default_rng(2)
    X = rng.random((40, 4))
    y = np.sin(9.0 * X).sum(axis=1) if is_sum else np.sin(3.0 * X.sum(axis=1))
    X, t = observed(Data(X, y, np.ones(40)), 40, GP())
    inputs = Inputs((0, 1, 2, 3), tuple("abcd"), (0, 1, 2, 3))
    plain = at_full_budget(inputs)
    rich = with_own_terms(plain, inputs)
    likelihoods: list[int] = []
    whole = negative_log_posterior

    def counted(*given: Any) -> tuple[float, Any]:
        likelihoods[-1] += 1
        return whole(*given)

    monkeypatch.setattr(gp, "negative_log_posterior", counted)
    likelihoods.append(0)
    needed = evidence(plain, X, t, rng) + MARGIN
    found = []
    for least in (np.inf, needed):
        likelihoods.append(0)
        found.append(evidence(rich, X, t, rng, least))
    assert [each > needed for each in found] == [is_sum, is_sum]
    if is_sum:
        assert likelihoods[2] < likelihoods[1]
    else:
        assert likelihoods[2] == likelihoods[1]


def test_suggestions_do_not_depend_on_what_is_cached() -> None:
    study = searched(24, GP())
    assert own_terms(study) is not None
    assert audit(study).findings == []


@pytest.mark.parametrize("structure", ["product", "additive", "evidence"])
def test_every_structure_searches_mixed_and_conditional_spaces(structure: str) -> None:
    space = xs.Space(
        kind=xs.Choice(["a", "b", "c"]), x=xs.Float(0, 1), n=xs.Int(1, 5), y=xs.Float(0, 1, when={"kind": "b"})
    )
    study = xs.Study(space, searcher=GP(structure=structure), seed=1)
    for _ in range(16):
        trial = study.ask()
        assert trial is not None
        assert trial.origin.startswith("gp")
        study.tell(trial, trial["x"] ** 2 + trial["n"] / 5 + trial.config.get("y", 0.5))


def test_one_parameter_has_no_terms_of_its_own() -> None:
    study = xs.Study(xs.Space(x=xs.Float(0, 1)), searcher=GP(), seed=1)
    for _ in range(12):
        trial = study.ask()
        assert trial is not None
        study.tell(trial, (trial["x"] - 0.3) ** 2)
    assert own_terms(study) is None


def test_a_study_from_before_keeps_the_product() -> None:
    stored = {key: value for key, value in SEARCHERS.dump(GP()).items() if key != "structure"}
    assert SEARCHERS.load(stored) == GP(structure="product")
    assert {each["structure"] for each in SEARCHERS.read(stored)} == {"product", "evidence"}
    assert SEARCHERS.load(SEARCHERS.dump(GP())) == GP()
    assert SEARCHERS.load({"name": "auto", "switch": 1000}) == Auto(prior_weight=0.0, defaults=1)
    assert SEARCHERS.load(SEARCHERS.dump(Auto())) == Auto()


def test_an_unknown_structure_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="structure"):
        GP(structure="sum")
