"""A study of networks, for the tests of their pictures."""

from __future__ import annotations

import pytest

import xstar as xs
from tests.look.plots.networks import a_study, collected
from xstar.look.plots import networks as data


@pytest.fixture(scope="module")
def study() -> xs.Study:
    return a_study(25)


@pytest.fixture(scope="module")
def networks(study: xs.Study) -> data.Networks:
    return collected(study)
