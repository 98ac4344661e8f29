"""Make a clip from pictures: a camera that moves along them, encoded with key frames at chosen distances."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch.nn.functional import interpolate


class NoVideoError(RuntimeError):
    """No video can be read or written here; the message says what is missing."""


def pan(images: Sequence[torch.Tensor], frames: int, height: int = 240, width: int = 320) -> torch.Tensor:
    """Return the frames of a camera that moves along pictures, which stand side by side.

    Args:
        images: Of dtype uint8 and any shape (3, height, width); they are resized to the clip's height.
        frames: How many.
        height: Rows of a frame.
        width: Columns of a frame.

    Returns:
        uint8, (frames, 3, height, width).
    """
    resized = [
        interpolate(image[None].float(), (height, max(round(image.shape[2] * height / image.shape[1]), 1)))[0]
        for image in images
    ]
    strip = torch.cat(resized, dim=2).to(torch.uint8)
    if strip.shape[2] < width:
        raise ValueError(f"the pictures are {strip.shape[2]} columns wide together, a frame {width}")
    places = torch.linspace(0, strip.shape[2] - width, frames).long().tolist()
    return torch.stack([strip[:, :, place : place + width] for place in places])


def write_clip(path: Path, frames: torch.Tensor, key_frame_every: int) -> None:
    """Encode a clip, with a key frame every so many frames, and none that refers to a later one.

    Args:
        path: Of an `.mp4` file.
        frames: uint8, (frames, 3, height, width).
        key_frame_every: Frames of a group of pictures.

    Raises:
        NoVideoError: TorchCodec finds no FFmpeg, or that has no encoder for the file.
    """
    try:
        from torchcodec.encoders import VideoEncoder  # type: ignore[attr-defined]

        options = {"g": str(key_frame_every), "bf": "0"}
        VideoEncoder(frames, frame_rate=24).to_file(path, extra_options=options)
    except (ImportError, OSError, RuntimeError) as error:
        raise NoVideoError(f"TorchCodec cannot encode: {str(error).strip().splitlines()[0]}") from error
