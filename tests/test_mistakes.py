"""The mistakes that new users make most: each is told the argument, the rule, the value found and the remedy."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import xstar as xs
from tests.trials import ask
from xstar.errors import InvalidArgument, ObjectiveError, StorageError, UnknownAttribute, UnknownParameter
from xstar.study.keywords import ELSEWHERE, RENAMED
from xstar.study.loop import job_of
from xstar.study.methods import METHODS, resolve

SPACE = xs.Space(
    x=xs.Float(0, 1), optimizer=xs.Choice(["sgd", "adam"]), momentum=xs.Float(0, 1, when={"optimizer": "sgd"})
)


def objective(trial: Any) -> float:
    return float(trial["x"])


def epochs(trial: Any) -> Iterator[float]:
    for epoch in trial.epochs():
        yield trial["x"] / epoch


def search(**options: Any) -> xs.Result:
    return xs.minimize(**{"objective": objective, "space": SPACE, "trials": 3, "seed": 1, **options})


def says(error: BaseException, *fragments: str) -> None:
    """The message has the argument, the rule, the value found, the remedy, in this order."""
    text = str(error)
    assert re.search(".*".join(map(re.escape, fragments)), text), text


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ({"space": {"x": (0, 1)}}, ("space", "xs.Space", "'dict'", "wrap it")),
        ({"space": objective}, ("space", "xs.Space", "'function'", "objective comes first")),
        ({"space": [1]}, ("space", "xs.Space", "'list'", "xs.Space(lr=")),
        ({"method": "mobstr"}, ("'mobstr'", "did you mean 'mobster'")),
        ({"method": "magic"}, ("'magic'", "leave it out")),
        ({"method": xs.searchers.GP()}, ("'GP'", "searcher=…")),
        ({"method": xs.schedulers.ASHA}, ("'ASHA'", "scheduler=…")),
        ({"trials": -3}, ("trials", "at least 0", "-3", "all trials of the study")),
        ({"patience": 0}, ("patience", "at least 1", "0", "number of trials")),
        ({"workers": 0}, ("workers", "at least 1", "0", "workers=2")),
        ({"seed": "a"}, ("seed", "at least 0", "'a'", "seed=1")),
        ({"storage": "x.db"}, ("study", "needs a name", "None", "leave out storage")),
        ({"direction": "maximize"}, ("direction", "no option", "xs.minimize looks for")),
        ({"min_budget": 9, "max_budget": 3}, ("min_budget", "no option", "it is the")),
        ({"max_budget": 0}, ("max_budget", "at least 1", "0", "epochs")),
    ],
)
def test_an_argument(options: dict[str, Any], fragments: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        search(**options)
    says(caught.value, *fragments)


def test_a_list_of_methods_is_not_told_twice() -> None:
    with pytest.raises(InvalidArgument) as caught:
        search(method="bayes")
    assert str(caught.value).count("mobster-hyperband") == 1


def test_every_word_of_others_is_answered_with_ours() -> None:
    known = inspect.signature(xs.minimize).parameters
    for word, remedy in ELSEWHERE.items():
        assert word not in known
        with pytest.raises(InvalidArgument, match=re.escape(remedy)):
            search(**{word: 1})
    for word, ours in RENAMED.items():
        assert ours in known
        with pytest.raises(InvalidArgument, match=f"{word}: .*did you mean '{ours}'"):
            search(**{word: 1})


@pytest.mark.parametrize(
    ("options", "fragments"),
    [
        ({"max_budget": 300}, ("GP()", "ASHA(300, min_budget=10, full_share=True)", "in place of max_budget")),
        (
            {"max_budget": 300, "method": "bohb"},
            ("TPE(gamma=0.15, ", "Hyperband(300, min_budget=10)", "in place of method and max_budget"),
        ),
        ({"scheduler": xs.schedulers.ASHA(27)}, ("ASHA(27, min_budget=10)",)),
        ({"max_budget": 300, "method": "gp"}, ("scheduler's", "e.g.", "GP()", "scheduler=")),
        ({"max_budget": 3}, ("scheduler's", "e.g.")),
        ({"max_budget": 300, "searcher": object()}, ("scheduler's", "e.g.")),
    ],
)
def test_an_option_of_the_scheduler_is_told_with_all_of_the_call(
    options: dict[str, Any], fragments: tuple[str, ...]
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        search(min_budget=10, **options)
    says(caught.value, *fragments)


def test_the_call_that_is_told_is_that_of_the_method() -> None:
    for name in METHODS:
        with pytest.raises(InvalidArgument) as caught:
            search(method=name, max_budget=9, min_budget=3)
        if "e.g." not in str(caught.value):
            words = re.split("it is the scheduler's: | in place of", str(caught.value))[1]
            parts = eval(f"dict({words})", {"xs": xs})
            made = resolve(name, None, None, 9)
            assert parts["searcher"] == made.searcher
            assert parts["scheduler"] == replace(cast(Any, made.scheduler), min_budget=3)


def test_budgets_in_reverse() -> None:
    with pytest.raises(InvalidArgument, match="but got min_budget=9, max_budget=3; swap them"):
        xs.schedulers.ASHA(3, min_budget=9)


@pytest.mark.parametrize(("given", "remedy"), [((0, 1), "use Float(0, 1) or Int"), (["a", "b"], "use Choice")])
def test_a_range_without_its_kind(given: Any, remedy: str) -> None:
    with pytest.raises(xs.errors.InvalidSpace, match=re.escape(f"x: must be a parameter, but got {given!r}; {remedy}")):
        xs.Space(x=given)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("given", "fragments"),
    [
        (None, ("value", "a number", "None", "return or yield")),
        ("0.5", ("value", "a number", "'0.5'", "return or yield")),
        ((0.5, 0.1), ("value", "a number", "'tuple'", "name each")),
        (np.ones(3), ("value", "a number", "'ndarray'", ".item()")),
        (epochs, ("trial.epochs()", "how many epochs", "max_budget=")),
    ],
)
def test_what_no_trial_can_report_ends_the_search_at_its_first(
    given: Any, fragments: tuple[str, ...], workers: int
) -> None:
    seen: list[xs.Study] = []
    given = given if callable(given) else lambda trial, value=given: value
    with pytest.raises(ObjectiveError) as caught:
        search(objective=given, trials=30, workers=workers, watch=seen.append)
    says(caught.value, *fragments)
    assert "File" not in str(caught.value)
    assert "goals.py" not in str(caught.value)  # a line of ours is no place to look for it
    assert not seen or len(seen[-1].trials) <= workers


@pytest.mark.parametrize(
    "wrong", [lambda: 1.0, lambda trial, more: 1.0, functools.partial(objective, 1), lambda *, x: x]
)
def test_an_objective_of_other_arguments(wrong: Any) -> None:
    with pytest.raises(ObjectiveError, match=r"one argument .*another way"):
        search(objective=wrong)


class Callable:
    def __call__(self, trial: Any) -> float:
        return objective(trial)


def _unpacked(function: Any) -> Any:
    """A decorator that says of its function what holds within."""

    @functools.wraps(function)
    def call(trial: Any) -> float:
        return float(function(trial["x"], 2.0))

    return call


@_unpacked
def decorated(x: float, factor: float) -> float:
    return x * factor


@pytest.mark.parametrize(
    "right",
    [
        Callable(),
        decorated,
        lambda *given: 1.0,
        lambda trial, more=2: 1.0,
        functools.partial(lambda more, trial: 1.0, 1),
        hash,
    ],
)
def test_an_objective_that_takes_the_trial_is_no_mistake(right: Any) -> None:
    assert search(objective=right, trials=1).best.value is not None


def test_a_misspelt_parameter() -> None:
    def misspelt(trial: Any) -> float:
        return float(trial["optimiser"])

    with pytest.raises(ObjectiveError, match=r"test_mistakes\.py, line \d+, .*UnknownParameter") as caught:
        search(objective=misspelt, trials=20)
    says(caught.value, "trial['optimiser']", "which has x, optimizer", "'optimiser'", "did you mean 'optimizer'?")


def test_a_parameter_that_is_not_there_now() -> None:
    study = xs.Study(SPACE, searcher=xs.searchers.Random(), seed=1)
    study.enqueue({"x": 0.5, "optimizer": "adam"})
    asked = ask(study)
    with pytest.raises(UnknownParameter, match=r"absent.*trial\.config\.get\('momentum'"):
        asked["momentum"]
    with pytest.raises(KeyError) as caught:  # what a caller may have written, the name its argument
        asked["momentum"]
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert not str(caught.value).startswith('"')


def test_a_loss_that_is_nan() -> None:
    with pytest.raises(ObjectiveError, match="none has a value: value is nan at budget 1"):
        search(objective=lambda trial: math.nan)
    result = search(objective=lambda trial: math.nan, max_failures=None)
    with pytest.raises(xs.errors.NoValue, match="the last failure: value is nan at budget 1"):
        result.best.value  # noqa: B018


def test_a_storage_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"is a folder and must be a file; e\.g\. xstar\.db in it"):
        search(study="s", storage=tmp_path)
    with pytest.raises(StorageError, match=r"the folder .*none does not exist; create it first"):
        search(study="s", storage=tmp_path / "none" / "s.db")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc, which even root cannot write to")
def test_a_storage_that_may_not_be_written() -> None:
    with pytest.raises(StorageError, match=r"/proc/s\.db cannot be opened .*; check the path and its permissions"):
        search(study="s", storage="/proc/s.db")


def test_parameters_are_read_by_name() -> None:
    study = xs.Study(SPACE, method="random", seed=1)
    asked = ask(study)
    running = xs.RunningTrial(job_of(study, asked, with_files=False))
    trials: list[Any] = [asked, running, pickle.loads(pickle.dumps(running))]
    for trial in trials:
        with pytest.raises(UnknownAttribute, match=r"trial\.x: parameters are read by name, trial\['x'\]"):
            trial.x  # noqa: B018
        with pytest.raises(UnknownAttribute, match=r"suggest_float is Optuna's.*xs\.from_optuna\(objective\)"):
            trial.suggest_float("x", 0, 1)
        assert not hasattr(trial, "set_user_attr")
        assert isinstance(UnknownAttribute(""), AttributeError)


def test_a_search_all_of_whose_trials_fail_has_no_result() -> None:
    def fails(trial: Any) -> float:
        raise ValueError(f"no luck with {trial['x']}")

    with pytest.raises(ObjectiveError, match=r"all 3 trials are done, and none has a value: ValueError: no luck with"):
        xs.minimize(fails, SPACE, trials=3, seed=1)
    assert xs.minimize(fails, SPACE, trials=3, seed=1, max_failures=None).study.history.count(xs.State.FAILED) == 3

    def cannot(trial: Any) -> float:
        raise xs.Infeasible("too large")

    assert xs.minimize(cannot, SPACE, trials=3, seed=1).study.history.best is None  # each was evaluated: an answer


def test_the_shelf_has_nothing_else() -> None:
    assert dir(xs) == sorted([*xs.__all__, "__version__"])


def test_versions_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    xs.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["xstar"] == xs.__version__
    assert lines["numpy"] == np.__version__
    assert {"python", "system", "pot", "plotly"} <= set(lines)
    assert "pytest" not in lines


@pytest.mark.parametrize(
    ("name", "own"),
    [("best_value", "result.value"), ("best_params", "result.config"), ("trials", "result.study.trials")],
)
def test_what_optuna_calls_a_part_of_a_result(name: str, own: str) -> None:
    with pytest.raises(UnknownAttribute, match=re.escape(own)):
        getattr(search(trials=1), name)


def test_what_has_its_home_elsewhere() -> None:
    with pytest.raises(AttributeError, match=r"from xstar\.integrations\.sklearn import SearchCV"):
        _ = xs.SearchCV  # type: ignore[attr-defined]
