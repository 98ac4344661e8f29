"""Map-style datasets of the same samples in three forms: JPEG files, a zip of them, a zip of raw pixels."""

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from PIL import Image
from torch.utils.data import Dataset
from torchvision.transforms.v2.functional import pil_to_tensor

from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackError, PackInfo, RawLayout, open_pack
from course_utils.data.zip_index import ZipIndex

Transform = Callable[[torch.Tensor], torch.Tensor]
Sample = tuple[torch.Tensor, int]


def decode_image(source: str | Path | io.BytesIO, name: str) -> torch.Tensor:
    """Decode an image file with Pillow into a uint8 RGB tensor (3, H, W).

    Raises:
        PackError: The image cannot be decoded; the message contains `name`.
    """
    try:
        with Image.open(source) as image:
            pixels: torch.Tensor = pil_to_tensor(image.convert("RGB"))
            return pixels
    except OSError as error:
        raise PackError(f"{name} cannot be decoded as an image: {error}") from error


class JpegDataset(Dataset[Sample]):
    """Images as single files, as in an unpacked archive.

    Args:
        path: Folder with ``*.JPEG`` files and `validation_labels_10k.txt`: one integer per line, in
            the sorted order of the file names.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).

    Raises:
        FileNotFoundError: The folder or its labels are missing.
        PackError: There are no images, or the numbers of images and labels differ.
    """

    def __init__(self, path: Path | str, transform: Transform | None = None) -> None:
        self.path = Path(path)
        self.transform = transform
        with os.scandir(self.path) as entries:
            self.names = sorted(e.name for e in entries if e.name.lower().endswith((".jpeg", ".jpg")))
        self.labels = [int(line) for line in (self.path / LABELS_NAME).read_text().split()]
        if not self.names or len(self.names) != len(self.labels):
            raise PackError(
                f"{self.path}: {len(self.names)} images and {len(self.labels)} labels in {LABELS_NAME}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        path = os.path.join(self.path, self.names[index])  # noqa: PTH118 - a Path per sample costs 5 µs
        image = decode_image(path, path)
        return (self.transform(image) if self.transform else image), self.labels[index]


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
        PackError: A file is not a zip, is empty, has a member without a label, or states another layout
            than `layout`; reading a sample raises it for a member that is not an image or fails its checksum.
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
        if not members:
            raise PackError(f"{', '.join(map(str, self.paths))}: no images inside")
        members.sort(key=lambda member: member.name)
        self.names = [member.name for member in members]
        self.labels = [member.label for member in members]
        self._packs = [member.pack for member in members]
        self._layouts = [member.layout for member in members]

    def _open(self, path: Path | str, layout: RawLayout | None) -> list[_Member]:
        pack, info = open_pack(path)
        names = [n for n in pack.namelist() if n != INFO_NAME and not n.endswith("/")]
        _require_labels(path, names, info)
        raw_layout = None if self.load_encoded else _raw_layout(path, info, layout)
        return [_Member(name, info.labels[name], pack, raw_layout) for name in names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        name, pack = self.names[index], self._packs[index]
        layout, where = self._layouts[index], f"{pack.filename}: {name}"
        try:
            data = pack.read(name)
        except zipfile.BadZipFile as error:
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
        self._index = ZipIndex(path)
        info = PackInfo.from_json(bytes(self._index.read(self._index.find(INFO_NAME))))
        self._layout = None if load_encoded else _raw_layout(path, info, layout)
        self._members = [i for i in range(len(self._index)) if self._index.name(i) != INFO_NAME]
        self.names = [self._index.name(i) for i in self._members]
        _require_labels(path, self.names, info)
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
    layout = info.layout or requested
    if layout is None:
        raise PackError(
            f"{path} does not state the layout of its raw pixels; pass it, for example "
            f'layout=RawLayout("HWC", (256, 256, 3)), or read JPEG members with load_encoded=True'
        )
    if requested and requested != layout:
        raise PackError(f"{path} has the layout {layout}, but {requested} was requested")
    return layout


def _require_labels(path: Path | str, names: Sequence[str], info: PackInfo) -> None:
    unlabelled = [name for name in names if name not in info.labels]
    if unlabelled:
        raise PackError(f"{path}: {len(unlabelled)} members have no label, the first is {unlabelled[0]}")


def _image(layout: RawLayout | None, data: bytes, where: str) -> torch.Tensor:
    if layout is None:
        return decode_image(io.BytesIO(data), where)
    try:
        return layout.image(data)
    except PackError as error:
        raise PackError(f"{where}: {error}; are the members JPEG files (load_encoded=True)?") from error
