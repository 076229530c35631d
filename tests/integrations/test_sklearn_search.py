"""scikit-learn's own tests of ``GridSearchCV`` and ``RandomizedSearchCV``, with ``SearchCV`` in the place of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integrations.upstream import run

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

DIFFERENT = {
    "test_grid_search_bad_param_grid": "errors of our own tree",
    "test_grid_search_cv_results": "a list of several dictionaries is refused: conditions take its place",
    "test_random_search_cv_results": "the same",
    "test_grid_search_cv_results_multimetric": "the same",
    "test_search_cv_timing": "the time of a candidate of which every fit failed is not known: NaN",
    "test_predict_proba_disabled": "a space needs a parameter",
    "test_grid_search_classifier_all_fits_fail": "options that are equal are refused: nothing is tried twice",
    "test_callable_multimetric_clf_all_fits_fail": "the same",
    "test_grid_search_cv_splits_consistency": "the same, behind what the test is about",
    "test_search_with_2d_array": "the same: random draws are not repeated",
    "test_custom_run_search": "cv_results_ has one more column, `trial`",
}


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_scikit_learns_tests_of_its_searches_pass_but_for_what_is_documented(tmp_path: Path) -> None:
    passed, failed = run("sklearn.model_selection.tests.test_search", "tests.integrations.sklearn_searches", tmp_path)
    assert failed == set(DIFFERENT)
    assert len(passed) >= 130
