"""BLAS has one thread while a decision is made, and then as many as before."""

from __future__ import annotations

import pytest

from xstar.models import blas


def counts() -> list[int]:
    return [each.get_num_threads() for each in blas._libraries()]


@pytest.mark.parametrize("before", [1, 2])
def test_one_thread_inside_and_as_many_as_before_afterwards(before: int) -> None:
    assert blas._libraries()  # NumPy's own, at least
    kept = counts()
    try:
        for each in blas._libraries():
            each.set_num_threads(before)
        several = counts()  # fewer than asked for, where there are fewer cores
        with blas.single_threaded():
            assert set(counts()) == {1}
            with blas.single_threaded():
                assert set(counts()) == {1}
            assert set(counts()) == {1}
        assert counts() == several
    finally:
        for each, count in zip(blas._libraries(), kept, strict=True):
            each.set_num_threads(count)
