"""BLAS has one thread while a decision is made, and then as many as before."""

from __future__ import annotations

import threading

import pytest

from tests.waiting import PATIENCE
from xstar.models import linalg


def counts() -> list[int]:
    return [each.get_num_threads() for each in linalg._libraries()]


@pytest.mark.parametrize("before", [1, 2])
def test_one_thread_inside_and_as_many_as_before_afterwards(before: int) -> None:
    assert linalg._libraries()  # NumPy's own, at least
    kept = counts()
    try:
        for each in linalg._libraries():
            each.set_num_threads(before)
        several = counts()  # fewer than asked for, where there are fewer cores
        with linalg.single_threaded():
            assert set(counts()) == {1}
            with linalg.single_threaded():
                assert set(counts()) == {1}
            assert set(counts()) == {1}
        assert counts() == several
    finally:
        for each, count in zip(linalg._libraries(), kept, strict=True):
            each.set_num_threads(count)


def test_a_decision_of_any_thread_uses_one_thread() -> None:
    """Also when a decision of another thread ends meanwhile."""
    kept = counts()
    begun, ended = threading.Event(), threading.Event()
    found: list[list[int]] = []

    def decide() -> None:
        with linalg.single_threaded():
            begun.set()
            assert ended.wait(PATIENCE)
            found.append(counts())

    try:
        linalg._set([(each, 2) for each in linalg._libraries()])
        other = threading.Thread(target=decide)
        with linalg.single_threaded():
            other.start()
            assert begun.wait(PATIENCE)
        ended.set()
        other.join()
        assert found == [[1] * len(kept)]
        assert counts() == [2] * len(kept)
        later = threading.Thread(target=decide)  # the first thread that set a limit was another one
        later.start()
        later.join()
        assert found == [[1] * len(kept)] * 2
    finally:
        linalg._set(list(zip(linalg._libraries(), kept, strict=True)))
