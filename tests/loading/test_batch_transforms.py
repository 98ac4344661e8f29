import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torchvision.transforms import v2

from course_utils.cropping import RandomResizedCrop
from course_utils.loading.batch_transforms import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    FlipAndNormalize,
    Step,
    transformed,
)


@pytest.fixture
def images():
    generator = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (6, 3, 5, 7), dtype=torch.uint8, generator=generator)
    return images.contiguous(memory_format=torch.channels_last)


def truth(images):
    return v2.Normalize(IMAGENET_MEAN, IMAGENET_STD)(v2.ToDtype(torch.float32, scale=True)(images))


NONE, SOME = torch.zeros(6, dtype=torch.bool), torch.tensor([1, 0, 0, 1, 1, 0], dtype=torch.bool)


@pytest.mark.parametrize("flipped", [NONE, SOME, ~NONE], ids=["none", "some", "all"])
def test_equals_torchvisions_normalize_and_flip(images, flipped):
    result = FlipAndNormalize()(images, flipped)
    assert result.is_contiguous(memory_format=torch.channels_last)
    expected = torch.where(flipped[:, None, None, None], images.flip(3), images)
    torch.testing.assert_close(result, truth(expected), atol=1e-5, rtol=0)


@given(seed=st.integers(0, 2**70), epoch=st.integers(0, 99), order=st.permutations(range(30)))
@settings(max_examples=30)
def test_flip_of_a_sample_depends_on_nothing_but_seed_and_epoch(seed, epoch, order):
    transform, samples = FlipAndNormalize(), np.array(order)
    whole = transform.draw(seed, epoch, np.arange(30))
    assert torch.equal(transform.draw(seed, epoch, samples), whole[samples])
    assert torch.equal(transform.draw(seed, epoch, samples[:7]), whole[samples[:7]])


def test_flips_are_as_frequent_as_asked_and_independent():
    samples = np.arange(6_000)
    for flip in (0, 0.3, 1):
        assert abs(FlipAndNormalize(flip=flip).draw(0, 0, samples).float().mean() - flip) < 0.02
    drawn = [FlipAndNormalize().draw(*key, samples).numpy() for key in ((0, 0), (0, 1), (1, 0))]
    crops = RandomResizedCrop(9).draw(0, 0, samples)
    others = [
        [one.top > 0.5 for one in crops],
        [one.left > 0.5 for one in crops],
        [one.is_flipped for one in crops],
    ]
    for one, other in itertools.combinations([*drawn, *map(np.array, others)], 2):
        assert abs((one == other).mean() - 0.5) < 0.03


@pytest.mark.parametrize("flip", [-0.1, 1.1])
def test_impossible_probability_is_named(flip):
    with pytest.raises(ValueError, match="flip="):
        FlipAndNormalize(flip=flip)


def test_device_and_cpu_agree(images):
    transform = FlipAndNormalize()
    torch.testing.assert_close(transform._on_device(images, SOME), transform(images, SOME), atol=1e-5, rtol=0)


class CopiesToDevice(TorchDispatchMode):
    """Counts the copies from the host to the meta device, which stands for a GPU."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        target = (kwargs or {}).get("device")
        self.count += func is torch.ops.aten._to_copy.default and target == torch.device("meta")
        return func(*args, **(kwargs or {}))


def test_later_batches_copy_only_their_flip_decisions_to_the_device(images):
    transform, on_device = FlipAndNormalize(), images.to("meta")
    transform(on_device, SOME)
    with CopiesToDevice() as copies:
        assert transform(on_device, SOME).device.type == "meta"
    assert copies.count == 1


def test_kept_results_of_different_sizes_are_not_overwritten(images):
    transform = FlipAndNormalize()
    kept = [transform(part, NONE[: len(part)]) for part in (images[:2], images, images[:5], images[5:])]
    for result, part in zip(kept, (images[:2], images, images[:5], images[5:]), strict=True):
        torch.testing.assert_close(result, truth(part), atol=1e-5, rtol=0)


def test_number_of_threads_is_restored(images):
    before = torch.get_num_threads()
    FlipAndNormalize()(images, SOME)
    assert torch.get_num_threads() == before


LOSING = [lambda images: images[1:], lambda images: None, lambda images: images.sum()]


@pytest.mark.parametrize("transform", LOSING)
def test_transform_that_loses_images_is_refused(transform):
    step = Step(0, 4, np.arange(4))
    with pytest.raises(ValueError, match="as many, each at its place"):
        transformed(torch.zeros(4, 3, 2, 2), step, transform, 0)
