"""The course's `FastLoader`, over a pack of JPEG files or of pixels."""

import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tests.bench.loading.peer import Batch, Peer


def write_pack(path: Path, members: list[bytes], **layout: object) -> None:
    """Write a pack whose labels are the indices of the images."""
    names = [f"img{i:08d}.JPEG" for i in range(len(members))]
    with zipfile.ZipFile(path, "w") as zipped:
        for name, data in zip(names, members, strict=True):
            zipped.writestr(name, data)
        zipped.writestr("dataset.json", json.dumps({"labels": {n: i for i, n in enumerate(names)}} | layout))


def write(images: list[bytes], folder: Path) -> None:
    write_pack(folder / "part0.zip", images)


def write_raw(images: list[bytes], folder: Path) -> None:
    from simplejpeg import decode_jpeg

    pixels = [decode_jpeg(data) for data in images]
    shape = list(np.shape(pixels[0]))
    write_pack(folder / "part0.zip", [p.tobytes() for p in pixels], layout="HWC", dtype="uint8", shape=shape)


def batches(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from course_utils.loading import FastLoader

    return FastLoader(folder / "part0.zip", batch_size, threads=cores)


def batches_float(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    from course_utils.loading import FastLoader, FlipAndNormalize

    return FastLoader(folder / "part0.zip", batch_size, threads=cores, transform=FlipAndNormalize())


PEERS = {
    "FastLoader, JPEG": Peer("simplejpeg", write, batches, work=("images", "delayed")),
    "FastLoader, raw": Peer("pixels", write_raw, batches),
    "FastLoader, JPEG, float": Peer("simplejpeg", write, batches_float, output="float32"),
}
