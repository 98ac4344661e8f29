"""What a worker process does: it makes a run of images and leaves them where the shard is put together."""

import hashlib
import io
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from PIL import Image

from data_setup.errors import UnreadableError
from data_setup.layout import QUALITY, RAW_BYTES, image_name
from data_setup.stored_zip import local_header, member_span

RAW_SPAN = member_span(image_name(0), RAW_BYTES)


class Rendered(NamedTuple):
    """An image of a source.

    Args:
        image: RGB, 256x256.
        label: What it shows.
        notes: What was odd about its file.
    """

    image: Image.Image
    label: int
    notes: tuple[str, ...] = ()


class Renderer(Protocol):
    """Makes the image of an item; is sent to the worker processes."""

    def render(self, item: object) -> Rendered:
        """Make the image.

        Raises:
            UnreadableError: The item is no image.
        """


@dataclass(frozen=True)
class Job:
    """A run of images of one shard.

    Args:
        slots: Their positions in the set.
        items: What the renderer makes each from.
        first: The position of the shard's first image.
        jpegs: The folder of the single files.
        raw: The raw archive; the place of each member follows from its position.
    """

    slots: Sequence[int]
    items: Sequence[object]
    first: int
    jpegs: Path
    raw: Path


class Packed(NamedTuple):
    """An image that is done, without its bytes: a message that fits into a pipe is never sent by halves.

    A worker that is killed while it sends half a message leaves its reader waiting for the rest.
    """

    name: str
    label: int
    size: int
    crc: int
    raw_crc: int
    sha256: str
    notes: tuple[str, ...]


class Broken(NamedTuple):
    """An item that is no image, and why."""

    slot: int
    reason: str


def make_chunk(renderer: Renderer, job: Job) -> list[Packed | Broken]:
    """Make the images of a job: write their JPEG files and raw members, return what the rest is made from."""
    handle = os.open(job.raw, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        return [
            _make_one(renderer, job, slot, item, handle)
            for slot, item in zip(job.slots, job.items, strict=True)
        ]
    finally:
        os.close(handle)


def _make_one(renderer: Renderer, job: Job, slot: int, item: object, raw_handle: int) -> Packed | Broken:
    try:
        picture, label, notes = renderer.render(item)
    except UnreadableError as error:
        return Broken(slot, str(error))
    name = image_name(slot)
    jpeg, pixels = encode(picture)
    _write_new(f"{job.jpegs}/{name}", jpeg)
    raw_crc = zlib.crc32(pixels)
    header = local_header(name, len(pixels), raw_crc)
    write_at(raw_handle, [header, pixels], (slot - job.first) * RAW_SPAN)
    sha256 = hashlib.sha256(jpeg).hexdigest()
    return Packed(name, label, len(jpeg), zlib.crc32(jpeg), raw_crc, sha256, notes)


def encode(picture: Image.Image) -> tuple[bytes, bytes]:
    """Compress a picture, and read it back as a reader will see it.

    Returns:
        The JPEG file, and the pixels that it decodes to: rows of RGB pixels, uint8.
    """
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=QUALITY)
    with Image.open(buffer) as decoded:
        return buffer.getvalue(), decoded.tobytes()


def _write_new(path: str, data: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    try:
        write_at(handle, [data], 0)
    finally:
        os.close(handle)


def write_at(handle: int, pieces: Sequence[bytes], offset: int) -> None:
    """Write all of the pieces, one after the other, at a place in a file.

    Raises:
        OSError: The system takes no more; on a full disk, ENOSPC.
    """
    written, whole = os.pwritev(handle, pieces, offset), sum(map(len, pieces))
    if written < whole:  # the system may take less at once
        write_at(handle, [b"".join(pieces)[written:]], offset + written)
