import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torchvision.transforms import v2

from course_utils.loading.batch_transforms import IMAGENET_MEAN, IMAGENET_STD, FlipAndNormalize


@pytest.fixture
def images():
    generator = torch.Generator().manual_seed(1)
    images = torch.randint(0, 256, (6, 3, 5, 7), dtype=torch.uint8, generator=generator)
    return images.contiguous(memory_format=torch.channels_last)


def truth(images):
    return v2.Normalize(IMAGENET_MEAN, IMAGENET_STD)(v2.ToDtype(torch.float32, scale=True)(images))


@pytest.mark.parametrize("flip", [0, 1])
def test_equals_torchvisions_normalize_and_flip(images, flip):
    result = FlipAndNormalize(flip=flip)(images)
    assert result.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(result, truth(images.flip(3) if flip else images), atol=1e-5, rtol=0)


def test_flips_images_independently_and_reproducibly(images):
    transform, again = FlipAndNormalize(seed=3), FlipAndNormalize(seed=3)
    seen = set()
    for _ in range(4):
        result = transform(images).clone()
        assert torch.equal(result, again(images))
        flipped = truth(images.flip(3))
        seen |= {tuple(torch.isclose(result, flipped, atol=1e-5).flatten(1).all(1).tolist())}
    assert len(seen) > 1


def test_device_and_cpu_agree(images):
    transform = FlipAndNormalize()
    flipped = torch.rand(6, generator=torch.Generator().manual_seed(0)) < 0.5
    torch.testing.assert_close(transform._on_device(images, flipped), transform(images), atol=1e-5, rtol=0)


class CopiesToDevice(TorchDispatchMode):
    """Counts the copies from the host to the meta device, which stands for a GPU."""

    count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        target = (kwargs or {}).get("device")
        self.count += func is torch.ops.aten._to_copy.default and target == torch.device("meta")
        return func(*args, **(kwargs or {}))


def test_later_batches_copy_only_their_flip_decisions_to_the_device(images):
    transform, on_device = FlipAndNormalize(), images.to("meta")
    transform(on_device)
    with CopiesToDevice() as copies:
        assert transform(on_device).device.type == "meta"
    assert copies.count == 1


def test_kept_results_of_different_sizes_are_not_overwritten(images):
    transform = FlipAndNormalize(flip=0)
    kept = [transform(part) for part in (images[:2], images, images[:5], images[5:])]
    for result, part in zip(kept, (images[:2], images, images[:5], images[5:]), strict=True):
        torch.testing.assert_close(result, truth(part), atol=1e-5, rtol=0)


def test_number_of_threads_is_restored(images):
    before = torch.get_num_threads()
    FlipAndNormalize()(images)
    assert torch.get_num_threads() == before
