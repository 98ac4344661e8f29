"""Decode the images of one or more stored zips directly into arrays that the caller provides."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
from PIL import Image
from simplejpeg import decode_jpeg, decode_jpeg_header

from course_utils.data.pack import INFO_NAME, PackError, PackInfo, RawLayout
from course_utils.data.zip_index import ZipIndex


class PackedImages:
    """Images and labels of one or more packs, sorted by name; any thread or process may read them.

    Args:
        path: A pack of JPEG or raw members, or a list of shards. An index saved as `<zip>.index.npy` is
            used.
        size: Height and width to resize to; None if all images have the same size.
        verify: Compare each member with its checksum. Without it, a damaged or overwritten pack gives wrong
            pixels or another image under the label, without an error.

    Attributes:
        labels: int64 (images,).
        shape: Height, width, 3.

    Raises:
        PackError: A member has no label, or there is no image.
        ValueError: Members are compressed or encrypted.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        size: tuple[int, int] | None = None,
        verify: bool = True,
    ) -> None:
        self.paths = [path] if isinstance(path, str | Path) else list(path)
        self._shards = [ZipIndex(shard, f"{shard}.index.npy") for shard in self.paths]
        images = [_images(index) for index in self._shards]
        self._layouts = [found.layout for found in images]
        order = np.argsort(np.concatenate([found.names for found in images]), kind="stable")
        self.labels = np.concatenate([found.labels for found in images])[order]
        self._member = np.concatenate([found.members for found in images])[order]
        sizes = [len(found.members) for found in images]
        self._shard = np.repeat(np.arange(len(images)), sizes)[order]
        self._resize, self._verify = size is not None, verify
        self.shape = (*size, 3) if size else self._first_shape()

    def __len__(self) -> int:
        return len(self.labels)

    def read_into(self, i: int, pixels: np.ndarray) -> None:
        """Decode image `i` into an array.

        Args:
            i: Position of the image, in the order of the names.
            pixels: Contiguous uint8 array (H, W, 3) to fill.

        Raises:
            PackError: The image is broken or has another shape; the message names file and member.
        """
        shard, member = self._shard[i], self._member[i]
        index, layout = self._shards[shard], self._layouts[shard]
        try:
            self._decode(index.read(member, check=self._verify), layout, pixels)
        except (ValueError, OSError, BadZipFile) as error:
            raise PackError(f"{index.path}: {index.name(member)}: {error}") from error

    def _decode(self, data: memoryview, layout: RawLayout | None, pixels: np.ndarray) -> None:
        if layout is None and not self._resize:
            _decode_jpeg_into(data, pixels)
            return
        if layout is None:
            found = decode_jpeg(data, min_height=pixels.shape[0], min_width=pixels.shape[1])
        else:
            found = np.frombuffer(data, np.uint8).reshape(layout.shape)
            found = found if layout.order == "HWC" else found.transpose(1, 2, 0)
        if self._resize and found.shape != pixels.shape:
            found = np.asarray(Image.fromarray(found).resize(pixels.shape[1::-1], Image.Resampling.BILINEAR))
        _refuse_other_shape(found.shape, pixels.shape)
        pixels[...] = found

    def _first_shape(self) -> tuple[int, int, int]:
        """Return the shape of the first image that can be read."""
        for shard, member in zip(self._shard, self._member, strict=True):
            if layout := self._layouts[shard]:
                height, width = (layout.shape[layout.order.index(axis)] for axis in "HW")
                return height, width, 3
            with suppress(ValueError, BadZipFile):
                height, width, *_ = decode_jpeg_header(self._shards[shard].read(member))
                return height, width, 3
        raise PackError(f"no image in {', '.join(map(str, self.paths))}")


class _Images(NamedTuple):
    layout: RawLayout | None
    names: np.ndarray
    labels: np.ndarray
    members: np.ndarray  # positions in the index


def _images(index: ZipIndex) -> _Images:
    try:
        description = index.find(INFO_NAME)
        info = PackInfo.from_json(bytes(index.read(description)))
        names = np.delete(index.table["name"], description)
        labels = np.fromiter((info.labels[name.decode()] for name in names), np.int64, len(names))
    except (KeyError, PackError) as error:
        raise PackError(f"{index.path}: no {INFO_NAME} with a label for each member ({error})") from error
    return _Images(info.layout, names, labels, np.delete(np.arange(len(index)), description))


def _decode_jpeg_into(data: memoryview, pixels: np.ndarray) -> None:
    try:
        found = decode_jpeg(data, buffer=pixels)
    except ValueError:
        _refuse_other_shape((*decode_jpeg_header(data)[:2], 3), pixels.shape)  # too large for the buffer
        raise
    _refuse_other_shape(found.shape, pixels.shape)


def _refuse_other_shape(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if shape != wanted:
        raise PackError(
            f"{shape[0]}x{shape[1]} pixels, but other images have {wanted[0]}x{wanted[1]}: "
            "give a size to resize all images to"
        )
