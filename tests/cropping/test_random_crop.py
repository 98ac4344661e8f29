import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from torchvision.transforms import RandomResizedCrop as TorchvisionCrop

from course_utils.cropping.philox import uniforms
from course_utils.cropping.random_crop import TRIES, RandomResizedCrop

SIDES = st.integers(1, 700)
RANGES = st.tuples(st.floats(0.01, 3), st.floats(0.01, 3)).map(sorted).map(tuple)


def boxes(crop, height, width, count, seed=0, epoch=0):
    """Return top, left, height and width of the parts of `count` images of one size."""
    drawn = crop.draw(seed, epoch, np.arange(count))
    return np.array([crop.cut(height, width, one)[:4] for one in drawn])


def torchvision_boxes(crop, height, width, count):
    image = torch.empty(3, height, width)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return np.array([TorchvisionCrop.get_params(image, crop.scale, crop.ratio) for _ in range(count)])


def box_by_torchvisions_algorithm(crop, height, width, numbers):
    """Compute one box as torchvision does, from numbers in [0, 1)."""
    area, low, high = height * width, *(math.log(side) for side in crop.ratio)
    for n in range(TRIES):
        target = area * (crop.scale[0] + numbers[3 + n] * (crop.scale[1] - crop.scale[0]))
        aspect = math.exp(low + numbers[3 + TRIES + n] * (high - low))
        w, h = round(math.sqrt(target * aspect)), round(math.sqrt(target / aspect))
        if 0 < w <= width and 0 < h <= height:
            return int(numbers[0] * (height - h + 1)), int(numbers[1] * (width - w + 1)), h, w
    return None


@given(SIDES, SIDES, RANGES, RANGES, st.integers(0, 2**70), st.integers(0, 99))
@settings(max_examples=60)
def test_parameters_are_computed_as_torchvisions(height, width, scale, ratio, seed, epoch):
    crop = RandomResizedCrop(9, scale, ratio)
    numbers = uniforms(seed, epoch, np.arange(5), 3 + 2 * TRIES)
    for found, row in zip(boxes(crop, height, width, 5, seed, epoch), numbers, strict=True):
        expected = box_by_torchvisions_algorithm(crop, height, width, row)
        # A product may be rounded differently, and then a side of it.
        assert expected is None or np.abs(found - expected).max() <= 1


@pytest.mark.parametrize(("height", "width"), [(375, 500), (60, 500), (500, 90), (20, 500)])
def test_marginals_are_torchvisions(height, width):
    """Of elongated images most tries fail, or all do."""
    crop = RandomResizedCrop(224)
    found = boxes(crop, height, width, 8_000)
    expected = torchvision_boxes(crop, height, width, 2_000)
    for mine, theirs in ((found, expected), (derived(found), derived(expected))):
        for a, b in zip(mine.T, theirs.T, strict=True):
            assert ks_2samp(a, b).pvalue > 1e-3


def derived(parts):
    """Return the area, the ratio, and the centre of each part."""
    top, left, height, width = parts.T
    return np.stack([height * width, width / height, top + height / 2, left + width / 2], axis=1)


@given(SIDES, SIDES, RANGES)
@settings(max_examples=60)
def test_fallback_is_torchvisions(height, width, ratio):
    crop = RandomResizedCrop(9, (9.0, 9.0), ratio)  # no try can fit
    expected = torchvision_boxes(crop, height, width, 1)[0]
    if min(expected[2:]) > 0:  # torchvision fails where the part has no pixels
        assert boxes(crop, height, width, 1)[0].tolist() == expected.tolist()


def test_flips_are_independent_of_the_box_and_as_frequent_as_asked():
    for flip in (0, 0.3, 1):
        drawn = RandomResizedCrop(9, flip=flip).draw(0, 0, np.arange(6_000))
        flips = np.array([one.is_flipped for one in drawn])
        assert abs(flips.mean() - flip) < 0.02
    tops = np.array([one.top for one in drawn])
    assert abs(np.corrcoef(tops, [one.left for one in drawn])[0, 1]) < 0.05
    flips = np.array([one.is_flipped for one in RandomResizedCrop(9).draw(0, 0, np.arange(6_000))])
    assert abs(tops[flips].mean() - tops[~flips].mean()) < 0.03


def test_parameters_of_a_sample_depend_on_nothing_else():
    crop, samples = RandomResizedCrop(9), np.arange(50)
    whole = crop.draw(3, 4, samples)
    order = np.random.default_rng(0).permutation(50)
    assert crop.draw(3, 4, order) == [whole[i] for i in order]
    assert crop.draw(3, 5, samples) != whole != crop.draw(4, 4, samples)


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 0},
        {"size": (4, -1)},
        {"scale": (0, 1)},
        {"scale": (1, 0.5)},
        {"ratio": (0.75, 0.5)},
        {"flip": 1.1},
        {"flip": -0.1},
    ],
)
def test_impossible_argument_is_named(arguments):
    (name,) = arguments
    with pytest.raises(ValueError, match=f"{name}="):
        RandomResizedCrop(**{"size": 224, **arguments})


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 300))
@settings(max_examples=60)
def test_drafts_are_never_smaller_than_the_result(height, width, size):
    exact, draft = RandomResizedCrop(size), RandomResizedCrop(size, draft=True)
    for drawn in exact.draw(0, 0, np.arange(10)):
        whole, cut = exact.cut(height, width, drawn), draft.cut(height, width, drawn)
        if cut.reduction == 1:
            assert cut == whole
            assert min(cut.height, cut.width) < 2 * size
        else:
            assert min(cut.height, cut.width) >= cut.reduction * size
            moved = np.array(whole[:4]) - cut[:4]
            assert 0 <= moved.min() <= moved.max() < cut.reduction
