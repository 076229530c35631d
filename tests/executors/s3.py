"""An S3 server on this machine: moto's, whose objects are in its memory, spoken to over HTTP as any other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

BUCKET = "bucket"
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}


class Store:
    """A server, and one bucket of it that keeps every version of an object, so that writes can be counted."""

    def __init__(self, url: str) -> None:
        import boto3

        self.url = url
        self._client: Any = boto3.client("s3", endpoint_url=url)
        self._client.create_bucket(Bucket=BUCKET)
        self._client.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})

    @property
    def keys(self) -> list[str]:
        """Of the objects that there are."""
        return [each["Key"] for each in self._client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def versions(self, key: str) -> int:
        """How often the object was written."""
        found = self._client.list_object_versions(Bucket=BUCKET, Prefix=key).get("Versions", [])
        return sum(each["Key"] == key for each in found)

    def parts(self, key: str) -> int:
        """In how many parts the object was sent; 0 if it was sent as a whole."""
        tag = self._client.head_object(Bucket=BUCKET, Key=key)["ETag"].strip('"')
        return int(tag.partition("-")[2] or 0)

    def clear(self) -> None:
        found = self._client.list_object_versions(Bucket=BUCKET)
        for each in (*found.get("Versions", []), *found.get("DeleteMarkers", [])):
            self._client.delete_object(Bucket=BUCKET, Key=each["Key"], VersionId=each["VersionId"])


@contextmanager
def object_store() -> Iterator[Store]:
    """The server's address is in the environment, where clients and the processes of a cluster find it."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("AWS_")]:
                patch.delenv(name)  # nobody's real bucket is ever asked
            for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
                patch.setenv(name, value)
            yield Store(f"http://{host}:{port}")
    finally:
        server.stop()
