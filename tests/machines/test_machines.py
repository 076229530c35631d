"""A study that several kinds of processors work on goes on as it would on one, and an audit finds nothing.

OpenBLAS's kernels for Haswell and for Nehalem round differently, and any x86 processor of the last ten years can run both.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest

from tests.decisions.scenarios import SCENARIOS
from tests.machines.worker import Program
from xstar.core.environment import environment

pytestmark = [
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86"),
    pytest.mark.skipif(not environment()["blas"].startswith("openblas"), reason="the kernels are OpenBLAS's"),
]

QUICK = {
    *("random", "sobol", "grid", "pbil", "evolution", "regularised-evolution", "asha", "hyperband", "median"),
    *("gp", "gp-bounded", "mobster", "tpe", "forest", "cma", "boca", "treebo", "gp-warm-wider"),
}
"""One of each method, but for those that work on architectures or train networks: the others take longer."""
TOGETHER = ("grid", "pbil", "evolution", "gp", "tpe", "forest", "cma", "nasbot")
"""Scenarios without budgets and failures: what a trial learned from is known by the numbers of trials alone."""
ELSE = (
    *("random", "sobol", "regularised-evolution", "asha", "hyperband", "median", "mobster", "mobster-paper", "bohb"),
    *("boca", "treebo", "auto", "dngo", "dngo-paper", "dngo-asha", "nasbot-paper", "gp-bounded"),
)
"""The other methods, whose decisions hang on budgets, or which learn from as many trials as there are."""

Programs = tuple[Program, Program, Program]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    """Two programs on one storage, and one that is alone on another."""
    shared, own = (str(tmp_path_factory.mktemp(name) / "studies.db") for name in ("shared", "own"))
    with Program("Haswell", shared) as haswell, Program("Nehalem", shared) as nehalem, Program("Haswell", own) as alone:
        assert (haswell("kernel"), nehalem("kernel"), alone("kernel")) == ("Haswell", "Nehalem", "Haswell")
        yield haswell, nehalem, alone


def fresh(name: str, programs: Programs) -> Programs:
    """The programs, with no study of this name."""
    for program in programs[1:]:
        program("forget", name)
    return programs


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SCENARIOS]
)
def test_half_a_study_under_each(name: str, programs: Programs) -> None:
    haswell, nehalem, alone = fresh(name, programs)
    trials = SCENARIOS[name].trials
    haswell("run", name, trials // 2)
    nehalem("run", name, trials)
    assert len(haswell("exact", name)) == trials
    for program, other in ((haswell, "Nehalem"), (nehalem, "Haswell")):
        found = program("audit", name)
        assert found["findings"] == []
        assert len(found["elsewhere"]) == 1
        assert f"OPENBLAS_CORETYPE={other}" in found["said"][0]
    if name in TOGETHER:
        alone("run", name, trials // 2)
        alone("run", name, trials)
        assert nehalem("exact", name) == alone("exact", name)


def in_turns(first: Program, second: Program, name: str, rounds: int) -> None:
    """Both ask, then both tell, again and again."""
    for _ in range(rounds):
        taken = [(program, program("ask", name)) for program in (first, second)]
        for program, number in taken:
            program("tell", name, number)


TWICE = ("grid", "pbil", "evolution", "gp", "tpe", "cma", "mobster")


@pytest.mark.parametrize(
    "name", [name if name in TWICE else pytest.param(name, marks=pytest.mark.slow) for name in (*TOGETHER, *ELSE)]
)
def test_programs_under_both_at_once(name: str, programs: Programs) -> None:
    haswell, nehalem, alone = fresh(name, programs)
    rounds = SCENARIOS[name].trials // 2
    in_turns(haswell, nehalem, name, rounds)
    if name in TOGETHER:
        in_turns(alone, alone, name, rounds)
        alone("close", name)
    for program in (haswell, nehalem):
        program("close", name)
    found = haswell("audit", name), nehalem("audit", name)
    assert [each["findings"] for each in found] == [[], []]
    elsewhere = [sum(each["elsewhere"][0].values()) for each in found]
    assert sum(elsewhere) == len(haswell("exact", name))
    if name in TOGETHER:
        assert haswell("exact", name) == alone("exact", name)
        assert elsewhere == [rounds, rounds]
