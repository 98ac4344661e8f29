"""Map-style datasets of images in a stored zip: JPEG files, or their pixels."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile

import torch
from torch.utils.data import Dataset

from course_utils.data.jpeg_dataset import Sample, Transform, decode_image
from course_utils.data.pack import INFO_NAME, BrokenSampleError, PackError, RawLayout
from course_utils.data.pack_access import (
    open_indexed_pack,
    open_pack,
    raw_layout_to_read,
    repeated_names,
    require_images,
    require_labels,
)
from course_utils.data.zips.zip_file import RegularZipFile


class _Member(NamedTuple):
    name: str
    label: int
    pack: RegularZipFile
    layout: RawLayout | None  # None for a JPEG file


class ZIPDataset(Dataset[Sample]):
    """Images packed in one stored zip, or in several shards, read through one open handle per file.

    The constructor opens the handles, so forked workers share them: correct in one process only.

    Args:
        path: The zip, or a list of shards.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).
        load_encoded: True if the members are JPEG files; otherwise they are raw pixels.
        layout: Layout of raw members, for a pack that does not state it.

    Raises:
        OSError: A file is missing, or the disk fails; reading a sample raises it, too, and names the file.
        PackError: A file is not a zip, is empty, has other members than labels, states another layout than
            `layout`, or has a name of another file. Reading a sample raises `BrokenSampleError` for a member
            that is not an image or fails its checksum, and `ChangedFileError` if the file was changed.
    """

    def __init__(
        self,
        path: Path | str | Sequence[Path | str],
        transform: Transform | None = None,
        load_encoded: bool = False,
        layout: RawLayout | None = None,
    ) -> None:
        self.paths = [path] if isinstance(path, str | Path) else list(path)
        self.transform = transform
        self.load_encoded = load_encoded
        members = [member for shard in self.paths for member in self._open(shard, layout)]
        members.sort(key=lambda member: member.name)
        self.names = [member.name for member in members]
        require_images(self.paths, len(members), repeated_names(self.names))
        self.labels = [member.label for member in members]
        self._packs = [member.pack for member in members]
        self._layouts = [member.layout for member in members]

    def _open(self, path: Path | str, layout: RawLayout | None) -> list[_Member]:
        pack, info = open_pack(path)
        names = [n for n in pack.namelist() if n != INFO_NAME and not n.endswith("/")]
        require_labels(path, names, info)
        raw_layout = None if self.load_encoded else raw_layout_to_read(path, info, layout)
        return [_Member(name, info.labels[name], pack, raw_layout) for name in names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        name, pack = self.names[index], self._packs[index]
        image = _image(self._layouts[index], pack.read_sample(name), f"{pack.filename}: {name}")
        return (self.transform(image) if self.transform else image), self.labels[index]


class IndexedZIPDataset(Dataset[Sample]):
    """The samples of a `ZIPDataset` of one zip; each member is read with one `os.pread`.

    Safe for concurrent processes and threads: they share no file position and no buffer.

    Args:
        path: The stored zip.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).
        load_encoded: True if the members are JPEG files; otherwise they are raw pixels.
        layout: Layout of raw members, for a pack that does not state it.

    Raises:
        OSError: The file is missing, or the disk fails.
        PackError: It has other members than labels, or raw members have no layout. Reading a sample raises
            the errors of `ZIPDataset`; a copy that was pickled raises `ChangedFileError` for another file.
    """

    def __init__(
        self,
        path: Path | str,
        transform: Transform | None = None,
        load_encoded: bool = False,
        layout: RawLayout | None = None,
    ) -> None:
        self.path, self.transform = Path(path), transform
        self._index, info = open_indexed_pack(path)
        self._layout = None if load_encoded else raw_layout_to_read(path, info, layout)
        self._members = [i for i in range(len(self._index)) if self._index.name(i) != INFO_NAME]
        self.names = [self._index.name(i) for i in self._members]
        require_labels(path, self.names, info)
        require_images([path], len(self.names), ())
        self.labels = [info.labels[name] for name in self.names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        try:
            data = bytes(self._index.read(self._members[index]))
        except BadZipFile as error:
            raise BrokenSampleError(str(error)) from error
        image = _image(self._layout, data, f"{self.path}: {self.names[index]}")
        return (self.transform(image) if self.transform else image), self.labels[index]


def _image(layout: RawLayout | None, data: bytes, where: str) -> torch.Tensor:
    if layout is None:
        return decode_image(io.BytesIO(data), where)
    try:
        return layout.image(data)
    except PackError as error:
        raise PackError(f"{where}: {error}; are the members JPEG files (load_encoded=True)?") from error
