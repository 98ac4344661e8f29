"""Measure a GPU as lesson 03 does: copies, their overlap with kernels, training steps, decoding.

`transfers` and `overlap` take the functions of `torch.cuda` and a clock: tests pass a scripted device.
"""

import io
import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch.utils.data import Subset

from course_utils.data import JpegDataset, transform
from course_utils.pipeline import measured_steps, record_step, tuning_steps, warm_up_steps
from course_utils.record.schema import BATCH
from course_utils.system import usable_cores
from course_utils.training import SimpleCNN, training_step

COPIES = 16  # the first does not count
BATCHES = 8  # copied while kernels run
MATRIX = 4096  # rows of the matrices that a kernel multiplies: some milliseconds
SIZE, BATCH_SIZE = 128, 32  # of the training steps, as in the lesson
Clock = Callable[[], float]
Decoder = Callable[[list[bytes]], object]


def measures(cuda: Any, device: str, folder: Path) -> dict[str, Callable[[int], dict[str, float]]]:  # noqa: ANN401
    """Return what a GPU alone can measure: by the name of a part, a function of the number of a round.

    Args:
        cuda: Has the functions of `torch.cuda`.
        device: The GPU.
        folder: Of the JPEG files.
    """
    host = torch.zeros(BATCH, dtype=torch.uint8)
    pinned = [host.pin_memory() for _ in range(BATCHES)]
    factor, product = torch.zeros(2, MATRIX, MATRIX, device=device)

    def kernel(batch: torch.Tensor) -> None:
        torch.matmul(factor, factor, out=product)
        batch.sum()

    return {
        "transfers": lambda number: transfers(cuda, host, time.perf_counter, device),
        "overlap": lambda number: overlap(cuda, pinned, kernel, time.perf_counter, device),
        "steps": lambda number: steps(folder, device),
    }


def transfers(
    cuda: Any,  # noqa: ANN401 - real or scripted
    host: Any,  # noqa: ANN401
    clock: Clock,
    device: str = "cuda",
) -> dict[str, float]:
    """Return the milliseconds until a copy returns and until it is done: the medians of some copies.

    Args:
        cuda: Has the functions of `torch.cuda`.
        host: A batch in pageable memory.
        clock: Returns seconds.
        device: The GPU.
    """
    values = {}
    for memory, source in {"pageable": host, "pinned": host.pin_memory()}.items():
        for non_blocking in (False, True):
            rows = [
                _copy(cuda, partial(source.to, device, non_blocking=non_blocking), clock)
                for _ in range(COPIES)
            ][1:]
            for name, seconds in zip(("returned", "done"), zip(*rows, strict=True), strict=True):
                values[f"{memory}, {non_blocking=}, {name}"] = 1e3 * statistics.median(seconds)
    return values


def _copy(cuda: Any, copy: Callable[[], object], clock: Clock) -> tuple[float, float]:  # noqa: ANN401
    cuda.synchronize()
    start = clock()
    copied = copy()
    returned = clock()
    cuda.synchronize()
    del copied
    return returned - start, clock() - start


def overlap(
    cuda: Any,  # noqa: ANN401 - real or scripted
    pinned: Sequence[Any],
    kernel: Callable[[Any], object],
    clock: Clock,
    device: str = "cuda",
) -> dict[str, float]:
    """Return the milliseconds of a batch: copied, computed, and both in one stream and in two.

    Args:
        cuda: Has the functions of `torch.cuda`.
        pinned: Batches in pinned memory.
        kernel: Queues the work on a batch that was copied.
        clock: Returns seconds.
        device: The GPU.
    """
    main, side = cuda.current_stream(), cuda.Stream()
    ready = pinned[0].to(device, non_blocking=True)

    def copy(source: Any, stream: Any) -> Any:  # noqa: ANN401
        with cuda.stream(stream):
            return source.to(device, non_blocking=True)

    def both(source: Any, stream: Any) -> None:  # noqa: ANN401
        batch = copy(source, stream)
        if stream is side:
            main.wait_stream(side)
            batch.record_stream(main)
        kernel(batch)

    ways: dict[str, Callable[[Any], object]] = {
        "copies alone": lambda source: copy(source, main),
        "kernels alone": lambda source: kernel(ready),
        "one stream": lambda source: both(source, main),
        "two streams": lambda source: both(source, side),
    }
    return {name: _of_a_batch(cuda, way, pinned, clock) for name, way in ways.items()}


