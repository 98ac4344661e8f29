"""A frame costs its group of pictures: from the key frame before it."""

from pathlib import Path

import pytest
import torch

from course_utils.video import RECORDED_SEEKS, NoVideoError, decoded_frames, measure_seeks, pan
from course_utils.video.seeks import key_frames

PICTURES = [torch.randint(0, 256, (3, 12, 16), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))]


@pytest.mark.parametrize(
    ("keys", "requested", "decoded"),
    [([0], [0], 1), ([0], [9], 10), ([0, 4, 8], [4, 7, 8, 11], 1 + 4 + 1 + 4), (range(12), [3, 3, 11], 3)],
)
def test_frames_are_decoded_from_the_key_frame_before(keys, requested, decoded):
    assert decoded_frames(list(keys), requested) == decoded


def test_clips_with_more_key_frames_are_larger_and_cost_less(tmp_path: Path):
    try:
        costs = measure_seeks(pan(PICTURES, 24, 96, 128), tmp_path, (1, 12), [0, 11, 23], rounds=1)
    except NoVideoError as error:
        pytest.skip(str(error))
    assert key_frames(tmp_path / "every_12.mp4") == [0, 12]
    assert [cost.decoded for cost in costs] == [1.0, (1 + 12 + 12) / 3]
    assert costs[0].size > costs[1].size > 0
    assert all(cost.ms > 0 and cost.in_order_ms > 0 for cost in costs)


def test_the_record_is_of_such_a_measurement():
    assert [cost.key_frame_every for cost in RECORDED_SEEKS] == [1, 12, 48]
    assert [cost.decoded for cost in RECORDED_SEEKS] == sorted(cost.decoded for cost in RECORDED_SEEKS)
