"""The benchmark's child process: `run_task(spec)`, or `python -m tests.bench.loading.child SPEC`.

A SPEC is a dict, in JSON on the command line: what to "do" with which "peer", and the file for the "result".
"""

import gc
import json
import multiprocessing
import os
import re
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torchvision  # noqa: F401 - as a training script does, so that no loader's time includes it

from course_utils.storage import page_cache
from tests.bench.delayed.mount import trust_page_cache
from tests.bench.loading.crop_parameters import compare
from tests.bench.loading.peer import MEAN, STD, Batch, Peer, decode_with_pillow, peers


def memory(pid: int) -> float:
    """Return the proportional set size in MiB of a process and its descendants; NaN without /proc."""
    here = Path(f"/proc/{pid}")
    try:
        own = int(re.search(r"^Pss: +(\d+)", (here / "smaps_rollup").read_text(), re.MULTILINE)[1]) / 1024
        children = [
            child for task in (here / "task").iterdir() for child in (task / "children").read_text().split()
        ]
    except OSError:
        return float("nan")
    return own + sum(memory(int(child)) for child in children)


def write(spec: dict) -> dict[str, dict[str, str]]:
    """Write the images in the format of each loader; return its folder, or the error."""
    images = [path.read_bytes() for path in sorted(Path(spec["originals"]).iterdir())]
    result, written = {}, {}
    for name in spec["peers"]:
        writer = peers()[name].write
        if writer not in written:
            folder = Path(spec["folder"]) / f"format{len(written)}"
            folder.mkdir()
            try:
                writer(images, folder)
                written[writer] = {"folder": str(folder)}
            except Exception as error:  # a missing or broken library may raise anything: it is reported
                written[writer] = {"error": f"{type(error).__name__}: {error}"}
        result[name] = written[writer]
    return result


def measure(peer: Peer, spec: dict) -> dict[str, float]:
    """Time the first batch, the first epoch, and later epochs with a warm and with a cold page cache.

    The first epoch finds a cold cache too, but also starts processes and touches new memory, which FFCV does
    while it compiles. It counts as the cold one only where a loader keeps the files mapped.
    """
    gc.collect()  # what importing torch left would be collected in some loader's first epoch: 0.1 s
    folder, before = Path(spec["folder"]), memory(os.getpid())
    files = [path for path in folder.rglob("*") if path.is_file()]
    resident = page_cache.evict(files).fraction
    start = time.perf_counter()
    batches = peer.batches(folder, spec["cores"], spec["batch_size"])
    opened, first, images = time.perf_counter(), None, 0
    for batch, _ in batches:
        first = first or time.perf_counter()
        images += len(batch)
    cold = images / (time.perf_counter() - opened)
    used, warm = memory(os.getpid()) - before, [epoch_speed(batches) for _ in range(spec["epochs"])]
    compile_s = getattr(batches, "compile_s", 0.0)
    measured = {"first_s": first - start - compile_s, "compile_s": compile_s, "first_epoch": cold}
    later = [] if peer.limit else [cold_epoch(batches, files) for _ in range(spec["epochs"])]
    if later and all(again.resident == resident for again in later):
        cold = float(np.median([again.speed for again in later]))
    measured |= {"cold": cold, "warm": float(np.median(warm)), "memory_mib": used, "resident": resident}
    if not spec["verify"] or peer.limit:
        return measured
    return measured | (seen(batches, spec) if "crops" in peer.work else verify(batches, peer, spec))


class ColdEpoch(NamedTuple):
    """Images per second of an epoch, and the share of the files that could not be evicted before it."""

    speed: float
    resident: float | None


def cold_epoch(batches: Iterable[Batch], files: list[Path]) -> ColdEpoch:
    """Evict the files, which a loader unmaps if it can, and time an epoch."""
    getattr(batches, "unmap", lambda: None)()
    resident = page_cache.evict(files).fraction
    return ColdEpoch(epoch_speed(batches), resident)


