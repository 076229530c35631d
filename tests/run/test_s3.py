"""Checkpoints at ``s3://…``, kept by an S3 server on this machine and reached as users reach theirs: fsspec through s3fs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from xstar.journal.trial import Job
from xstar.run.carrying import CHECKPOINT, UrlCarrier

pytest.importorskip("s3fs", reason="s3fs, through which fsspec reads s3:// URLs, is not installed")
pytest.importorskip("moto", reason="moto, the S3 server of these tests, is not installed")
pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of moto's server, whose objects are in its memory, with a bucket that keeps every version of an object."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        url = "http://{}:{}".format(*server.get_host_and_port())
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)  # nobody's real bucket is ever asked
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": url}.items():
            monkeypatch.setenv(name, value)
        client = boto3.client("s3", endpoint_url=url)
        client.create_bucket(Bucket="bucket")
        client.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
        yield client
    finally:
        server.stop()


def test_a_checkpoint_goes_there_and_comes_back(store: Any, tmp_path: Path) -> None:
    def writes() -> list[str]:
        """The objects that were written, one for each time."""
        return [each["Key"] for each in store.list_object_versions(Bucket="bucket")["Versions"]]

    carrier = UrlCarrier("s3://bucket/studies/one")
    folder = tmp_path / CHECKPOINT
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "weights").write_bytes(b"1" * 100_000)
    job = Job(7, {}, 0, 0, 3, 3, str(tmp_path))
    carrier.keep(job)
    assert writes() == ["studies/one/00007.tar"]
    carrier.keep(job)  # nothing has changed
    assert len(writes()) == 1
    (folder / "deep" / "weights").write_bytes(b"2" * 100_000)
    carrier.keep(job)
    assert writes() == ["studies/one/00007.tar"] * 2
    here = tmp_path / "elsewhere"
    assert UrlCarrier("s3://bucket/studies/one").fetch(7, here)
    assert (here / "deep" / "weights").read_bytes() == b"2" * 100_000
    assert not carrier.fetch(8, tmp_path / "none")
    carrier.drop(7)
    carrier.drop(7)
    assert "Contents" not in store.list_objects_v2(Bucket="bucket")
    assert not carrier.fetch(7, tmp_path / "none")
