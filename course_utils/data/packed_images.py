"""The images of one or more stored zips, each of them decoded straight into memory that the caller gives."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from PIL import Image
from simplejpeg import decode_jpeg, decode_jpeg_header

from course_utils.data.pack import INFO_NAME, PackError, PackInfo, RawLayout
from course_utils.data.zip_index import ZipIndex


class PackedImages:
    """Images and labels in the order of their names; any thread or process may read.

    Args:
        path: A zip in the course's format, of JPEG or raw members, or a list of shards. An index saved as
            `<zip>.index.npy` is used.
        size: Height and width to resize to; None where all images have the same size.

    Attributes:
        labels: int64 (images,).
        shape: Height, width, 3.

    Raises:
        PackError: A zip has not one label for each member, or there is no image.
        ValueError: Members are compressed or encrypted.
    """

    def __init__(self, path: str | Path | Sequence[str | Path], size: tuple[int, int] | None = None) -> None:
        self.paths = [path] if isinstance(path, str | Path) else list(path)
        self._shards = [ZipIndex(shard, f"{shard}.index.npy") for shard in self.paths]
        self._layouts, columns = [], []
        for number, index in enumerate(self._shards):
            layout, *found = _columns(index)
            self._layouts.append(layout)
            columns.append((*found, np.full(len(found[0]), number)))
        names, *columns = map(np.concatenate, zip(*columns, strict=True))
        order = np.argsort(names, kind="stable")
        self.labels, self._member, self._shard = (column[order] for column in columns)
        self._resize = size is not None
        self.shape = (*size, 3) if size else self._first_shape()

    def __len__(self) -> int:
        return len(self.labels)

    def read_into(self, i: int, pixels: np.ndarray) -> None:
        """Fill `pixels`, uint8 (H, W, 3) and contiguous, with image `i`; a PackError names a broken one."""
        shard, member = self._shard[i], self._member[i]
        index, layout = self._shards[shard], self._layouts[shard]
        try:
            self._decode(index.read(member, check=False), layout, pixels)
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
        """Return the shape of the first image that is not broken."""
        for shard, member in zip(self._shard, self._member, strict=True):
            layout = self._layouts[shard]
            if layout:
                return tuple(layout.shape[layout.order.index(axis)] for axis in "HWC")
            with suppress(ValueError, BadZipFile):
                return (*decode_jpeg_header(self._shards[shard].read(member))[:2], 3)
        raise PackError(f"no image in {', '.join(map(str, self.paths))}")


def _columns(index: ZipIndex) -> tuple[RawLayout | None, np.ndarray, np.ndarray, np.ndarray]:
    """Return the layout, and the names, labels and positions of a shard's images."""
    try:
        description = index.find(INFO_NAME)
        info = PackInfo.from_json(bytes(index.read(description)))
        names = np.delete(index.table["name"], description)
        labels = np.fromiter((info.labels[name.decode()] for name in names), np.int64, len(names))
    except (KeyError, PackError) as error:
        raise PackError(f"{index.path}: no {INFO_NAME} with a label for each member ({error})") from error
    return info.layout, names, labels, np.delete(np.arange(len(index)), description)


def _decode_jpeg_into(data: memoryview, pixels: np.ndarray) -> None:
    try:
        found = decode_jpeg(data, buffer=pixels)
    except ValueError:
        _refuse_other_shape((*decode_jpeg_header(data)[:2], 3), pixels.shape)  # a bigger one does not fit in
        raise
    _refuse_other_shape(found.shape, pixels.shape)


def _refuse_other_shape(shape: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if shape != wanted:
        raise PackError(
            f"{shape[0]}x{shape[1]} pixels, and other images {wanted[0]}x{wanted[1]}: "
            "give a size, to which all are resized"
        )
