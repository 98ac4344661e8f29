import numpy as np
import pytest

from course_utils.cropping.philox import philox, uniforms

# From the known-answer tests of Random123: counters, key, result.
KNOWN = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counters", "key", "expected"), KNOWN)
def test_known_answers(counters, key, expected):
    found = philox(np.array(counters, np.uint64)[:, None], np.array(key, np.uint32))
    assert found[:, 0].tolist() == expected


def test_numbers_depend_on_the_sample_and_not_on_its_batch():
    samples = np.array([7, 0, 2**40, 3])
    whole = uniforms(1, 2, samples, 9)
    assert whole.shape == (4, 9)
    for row, sample in zip(whole, samples, strict=True):
        assert np.array_equal(uniforms(1, 2, np.array([sample]), 9)[0], row)
        assert np.array_equal(uniforms(1, 2, np.array([sample]), 2)[0], row[:2])


def test_all_numbers_differ_between_seeds_epochs_and_samples():
    drawn = [uniforms(seed, epoch, np.arange(500), 10) for seed in range(3) for epoch in range(3)]
    assert len(np.unique(drawn)) > 0.9999 * np.size(drawn)
    assert np.min(drawn) >= 0
    assert np.max(drawn) < 1
    assert abs(np.mean(drawn) - 0.5) < 0.005


def test_no_samples():
    assert uniforms(0, 0, np.array([], np.int64), 5).shape == (0, 5)
