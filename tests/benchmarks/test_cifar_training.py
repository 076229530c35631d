"""How batches of images are varied while a network is trained on CIFAR-10."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
from torch.nn import functional  # noqa: E402

from benchmarks.workloads import cifar_training as cifar  # noqa: E402


def steps(image: Any, moved: Any) -> set[tuple[int, int]]:
    """All steps by which the first is moved to become the second."""
    padded = functional.pad(image, (cifar.SHIFT,) * 4)
    sides = range(2 * cifar.SHIFT + 1)
    return {
        (down, across)
        for down in sides
        for across in sides
        if torch.equal(padded[:, down : down + 32, across : across + 32], moved)
    }


def batch() -> Any:
    return torch.randn(64, 3, 32, 32, generator=torch.Generator().manual_seed(0)).bfloat16()


def test_each_image_is_moved_by_a_step_of_its_own() -> None:
    images = batch()
    moved = cifar.shifted_apart(images, torch.Generator().manual_seed(1))
    found = [steps(*pair) for pair in zip(images, moved, strict=True)]
    assert all(len(each) == 1 for each in found)
    assert len(set.union(*found)) > 30  # 64 draws of 81


def test_a_batch_is_moved_by_one_step() -> None:
    images = batch()
    found = [steps(*pair) for pair in zip(images, cifar.shifted_alike(images), strict=True)]
    assert len(set.intersection(*found)) == 1


@pytest.mark.parametrize("each_image", [False, True])
def test_half_of_the_images_are_mirrored(each_image: bool) -> None:
    images = torch.arange(32.0).expand(512, 3, 32, 32)  # rises from the left to the right
    out = cifar.varied(images, torch.Generator().manual_seed(0), each_image)
    mirrored = (out[:, 0, 16, 12] > out[:, 0, 16, 20]).float().mean()
    assert out.shape == images.shape
    assert 0.4 < mirrored < 0.6