def seen(batches: Iterable[Batch], spec: dict) -> dict[str, object]:
    """Return dtype and shape of the images, and whether each image came exactly once and all had these."""
    labels_seen, kinds = [], set()
    for images, labels in batches:
        kinds.add((str(images.dtype), tuple(images.shape[1:])))
        labels_seen += labels.tolist()
    (dtype, shape), *others = kinds
    complete = sorted(labels_seen) == list(range(len(list(Path(spec["originals"]).iterdir()))))
    return {"dtype": dtype, "shape": shape, "complete": complete and not others}


def prove(peer: Peer, spec: dict) -> dict[str, float]:
    """Compare the crops of a loader with torchvision's, see `crop_parameters`."""
    return compare(peer.batches(Path(spec["folder"]), spec["cores"], spec["batch_size"]))


def epoch_speed(batches: Iterable[Batch]) -> float:
    """Return the images per second of one epoch."""
    start, images = time.perf_counter(), 0
    for batch, _ in batches:
        images += len(batch)
    return images / (time.perf_counter() - start)


def verify(batches: Iterable[Batch], peer: Peer, spec: dict) -> dict[str, object]:
    """Compare every image with the output of another decoder for the same bytes and settings.

    Returns:
        The largest difference in levels of 0-255, dtype and shape of the images, and whether each image came
        exactly once and all had that dtype and shape.
    """
    originals = sorted(Path(spec["originals"]).iterdir())
    labels_seen, largest, kinds = [], 0.0, set()
    for images, labels in batches:
        kinds.add((str(images.dtype), tuple(images.shape[1:])))
        for image, label in zip(images, labels.tolist(), strict=True):
            expected = reference(originals[label].read_bytes(), peer.fast_dct)
            largest = max(largest, difference(image, expected.float()))
            labels_seen.append(label)
    complete = sorted(labels_seen) == list(range(len(originals)))
    (dtype, shape), *others = kinds
    return {"max_difference": largest, "dtype": dtype, "shape": shape, "complete": complete and not others}


def reference(data: bytes, fast_dct: bool) -> torch.Tensor:
    """Decode with Pillow, which has the exact DCT only, or with simplejpeg, to uint8 (3, H, W)."""
    if not fast_dct:
        return decode_with_pillow(data)
    from simplejpeg import decode_jpeg

    return torch.from_numpy(decode_jpeg(data, fastdct=True)).permute(2, 0, 1)


def difference(image: torch.Tensor, expected: torch.Tensor) -> float:
    """Return the largest difference in levels of 0-255; float images may be flipped."""
    if image.dtype == torch.uint8:
        return (image - expected).abs().max().item()
    scale, shift = (torch.tensor(values)[:, None, None] * 255 for values in (STD, MEAN))
    levels = image * scale + shift
    return min((levels - expected).abs().max().item(), (levels.flip(2) - expected).abs().max().item())


def run_task(spec: dict) -> None:
    """Run the task of a SPEC; write its result, or {"error": message}, as JSON to the file `result`."""
    with Path(spec["result"]).with_suffix(".log").open("w") as log:
        os.dup2(log.fileno(), 1)  # keeps the libraries' own output out of the table
        os.dup2(log.fileno(), 2)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: spec["cores"]])
    torch.set_num_threads(1)  # leaves the cores to the loaders' own threads and processes
    if sys.platform == "linux":
        multiprocessing.set_start_method("fork", force=True)  # not the parent's forkserver
    warnings.simplefilter("ignore")
    if spec.get("delayed"):
        trust_page_cache()
    try:
        tasks = {"measure": measure, "prove": prove}
        result = write(spec) if spec["do"] == "write" else tasks[spec["do"]](peers()[spec["peer"]], spec)
    except Exception as error:  # a missing or broken library may raise anything: it is reported
        result = {"error": f"{type(error).__name__}: {error}"}
    Path(spec["result"]).write_text(json.dumps(result))


if __name__ == "__main__":
    run_task(json.loads(sys.argv[1]))
