"""A real Ray cluster of several raylets on this machine, for tests."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

OBJECT_STORE = 80_000_000
"""Bytes: Ray would take a third of the memory, for each node."""


@contextmanager
def ray_cluster(*cpus: int) -> Iterator[Any]:
    """A cluster whose nodes have so many CPUs, as Ray counts them; the first is the head."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # tests tell nobody about themselves
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what Ray imports
        from ray.cluster_utils import Cluster
    folder = tempfile.mkdtemp(prefix="ray-")  # sockets are made in it, whose paths must be short
    cluster: Any = None
    try:
        head = {
            "num_cpus": cpus[0],
            "object_store_memory": OBJECT_STORE,
            "include_dashboard": False,
            "temp_dir": folder,
        }
        cluster = Cluster(initialize_head=True, head_node_args=head)
        for number in cpus[1:]:
            add_node(cluster, number)
        yield cluster
    finally:
        if cluster is not None:
            cluster.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def add_node(cluster: Any, cpus: int) -> Any:
    return cluster.add_node(num_cpus=cpus, object_store_memory=OBJECT_STORE)


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """This process as a driver of the cluster."""
    import ray

    ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
    try:
        yield ray
    finally:
        ray.shutdown()
