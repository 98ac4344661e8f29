"""Whatever is cut out, the pixels are those of a whole image that torchvision crops and resizes."""

import io

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from simplejpeg import decode_jpeg, encode_jpeg
from sklearn.datasets import load_sample_image
from torchvision.transforms.v2 import functional

from course_utils.cropping import Cut, RandomResizedCrop, Resize, ResizeCenterCrop, decode_cut_into, regions
from course_utils.cropping.turbojpeg import turbojpeg

MOST = 1  # difference: where PyTorch lacks vectorised code for uint8, torchvision computes in float


@pytest.fixture(params=[False, True], ids=["whole", "parts"])
def library(request, monkeypatch):
    """Decode with and without a library that decodes parts."""
    if request.param and not turbojpeg():
        pytest.skip("libjpeg-turbo 3 is not installed")
    if not request.param:
        monkeypatch.setattr(regions, "turbojpeg", lambda: None)


def jpeg(height, width, seed=0, subsampling="420", quality=90):
    """Return a JPEG file with edges, colours and noise."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (5, 4, 3), np.uint8)).resize((width, height))
    noise = rng.integers(-20, 20, (height, width, 3))
    pixels = np.clip(np.asarray(small) + noise, 0, 255).astype(np.uint8)
    return encode_jpeg(pixels, quality, "RGB", subsampling)


def reference(data, cut, shape):
    """Return what torchvision computes from the whole image, uint8 (H, W, 3)."""
    image = torch.from_numpy(np.array(Image.open(io.BytesIO(data)).convert("RGB"))).permute(2, 0, 1)
    part = functional.resized_crop(
        image, cut.top, cut.left, cut.height, cut.width, list(cut.resized), antialias=True
    )
    part = part[:, cut.shift[0] :, cut.shift[1] :][:, : shape[0], : shape[1]]
    return (part.flip(2) if cut.is_flipped else part).permute(1, 2, 0).numpy()


def decoded(data, cut, shape):
    pixels = np.full((*shape, 3), 173, np.uint8)
    decode_cut_into(memoryview(data), lambda height, width: cut, pixels)
    return pixels


def distance(found, expected):
    return np.abs(found.astype(int) - expected)


@st.composite
def cuts(draw):
    """Draw the size of an image, a part of it, and the size of the result."""
    height, width = draw(st.integers(1, 90)), draw(st.integers(1, 90))
    top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
    h, w = draw(st.integers(1, height - top)), draw(st.integers(1, width - left))
    shape = draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
    shift = draw(st.tuples(st.integers(0, 5), st.integers(0, 5)))
    resized = shape[0] + shift[0], shape[1] + shift[1]
    return (height, width), Cut(top, left, h, w, resized, shift, draw(st.booleans())), shape


SUBSAMPLINGS = st.sampled_from(["444", "422", "420", "440", "411"])


def check_pixels(data, cut, shape, most=MOST):
    assert distance(decoded(data, cut, shape), reference(data, cut, shape)).max() <= most


@settings(max_examples=50)
@given(cuts(), SUBSAMPLINGS)
def test_pixels_are_those_of_torchvision(case, subsampling):
    size, cut, shape = case
    check_pixels(jpeg(*size, subsampling=subsampling), cut, shape)


@pytest.mark.proof
@settings(max_examples=3000)
@given(cuts(), SUBSAMPLINGS)
def test_pixels_are_those_of_torchvision_for_many(case, subsampling):
    size, cut, shape = case
    check_pixels(jpeg(*size, subsampling=subsampling), cut, shape)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("progressive", [False, True])
def test_other_kinds_of_jpeg_files(mode, progressive):
    image, file = Image.open(io.BytesIO(jpeg(50, 70))), io.BytesIO()
    image.convert(mode).save(file, "JPEG", progressive=progressive)
    check_pixels(file.getvalue(), Cut(9, 17, 30, 40, (20, 20)), (20, 20), most=3)  # CMYK is rounded


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("kept", [0, 2, 100, 0.5, 0.9])
def test_file_that_ends_within_the_part_is_an_error(kept):
    data = jpeg(120, 90)
    kept = int(kept * len(data)) if isinstance(kept, float) else kept
    with pytest.raises(ValueError, match=r"."):
        decoded(data[:kept], Cut(100, 30, 20, 40, (8, 8)), (8, 8))


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("size", [(300, 400), (97, 33), (20, 500)])
def test_crops_to_evaluate_are_torchvisions(size):
    data = jpeg(*size)
    image = functional.pil_to_tensor(Image.open(io.BytesIO(data)))
    crop = ResizeCenterCrop(48, (40, 44))
    expected = functional.center_crop(functional.resize(image, [48], antialias=True), [40, 44])
    found = decoded(data, crop.cut(*size, None), crop.shape)
    assert distance(found, expected.permute(1, 2, 0).numpy()).max() <= MOST
    expected = functional.resize(image, [30, 20], antialias=True)
    found = decoded(data, Resize((30, 20)).cut(*size, None), (30, 20))
    assert distance(found, expected.permute(1, 2, 0).numpy()).max() <= MOST


def test_result_larger_than_the_resized_image_is_rejected():
    with pytest.raises(ValueError, match="resize=200: at least as long as the result, size=224"):
        ResizeCenterCrop(200, 224)


@pytest.fixture(scope="module")
def photograph():
    return encode_jpeg(load_sample_image("china.jpg"), 90, "RGB", "420")  # 427x640


DRAFTS = [Resize(100, draft=True), RandomResizedCrop(64, draft=True)]


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("crop", DRAFTS, ids=lambda crop: type(crop).__name__)
def test_draft_of_a_photograph_is_within_the_stated_distance(photograph, crop):
    found = []
    for drawn in crop.draw(0, 0, np.arange(12)):
        cut = crop.cut(427, 640, drawn)
        if cut.reduction > 1:
            expected = reference(photograph, cut, crop.shape)
            found.append(distance(decoded(photograph, cut, crop.shape), expected))
    assert len(found) >= 4
    assert np.mean(found) < 2.5
    assert np.max(found) < 50


@pytest.mark.usefixtures("library")
def test_reduced_parts_are_those_of_the_reduced_image(photograph):
    whole = decode_jpeg(photograph, min_height=214, min_width=320, min_factor=2)
    parts = (0, 0, 427, 640), (32, 64, 300, 500), (34, 30, 102, 98), (426, 638, 427, 640)
    for top, left, bottom, right in parts:
        found = regions.decode_region(memoryview(photograph), slice(top, bottom), slice(left, right), 2)
        assert np.array_equal(found, whole[top // 2 : -(-bottom // 2), left // 2 : -(-right // 2)])
