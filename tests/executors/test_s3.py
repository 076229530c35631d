"""Checkpoints at ``s3://…``, kept by an S3 server on this machine and reached as users reach theirs: fsspec through s3fs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.executors.s3 import Store, object_store
from xstar.executors.carrying import CHECKPOINT, UrlCarrier
from xstar.trial import Job

pytest.importorskip("s3fs", reason="s3fs, through which fsspec reads s3:// URLs, is not installed")
pytest.importorskip("moto", reason="moto, the S3 server of these tests, is not installed")
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[Store]:
    with object_store() as made:  # one for all: fsspec keeps its clients
        yield made


@pytest.fixture
def store(server: Store) -> Store:
    server.clear()
    return server


def test_a_checkpoint_goes_there_and_comes_back(store: Store, tmp_path: Path) -> None:
    carrier = UrlCarrier("s3://bucket/studies/one")
    folder = tmp_path / CHECKPOINT
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "weights").write_bytes(b"1" * 100_000)
    job = Job(7, {}, 0, 0, 3, 3, str(tmp_path))
    carrier.keep(job)
    assert store.keys == ["studies/one/00007.tar"]
    carrier.keep(job)  # nothing has changed
    assert store.versions("studies/one/00007.tar") == 1
    (folder / "deep" / "weights").write_bytes(b"2" * 100_000)
    carrier.keep(job)
    assert store.versions("studies/one/00007.tar") == 2
    here = tmp_path / "elsewhere"
    assert UrlCarrier("s3://bucket/studies/one").fetch(7, here)
    assert (here / "deep" / "weights").read_bytes() == b"2" * 100_000
    assert not carrier.fetch(8, tmp_path / "none")
    carrier.drop(7)
    assert store.keys == []
    carrier.drop(7)
    assert not carrier.fetch(7, tmp_path / "none")


@pytest.mark.slow
def test_a_large_checkpoint_goes_in_parts(store: Store, tmp_path: Path) -> None:
    carrier = UrlCarrier("s3://bucket/studies/large")
    (tmp_path / CHECKPOINT).mkdir()
    content = np.random.default_rng(0).bytes(110_000_000)  # from 100 MiB on s3fs cuts it
    (tmp_path / CHECKPOINT / "weights").write_bytes(content)
    carrier.keep(Job(0, {}, 0, 0, 3, 3, str(tmp_path)))
    assert store.parts("studies/large/00000.tar") > 1
    assert carrier.fetch(0, tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "weights").read_bytes() == content
