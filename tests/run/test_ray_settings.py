"""What of the Ray executor needs no cluster: settings, room on nodes, what is refused, and packed checkpoints."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

import xstar as xs
from xstar.core.version import VERSION
from xstar.errors import InvalidArgument, MissingExtra
from xstar.journal.trial import Job
from xstar.run.carrying import MessageCarrier, UrlCarrier, packed, unpack
from xstar.run.ray import chosen
from xstar.run.ray.cluster import Node, unfit

SPACE = xs.Space(x=xs.Float(-1, 1))
NODE = Node("a" * 56, "worker-3 (aaaaaaaa)", {"CPU": 8.0, "GPU": 2.0, "tpu": 1.0})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cpus": -1}, "cpus: must be a number of at least 0, but got -1"),
        ({"cpus": 0}, "cpus: must be above 0 if a slot needs nothing else"),
        ({"gpus": 1.5}, "gpus: must be a whole number, or below 1"),
        ({"resources": {"GPU": 1}}, "resources: must not name CPU or GPU"),
        ({"resources": ["tpu"]}, "resources: must be a dictionary of numbers"),
        ({"slots": 0}, "slots: must be a whole number of at least 1"),
        ({"checkpoints": "somewhere"}, "checkpoints: must be 'shared', 'objects' or a URL"),
        ({"address": "ray://head:10001"}, "address: must not be one of Ray Client"),
        ({"address": 6379}, "address: must be the address of a Ray cluster"),
    ],
)
def test_settings_are_checked(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message.replace("(", r"\(")):
        xs.Ray(**given)


def test_the_options_of_a_search_say_what_a_slot_has() -> None:
    assert chosen(None, 4) == chosen("local", 4) == xs.Processes(4)
    assert chosen("local", 4, cores=2, grace=5) == xs.Processes(4, cores=2, grace=5.0)
    assert chosen("ray") == chosen("ray", 1, cores=None) == xs.Ray(cpus=1, gpus=0, slots=None)
    assert chosen("ray", 4, cores=2, gpus=0.5, timeout=9, retries=0) == xs.Ray(
        cpus=2, gpus=0.5, slots=4, timeout=9, retries=0
    )
    own = xs.Ray(cpus=3)
    assert chosen(own) is own
    with pytest.raises(InvalidArgument, match=r"workers: must be left out beside executor=xs.Ray.*xs.Ray\(slots=4\)"):
        chosen(own, 4)
    with pytest.raises(InvalidArgument, match=r"gpus: must be left out .*xs.Processes\(gpus=1\)"):
        chosen(xs.Processes(2), gpus=1)
    with pytest.raises(InvalidArgument, match=r"executor: must be .*'local', 'ray'.*'dask'"):
        xs.minimize(lambda trial: 1.0, SPACE, trials=1, executor="dask")


def test_room_on_a_node() -> None:
    assert NODE.room(xs.Ray(cpus=2).needs) == 4
    assert NODE.room(xs.Ray(cpus=0.5).needs) == 16
    assert NODE.room(xs.Ray(cpus=1, gpus=1).needs) == 2
    assert NODE.room(xs.Ray(cpus=0, gpus=1 / 3).needs) == 6
    assert NODE.room(xs.Ray(cpus=0, gpus=0.4).needs) == 4, "the rest of a GPU, and that of another, make no slot"
    assert NODE.room(xs.Ray(resources={"tpu": 1}).needs) == 1
    assert NODE.room(xs.Ray(resources={"fpga": 1}).needs) == 0


SAME = {
    "xstar": VERSION,
    "python": "{}.{}".format(*sys.version_info[:2]),
    "cloudpickle": __import__("cloudpickle").__version__,
    "sees": True,
}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"xstar": None}, ["worker-3", "has no xstar"]),
        ({"xstar": "0.0.1"}, ["worker-3", "xstar 0.0.1", f"this program has {VERSION}"]),
        ({"python": "3.9"}, ["worker-3", "python 3.9", "this program has 3."]),
        ({"cloudpickle": "1.6.0"}, ["worker-3", "cloudpickle 1.6.0"]),
        ({"cloudpickle": None}, ["worker-3", "cloudpickle not installed"]),
        ({"sees": False}, ["worker-3", "does not see", "/studies/one", "directory=", "s3://"]),
    ],
)
def test_a_node_that_cannot_run_trials_is_named(other: dict[str, Any], words: list[str]) -> None:
    assert unfit(NODE, SAME, Path("/studies/one")) is None
    reason = unfit(NODE, {**SAME, **other}, Path("/studies/one"))
    assert reason is not None
    for word in words:
        assert word in reason


def test_without_ray_the_user_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install '\.\[ray\]'"):
        xs.minimize(lambda trial: 1.0, SPACE, trials=1, executor=xs.Ray())


# ---------------------------------------------------------------- checkpoints on the way


def test_a_packed_folder_is_unpacked_as_it_was(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert packed(first) is None
    (first / "deep").mkdir(parents=True)
    assert packed(first / "deep") is None
    (first / "deep" / "weights.bin").write_bytes(b"\0\1")
    (first / "link").symlink_to("deep/weights.bin")
    (second / "old").mkdir(parents=True)
    data = packed(first)
    assert data is not None
    unpack(io.BytesIO(data), second)
    assert sorted(path.name for path in second.iterdir()) == ["deep", "link"]
    assert (second / "link").read_bytes() == b"\0\1"
    with pytest.raises(Exception, match=r"file could not be opened|truncated|unexpected"):
        unpack(io.BytesIO(data[:700]), second)
    assert (second / "link").read_bytes() == b"\0\1", "half a checkpoint replaces none"


def job(attempt: int) -> Job:
    return Job(7, {}, attempt, 0, 3, 3, "/on/the/driver")


def test_a_carrier_brings_keeps_and_cleans_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    carrier = MessageCarrier()
    local = carrier.bring(job(0), None)
    assert local.directory is not None
    folder = Path(local.directory)
    assert folder.is_relative_to(tmp_path)
    assert carrier.keep(local) is None, "nothing was saved"
    (folder / "checkpoint").mkdir()
    (folder / "checkpoint" / "state").write_text("1")
    data = carrier.keep(local)
    assert data is not None
    assert carrier.keep(local) is None, "it has not changed"
    (folder / "stdout.txt").write_text("hello\n")
    (folder / "stderr.txt").touch()
    assert carrier.output(local) == {"stdout.txt": b"hello\n"}
    assert not folder.exists()

    other = MessageCarrier()
    local = other.bring(job(1), data)
    assert local.directory is not None
    assert (Path(local.directory) / "checkpoint" / "state").read_text() == "1"
    assert other.keep(local) is None, "what was brought is kept already"


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_checkpoints_at_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    url = f"file://{tmp_path}/far" if scheme == "file" else "memory://far"
    carrier = UrlCarrier(url)
    for text in ("1", "22"):
        local = carrier.bring(job(0 if text == "1" else 1), None)
        assert local.directory is not None
        folder = Path(local.directory) / "checkpoint"
        assert folder.exists() == (text != "1")
        folder.mkdir(exist_ok=True)
        (folder / "state").write_text(text)
        assert carrier.keep(local) is None
    here = tmp_path / "here"
    assert UrlCarrier(url).fetch(7, here)
    assert (here / "state").read_text() == "22"
    carrier.drop(7)
    carrier.drop(7)
    assert not carrier.fetch(7, tmp_path / "nowhere")