def _of_a_batch(cuda: Any, way: Callable[[Any], object], pinned: Sequence[Any], clock: Clock) -> float:  # noqa: ANN401
    cuda.synchronize()
    start = clock()
    for source in pinned:
        way(source)
    cuda.synchronize()
    return 1e3 * (clock() - start) / len(pinned)


def steps(folder: Path, device: str) -> dict[str, float]:
    """Return the milliseconds of a training step after each change of lesson 03, its wrapper left out.

    Args:
        folder: Of the JPEG files.
        device: Trains a `SimpleCNN`.
    """
    workers = min(max(usable_cores() - 1, 1), 8)
    skip = warm_up_steps(workers)
    batches = skip + measured_steps(workers)
    files = JpegDataset(folder, transform(SIZE))
    images = Subset(files, [number % len(files) for number in range(batches * BATCH_SIZE)])
    train = training_step(SimpleCNN(num_classes=1000, width=8).to(device))
    ways = [way for way in tuning_steps(workers, device != "cpu") if not way.pipeline.device_prefetch]
    runs = {way.name: record_step(way, images, train, device, BATCH_SIZE, batches) for way in ways}
    return {name: 1e3 * run.step_seconds(skip) for name, run in runs.items()}


def decoders(device: str) -> dict[str, Decoder]:
    """Return the ways to decode a list of JPEG files: on one core, and on a GPU if `device` is one."""
    ways: dict[str, Decoder] = {
        "Pillow": lambda files: [Image.open(io.BytesIO(file)).convert("RGB").load() for file in files],
        "TorchCodec": partial(_torchcodec, device="cpu"),
    }
    if device != "cpu":
        ways["TorchCodec, GPU (nvJPEG)"] = partial(_torchcodec, device=device)
        ways["torchvision, GPU (nvJPEG)"] = partial(_torchvision, device=device)
    return ways


def _torchcodec(files: list[bytes], device: str) -> object:
    from torchcodec.decoders import decode_jpeg  # type: ignore[attr-defined]  # its __init__ lists no names

    return decode_jpeg(files, device=device)


def _torchvision(files: list[bytes], device: str) -> object:
    from torchvision.io import ImageReadMode, decode_jpeg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is deprecated
        tensors = [torch.frombuffer(bytearray(file), dtype=torch.uint8) for file in files]
        return decode_jpeg(tensors, ImageReadMode.RGB, device)


def usable(ways: Mapping[str, Decoder], files: list[bytes]) -> tuple[dict[str, Decoder], dict[str, str]]:
    """Return the decoders that work here, and why the others do not."""
    work, broken = {}, {}
    for name, decode in ways.items():
        try:
            decode(files[:1])
            work[name] = decode
        except Exception as error:  # a library that is absent, or was built without a GPU
            broken[name] = f"{type(error).__name__}: {error}".splitlines()[0][:120]
    return work, broken


def decoding(
    ways: Mapping[str, Decoder], files: list[bytes], clock: Clock, wait: Callable[[], object]
) -> dict[str, float]:
    """Return the images per second of each decoder.

    Args:
        ways: Decoders by name.
        files: The bytes of JPEG files, decoded in one call.
        clock: Returns seconds.
        wait: Returns when the device is done.
    """
    values = {}
    for name, decode in ways.items():
        wait()
        start = clock()
        decode(files)
        wait()
        values[name] = len(files) / (clock() - start)
    return values
