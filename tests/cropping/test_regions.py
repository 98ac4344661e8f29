"""A part of a JPEG file has the pixels of the whole one, of whatever kind the file is, and at each edge."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from course_utils.cropping import decode_cut_into, read_header, regions
from course_utils.cropping.crops import Resize
from course_utils.cropping.header import MOST_PIXELS
from course_utils.cropping.turbojpeg import turbojpeg
from tests.cropping.unusual_jpegs import SUBSAMPLINGS, unusual_jpeg

pytestmark = pytest.mark.skipif(not turbojpeg(), reason="libjpeg-turbo 3 is not installed")


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def check_part(data, top, left, bottom, right):
    found = regions.decode_region(memoryview(data), slice(top, bottom), slice(left, right))
    whole = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    assert np.array_equal(found, whole[top:bottom, left:right])


@pytest.mark.parametrize("subsampling", SUBSAMPLINGS)
def test_last_columns_of_any_width(subsampling):
    """The colours of the last block may have a single column."""
    for width in range(1, 36):
        data = unusual_jpeg(noise(9, width), subsampling)
        for left in range(max(0, width - 4), width):
            check_part(data, 3, left, 9, width)


KINDS = st.fixed_dictionaries(
    {
        "subsampling": st.sampled_from(sorted(SUBSAMPLINGS)),
        "quality": st.sampled_from([1, 30, 90, 100]),
        "progressive": st.booleans(),
        "arithmetic": st.booleans(),
        "restart_rows": st.integers(0, 2),
    }
)


@st.composite
def parts(draw):
    """Draw the height and width of an image, and a part of it."""
    height, width = draw(st.integers(1, 70)), draw(st.integers(1, 70))
    top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    bottom, right = draw(st.integers(top + 1, height)), draw(st.integers(left + 1, width))
    return (height, width), (top, left, bottom, right)


@given(parts(), KINDS)
@settings(max_examples=60)
def test_parts_of_unusual_files(part, kind):
    size, box = part
    check_part(unusual_jpeg(noise(*size), **kind), *box)


@pytest.mark.proof
@given(parts(), KINDS)
@settings(max_examples=3000)
def test_parts_of_many_unusual_files(part, kind):
    size, box = part
    check_part(unusual_jpeg(noise(*size), **kind), *box)


@pytest.mark.parametrize("library", [True, False], ids=["parts", "whole"])
@pytest.mark.parametrize("size", [(40, 50), (2, 65500), (65500, 2), (1, 1)])
@pytest.mark.parametrize("subsampling", ["420", "441"])
def test_extreme_sizes_and_subsamplings_are_decoded(size, subsampling, library, monkeypatch):
    if not library:
        monkeypatch.setattr(regions, "turbojpeg", lambda: None)
    data, pixels = unusual_jpeg(noise(*size), subsampling), np.empty((4, 4, 3), np.uint8)
    assert read_header(data)[:2] == size
    decode_cut_into(memoryview(data), lambda height, width: Resize(4).cut(height, width, None), pixels)
    assert pixels.std() > 0


def claiming(data, height, width):
    """Return a file whose header claims another size."""
    at = next(data.index(frame) for frame in (b"\xff\xc0", b"\xff\xc2") if frame in data)
    return data[: at + 5] + height.to_bytes(2, "big") + width.to_bytes(2, "big") + data[at + 9 :]


@pytest.mark.parametrize("subsampling", ["420", "441"])
@pytest.mark.parametrize("progressive", [False, True])
def test_file_that_would_take_all_memory_is_refused(subsampling, progressive):
    data = claiming(unusual_jpeg(noise(40, 50), subsampling, progressive=progressive), 65500, 65500)
    with pytest.raises(ValueError, match=r"65500x65500 pixels: more than|exceeds limit"):
        read_header(data)


def test_limit_is_pillows():
    assert MOST_PIXELS == 2 * 89_478_485
    assert MOST_PIXELS == 2 * Image.MAX_IMAGE_PIXELS


def test_damaged_header_with_an_unnamed_subsampling_is_a_value_error():
    data = unusual_jpeg(noise(40, 50), "441")
    for kept in range(0, len(data), 7):
        try:
            read_header(data[:kept])
        except ValueError:
            continue
