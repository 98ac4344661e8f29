"""What a frame at random costs: those decoded from the key frame before it, and milliseconds on a core."""

import time
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import torch

from course_utils.video.clips import NoVideoError, write_clip


class SeekCost(NamedTuple):
    """What a requested frame of a clip costs, if none can be decoded from where the last one ended.

    Attributes:
        key_frame_every: Frames of a group of pictures.
        size: Bytes of the clip.
        decoded: Frames that are decoded for a requested one, mean.
        ms: Milliseconds on a core for a requested frame, median; others on the machine do not count.
        in_order_ms: The same for a frame of the clip, read from beginning to end.
    """

    key_frame_every: int
    size: int
    decoded: float
    ms: float
    in_order_ms: float


RECORDED_WITH = "FFmpeg 5.1.9, TorchCodec 0.17.0 and 2 cores of an AMD EPYC, on 2026-11-26"
RECORDED_SEEKS = (
    SeekCost(1, 621_407, 1.0, 1.08, 0.90),
    SeekCost(12, 244_550, 5.5, 3.00, 0.36),
    SeekCost(48, 139_841, 19.0, 5.48, 0.33),
)


def measure_seeks(
    frames: torch.Tensor, folder: Path, distances: Sequence[int], requested: Sequence[int], rounds: int = 3
) -> list[SeekCost]:
    """Encode a clip with key frames at several distances, and decode single frames of each.

    Args:
        frames: uint8, (frames, 3, height, width).
        folder: Where the clips are written.
        distances: Frames from a key frame to the next, of each clip.
        requested: Numbers of frames.
        rounds: How often each clip is read, in turns; of the rounds the fastest counts.

    Raises:
        NoVideoError: There is no FFmpeg, or no encoder.
    """
    paths = {distance: folder / f"every_{distance}.mp4" for distance in distances}
    for distance, path in paths.items():
        write_clip(path, frames, distance)
    times: dict[int, list[tuple[float, float]]] = {distance: [] for distance in distances}
    for _ in range(rounds):
        for distance, path in paths.items():
            times[distance].append(_time(path, requested))
    return [
        SeekCost(
            distance,
            path.stat().st_size,
            decoded_frames(key_frames(path), requested) / len(requested),
            1e3 * min(one for one, _ in times[distance]),
            1e3 * min(whole for _, whole in times[distance]),
        )
        for distance, path in paths.items()
    ]


def decoded_frames(keys: Sequence[int], requested: Sequence[int]) -> int:
    """Return how many frames are decoded if each requested one is decoded from the key frame before it.

    Args:
        keys: Numbers of the key frames, sorted; the first is 0.
        requested: Numbers of frames. No frame refers to a later one.
    """
    return sum(frame - keys[bisect_right(keys, frame) - 1] + 1 for frame in requested)


def key_frames(path: Path) -> list[int]:
    """Return the numbers of a clip's key frames."""
    decoder = _open(path)
    return [int(number) for number in decoder._get_key_frame_indices()]


def _open(path: Path) -> Any:  # noqa: ANN401 - of a package without types
    try:
        from torchcodec.decoders import VideoDecoder  # type: ignore[attr-defined]
    except (ImportError, OSError, RuntimeError) as error:
        raise NoVideoError(f"TorchCodec cannot decode: {str(error).strip().splitlines()[0]}") from error
    return VideoDecoder(path, num_ffmpeg_threads=1)  # which is the caller's


def _time(path: Path, requested: Sequence[int]) -> tuple[float, float]:
    """Seconds of a requested frame, and of one in order: medians, on a core; each way opens a decoder."""
    decoder = _open(path)
    backwards = sorted(requested, reverse=True)  # else a decoder may continue where it stands
    return _median(decoder, backwards), _median(_open(path), range(len(decoder)))


def _median(decoder: Any, numbers: Iterable[int]) -> float:  # noqa: ANN401 - of a package without types
    seconds = []
    for number in numbers:
        begin = time.thread_time()
        decoder[number]
        seconds.append(time.thread_time() - begin)
    return median(seconds)
