"""Map-style datasets of the same samples in three forms: JPEG files, a zip of them, a zip of raw pixels."""

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch.utils.data import Dataset

from course_utils.data.image_files import decode_rgb
from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackError, PackInfo, RawLayout
from course_utils.data.pack_access import (
    ZIP_DAMAGE,
    layout_to_read,
    open_indexed_pack,
    open_pack,
    repeated_names,
    require_images,
    require_labels,
)

Transform = Callable[[torch.Tensor], torch.Tensor]
Sample = tuple[torch.Tensor, int]


def decode_image(source: str | Path | io.BytesIO, name: str) -> torch.Tensor:
    """Decode an image file into a uint8 RGB tensor (3, H, W), with the same pixels as Pillow's.

    Raises:
        PackError: The image cannot be decoded or is damaged, even if Pillow alone would return a picture; the
            message contains `name`.
    """
    try:
        return torch.from_numpy(decode_rgb(source)).permute(2, 0, 1)
    except Exception as error:  # Pillow raises nearly anything for a damaged file
        raise PackError(f"{name} cannot be decoded as an image: {error}") from error


class JpegDataset(Dataset[Sample]):
    """Images as single files, as in an unpacked archive.

    A damaged structure of a file is an error. But JPEG has no checksum: seven of ten flipped bits give other
    pixels without an error. `VerifiedJpegDataset` notices them in a set that has a manifest.

    Args:
        path: Folder with ``*.JPEG`` files and `validation_labels_10k.txt`: one integer per line, in
            the sorted order of the file names.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).

    Raises:
        FileNotFoundError: The folder or its labels are missing.
        PackError: There are no images, a label is not a whole number, or the numbers of images and labels
            differ; reading a sample raises it for a damaged image.
    """

    def __init__(self, path: Path | str, transform: Transform | None = None) -> None:
        self.path = Path(path)
        self.transform = transform
        with os.scandir(self.path) as entries:
            self.names = sorted(e.name for e in entries if _is_jpeg(e))
        self.labels = _labels(self.path / LABELS_NAME)
        if not self.names or len(self.names) != len(self.labels):
            raise PackError(
                f"{self.path}: {len(self.names)} images and {len(self.labels)} labels in {LABELS_NAME}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        path = os.path.join(self.path, self.names[index])  # a Path per sample costs 5 µs
        image = decode_image(path, path)
        return (self.transform(image) if self.transform else image), self.labels[index]


def _is_jpeg(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry of a folder is a JPEG file by its name; reading a pipe would never end."""
    return entry.name.lower().endswith((".jpeg", ".jpg")) and entry.is_file()


def _labels(path: Path) -> list[int]:
    try:
        return [int(line) for line in path.read_text().split()]
    except ValueError as error:  # includes text that is not UTF-8
        raise PackError(f"{path}: {error}; it should hold one whole number per line") from error


class _Member(NamedTuple):
    name: str
    label: int
    pack: zipfile.ZipFile
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
        FileNotFoundError: A file is missing.
        PackError: A file is not a zip, is empty, has a member without a label, states another layout than
            `layout`, or has a name of another file; reading a sample raises it for a member that is not an
            image or fails its checksum.
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
        raw_layout = None if self.load_encoded else _raw_layout(path, info, layout)
        return [_Member(name, info.labels[name], pack, raw_layout) for name in names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        name, pack = self.names[index], self._packs[index]
        layout, where = self._layouts[index], f"{pack.filename}: {name}"
        try:
            data = pack.read(name)
        except (*ZIP_DAMAGE, OSError) as error:
            raise PackError(f"{where}: {error}") from error
        image = _image(layout, data, where)
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
        PackError: A member has no label, or raw members have no layout; reading a sample raises it for a
            member that is not an image or fails its checksum.
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
        self._layout = None if load_encoded else _raw_layout(path, info, layout)
        self._members = [i for i in range(len(self._index)) if self._index.name(i) != INFO_NAME]
        self.names = [self._index.name(i) for i in self._members]
        require_labels(path, self.names, info)
        require_images([path], len(self.names), ())
        self.labels = [info.labels[name] for name in self.names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        where = f"{self.path}: {self.names[index]}"
        try:
            data = bytes(self._index.read(self._members[index]))
        except zipfile.BadZipFile as error:
            raise PackError(f"{where}: {error}") from error
        image = _image(self._layout, data, where)
        return (self.transform(image) if self.transform else image), self.labels[index]


def _raw_layout(path: Path | str, info: PackInfo, requested: RawLayout | None) -> RawLayout:
    layout = layout_to_read(path, info, requested)
    if layout is None:
        raise PackError(
            f"{path} does not state the layout of its raw pixels; pass it, for example "
            f'layout=RawLayout("HWC", (256, 256, 3)), or read JPEG members with load_encoded=True'
        )
    return layout


def _image(layout: RawLayout | None, data: bytes, where: str) -> torch.Tensor:
    if layout is None:
        return decode_image(io.BytesIO(data), where)
    try:
        return layout.image(data)
    except PackError as error:
        raise PackError(f"{where}: {error}; are the members JPEG files (load_encoded=True)?") from error
