"""Clips from pictures: their frames, and what is said where none can be written."""

import sys
from pathlib import Path

import pytest
import torch

from course_utils.video import NoVideoError, pan, write_clip

PICTURES = [torch.full((3, 30, 40), shade, dtype=torch.uint8) for shade in (10, 200)]


def test_the_camera_moves_from_the_first_picture_to_the_last():
    frames = pan(PICTURES, 5, height=60, width=80)
    assert frames.shape == (5, 3, 60, 80)
    assert frames.dtype == torch.uint8
    assert set(frames[0].unique().tolist()) == {10}
    assert set(frames[2].unique().tolist()) == {10, 200}
    assert set(frames[-1].unique().tolist()) == {200}


def test_a_frame_wider_than_the_pictures_is_refused():
    with pytest.raises(ValueError, match="160 columns wide together, a frame 200"):
        pan(PICTURES, 5, height=60, width=200)


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "torchcodec.encoders", None)
    with pytest.raises(NoVideoError, match="TorchCodec cannot encode: "):
        write_clip(tmp_path / "clip.mp4", pan(PICTURES, 2, 60, 80), 1)
