"""Decode the images of one or more stored zips directly into arrays that the caller provides."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from course_utils.cropping import CutOf
from course_utils.data.pack import ChangedFileError, PackError, RawLayout
from course_utils.data.pack_access import require_images
from course_utils.data.shards import Shard, open_shard

INVALID = (ValueError, BadZipFile)  # what decoders raise for a member; errors of the disk name the file


class PackedImages:
    """Images and labels of one or more packs, sorted by name; any thread or process may read them.

    Args:
        path: A pack of JPEG or raw members, or a list of shards. A saved index beside a pack is used.
        verify: Compare each member with its checksum. Without it, a damaged pack gives wrong pixels without
            an error. So does a pack that is overwritten, but only until the next call of `places`, which
            compares size and times of the file and turns verification on when they change. `FastLoader` calls
            it for each batch, so wrong images can be in the batches in flight only.
        layout: Layout of raw members, for packs that do not state it; None there means JPEG members.

    Attributes:
        labels: int64 (images,).
        shape: Height, width, 3 of the first image that can be read.

    Raises:
        OSError: A pack is missing, or the disk fails, also when asked again.
        PackError: A pack is damaged, a member has no label, is compressed or encrypted or has the name of
            another one, no image can be read, or `layout` contradicts a pack.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        verify: bool = True,
        layout: RawLayout | None = None,
    ) -> None:
        self.paths = [path] if isinstance(path, str | Path) else list(path)
        self._shards = [open_shard(shard, layout, verify) for shard in self.paths]
        require_images(self.paths, sum(len(shard.names) for shard in self._shards), ())
        names = np.concatenate([shard.names for shard in self._shards])
        order = np.argsort(names, kind="stable")
        names = names[order]
        repeated = names[1:][names[1:] == names[:-1]]
        require_images(self.paths, len(names), (name.decode() for name in repeated))
        self.labels = np.concatenate([shard.labels for shard in self._shards])[order]
        self._member = np.concatenate([shard.members for shard in self._shards])[order]
        sizes = [len(shard.members) for shard in self._shards]
        self._shard = np.repeat(np.arange(len(self._shards)), sizes)[order]
        self.shape = self._first_shape()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def content(self) -> str:
        """A hash of all labels, sizes and checksums, in the order of the images."""
        measures = np.empty((len(self), 2), np.int64)
        for number, shard in enumerate(self._shards):
            mine = self._shard == number
            rows = shard.index.table[self._member[mine]]
            measures[mine] = np.stack([rows["size"], rows["crc"]], axis=1)
        return hashlib.sha256(self.labels.tobytes() + measures.tobytes()).hexdigest()[:16]

    def read_into(self, i: int, pixels: np.ndarray) -> None:
        """Decode image `i` into an array.

        Args:
            i: Position of the image, in the order of the names.
            pixels: Contiguous uint8 array (H, W, 3) to fill.

        Raises:
            TypeError: The array is of another type, not contiguous, or read-only.
            BrokenSampleError: The image is damaged, or no JPEG file.
            ChangedFileError: It is not what the index says, and the file has changed since it was opened.
            PackError: It has another shape. All three name file and member.
            OSError: The disk fails, also when asked again; it names the file.
        """
        _require_writeable(pixels)
        shard, member = self._place(i)
        try:
            shard.decoder.read_into(member, pixels)
        except INVALID as error:
            raise shard.error(member, error) from error

    def places(self, images: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """Yield where the bytes of some images lie: open file, offsets and sizes, pack by pack."""
        for number in set(self._shard[images].tolist()):
            self._shards[number].verify_if_changed()
            mine = self._member[images[self._shard[images] == number]]
            index = self._shards[number].index
            yield index.fileno(), index.table["offset"][mine], index.table["span"][mine]

    def read_cut_into(self, i: int, cut_of: CutOf, pixels: np.ndarray) -> None:
        """Decode a part of image `i` into an array, resized.

        Args:
            i: Position of the image, in the order of the names.
            cut_of: Called with the image's height and width; returns what to cut out.
            pixels: Contiguous uint8 array (H, W, 3) to fill.

        Raises:
            BrokenSampleError: The image is damaged, as far as the part needs it.
            TypeError: And other errors, as of `read_into`.
        """
        _require_writeable(pixels)
        shard, member = self._place(i)
        try:
            shard.decoder.read_cut_into(member, cut_of, pixels)
        except INVALID as error:
            raise shard.error(member, error) from error

    def _first_shape(self) -> tuple[int, ...]:
        """Return the shape of the first image that can be read."""
        first_error: PackError | None = None
        for i in range(len(self)):
            shard, member = self._place(i)
            try:
                return shard.decoder.shape(member)
            except ChangedFileError:
                raise
            except INVALID as error:
                first_error = first_error or shard.error(member, error)
        raise PackError(
            f"no image can be read as a JPEG file; the first error: {first_error}. If the members are raw "
            'pixels, pass their layout, for example layout=RawLayout("HWC", (256, 256, 3)).'
        )

    def _place(self, i: int) -> tuple[Shard, int]:
        return self._shards[self._shard[i]], self._member[i]


def _require_writeable(pixels: np.ndarray) -> None:
    """Refuse what a decoder would call a broken image, which a loader may skip."""
    if pixels.dtype != np.uint8 or not pixels.flags.c_contiguous or not pixels.flags.writeable:
        raise TypeError(
            f"the pixels go into a writeable, contiguous uint8 array (H, W, 3), not into {pixels.dtype} with "
            f"strides {pixels.strides}"
        )
