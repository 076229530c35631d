"""A method has a name, and two studies differ in a few words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.errors import StudyMismatch
from xstar.schedulers import ASHA, FIFO
from xstar.searchers import GP, Random, Sobol
from xstar.study.methods import METHODS
from xstar.study.naming import described, method_of

SPACE = xs.Space(x=xs.Float(0, 1))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_goes_by_its_name(name: str) -> None:
    created = xs.Study(SPACE, method=name, max_budget=27).history.created
    assert method_of(created) == name
    assert described(created) == f"{name}, max_budget 27"
    assert method_of(replace(created, method="")) == name, "as in a journal that does not have it"


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        ({"searcher": GP(), "scheduler": ASHA(27, full_share=True)}, "mobster"),
        ({"searcher": GP(), "scheduler": ASHA(27)}, "gp + asha"),
        ({"searcher": GP(samples=3), "scheduler": ASHA(27)}, "gp(samples=3) + asha"),
        ({"searcher": Sobol(), "scheduler": ASHA(27, eta=4)}, "sobol + asha(eta=4)"),
        ({"searcher": Random(), "scheduler": FIFO()}, "random"),
    ],
)
def test_parts_have_names_too(parts: dict[str, Any], name: str) -> None:
    study = xs.Study(SPACE, **parts)
    assert method_of(study.history.created) == name
    assert repr(study) == f"<Study in memory: {name}, 0 trials>"


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"method": "asha", "max_budget": 27}, ["method: asha here, mobster in", "max_budget: 27 here, 9 in"]),
        ({"max_budget": 27}, ["max_budget: 27 here, 9 in"]),
        ({"searcher": GP(samples=3)}, ["samples of gp: 3 here, 0 in"]),
        ({"searcher": Random()}, ["searcher: random here, gp in"]),
        ({"searcher": GP(), "scheduler": ASHA(9, full_share=True)}, []),
    ],
)
def test_a_difference_is_a_line(given: dict[str, Any], lines: list[str], tmp_path: Path) -> None:
    storage = tmp_path / "s.db"
    xs.Study(SPACE, study="s", storage=storage, method="mobster", max_budget=9).close()
    if not lines:
        xs.Study(SPACE, study="s", storage=storage, **given).close()
        return
    with pytest.raises(StudyMismatch) as caught:
        xs.Study(SPACE, study="s", storage=storage, **given)
    assert str(caught.value).splitlines()[1:-1] == [f"  - {line} the stored study" for line in lines]
