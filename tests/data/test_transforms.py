import pytest
import torch

from course_utils.data.transforms import transform

image = torch.randint(0, 256, (3, 40, 60), dtype=torch.uint8)


@pytest.mark.parametrize(
    ("new_size", "shape"), [(None, (3, 40, 60)), (32, (3, 32, 32)), ((16, 24), (3, 16, 24))]
)
def test_resizes_and_keeps_uint8(new_size, shape):
    out = transform(new_size)(image)
    assert out.shape == shape
    assert out.dtype == torch.uint8


def test_to_tensor_scales_to_floats_from_0_to_1():
    out = transform(None, to_tensor=True)(image)
    torch.testing.assert_close(out, image.float() / 255)


def test_image_of_requested_size_is_unchanged():
    assert torch.equal(transform((40, 60))(image), image)
