import pytest
import torch
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
def test_is_torchvisions_normalise_and_mirror(images, flip):
    result = FlipAndNormalize(flip=flip)(images)
    assert result.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(result, truth(images.flip(3) if flip else images), atol=1e-5, rtol=0)


def test_mirrors_each_image_by_itself_and_the_same_for_a_seed(images):
    transform, again = FlipAndNormalize(seed=3), FlipAndNormalize(seed=3)
    seen = set()
    for _ in range(4):
        result = transform(images).clone()
        assert torch.equal(result, again(images))
        mirrored = truth(images.flip(3))
        seen |= {tuple(torch.isclose(result, mirrored, atol=1e-5).flatten(1).all(1).tolist())}
    assert len(seen) > 1


def test_a_device_and_the_cpu_agree(images):
    transform = FlipAndNormalize()
    mirrored = torch.rand(6, generator=torch.Generator().manual_seed(0)) < 0.5
    torch.testing.assert_close(transform._at_once(images, mirrored), transform(images), atol=1e-5, rtol=0)


def test_keeps_what_is_kept_and_takes_smaller_and_bigger_batches(images):
    transform = FlipAndNormalize(flip=0)
    kept = [transform(part) for part in (images[:2], images, images[:5], images[5:])]
    for result, part in zip(kept, (images[:2], images, images[:5], images[5:]), strict=True):
        torch.testing.assert_close(result, truth(part), atol=1e-5, rtol=0)


def test_leaves_the_number_of_threads(images):
    before = torch.get_num_threads()
    FlipAndNormalize()(images)
    assert torch.get_num_threads() == before
