"""The centre of a resized image is cut out of no more of the image than it needs, with the same pixels."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from simplejpeg import encode_jpeg
from sklearn.datasets import load_sample_image
from torchvision.transforms.v2 import functional

from course_utils.cropping import ResizeCenterCrop, decode_cut_into
from course_utils.cropping.center import MOVE, needed

MOST = 1  # difference: where PyTorch lacks vectorised code for uint8, torchvision computes in float


def photograph(height, width):
    pixels = load_sample_image("china.jpg")[:, ::-1]
    image = Image.fromarray(pixels).resize((width, height))
    return encode_jpeg(np.asarray(image), 90, "RGB", "420")


def by_torchvision(data, crop):
    image = functional.pil_to_tensor(Image.open(io.BytesIO(data)))
    resized = functional.resize(image, [crop.resize], antialias=True)
    return functional.center_crop(resized, list(crop.shape)).permute(1, 2, 0).numpy()


def found(data, crop):
    pixels = np.full((*crop.shape, 3), 173, np.uint8)
    decode_cut_into(memoryview(data), lambda height, width: crop.cut(height, width, None), pixels)
    return pixels


def distance(one, other):
    return np.abs(one.astype(int) - other)


@st.composite
def cases(draw):
    """Draw the size of an image, and a crop; of half of them, the place of the centre is a whole pixel."""
    resize = draw(st.integers(1, 60))
    shape = draw(st.tuples(st.integers(1, resize), st.integers(1, resize)))
    factor = draw(st.sampled_from([1, 2, 3, 0.5]))
    height, width = draw(
        st.tuples(st.integers(1, 130), st.integers(1, 130))
        | st.integers(1, 3).map(
            lambda longer: (int(factor * resize) or 1, int(factor * resize * longer) or 1)
        )
    )
    return (height, width), ResizeCenterCrop(resize, shape)


@settings(max_examples=80)
@given(cases())
def test_pixels_are_those_of_torchvision(case):
    check(case)


@pytest.mark.proof
@settings(max_examples=1000)
@given(cases())
def test_pixels_are_those_of_torchvision_in_many_cases(case):
    check(case)


def check(case):
    size, crop = case
    data = photograph(*size)
    assert distance(found(data, crop), by_torchvision(data, crop)).max() <= MOST


@pytest.mark.parametrize(
    ("size", "part"),
    [
        ((256, 256), (16, 16, 224, 224)),  # as large as the result: nothing around the centre
        ((512, 512), (30, 30, 452, 452)),  # twice as large: one pixel of the result around it
        ((512, 768), (30, 158, 452, 452)),
        ((375, 500), (0, 0, 354, 416)),  # no pixel before the centre begins at one of the image
    ],
)
def test_only_what_the_centre_needs_is_decoded(size, part):
    cut = ResizeCenterCrop(256, 224).cut(*size, None)
    assert np.abs(np.subtract(cut[:4], part)).max() <= 2


@settings(max_examples=300)
@given(st.integers(1, 3000), st.integers(1, 600), st.integers(1, 600), st.sampled_from([1, 2, 4, 8]))
def test_part_contains_what_the_filter_reaches(size, resized, count, reduction):
    count = min(count, resized)
    span = needed(size, resized, count, reduction, MOVE)
    scale = size / resized
    reach, before = max(scale, reduction), round((resized - count) / 2)
    assert 0 <= span.first < span.end <= size
    assert span.shift + count <= span.resized
    assert span.first <= max(0, (before + 0.5) * scale - reach + reduction / 2 + 0.1)
    assert span.end >= min(size, int((before + count - 0.5) * scale + reach - reduction / 2))
    assert abs((before - span.shift) * scale - span.first) <= MOVE * reduction


def test_draft_is_torchvisions_but_for_a_part_of_a_pixel():
    data = photograph(1100, 1400)
    for size in (224, 256):
        crop = ResizeCenterCrop(256, size, draft=True)
        assert crop.cut(1100, 1400, None).reduction == 4
        far = distance(found(data, crop), by_torchvision(data, crop))
        assert far.mean() < 2.5
        assert far.max() < 50


def test_draft_without_reduction_moves_the_centre_by_less_than_is_seen():
    data, crop = photograph(375, 500), ResizeCenterCrop(256, 224, draft=True)
    cut, exact = (one.cut(375, 500, None) for one in (crop, ResizeCenterCrop(256, 224)))
    assert cut.reduction == 1
    assert cut.height * cut.width < 0.8 * exact.height * exact.width
    far = distance(found(data, crop), by_torchvision(data, crop))
    assert far.mean() < 0.5
    assert far.max() < 10


@pytest.mark.parametrize(("side", "resize", "size"), [(16, 20, 5), (18, 20, 8), (18, 20, 11)])
def test_part_as_long_as_its_result_is_resized_too(side, resize, size):
    """PyTorch copies what has the wanted size already, whatever the scale."""
    check(((side, side), ResizeCenterCrop(resize, size)))
