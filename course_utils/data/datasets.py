"""The same images in three forms, as map-style datasets that return the same samples."""

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from PIL import Image
from torch.utils.data import Dataset
from torchvision.transforms.v2.functional import pil_to_tensor

from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackError, PackInfo, RawLayout, open_pack

Transform = Callable[[torch.Tensor], torch.Tensor]
Sample = tuple[torch.Tensor, int]


def decode_image(source: str | Path | io.BytesIO, name: str) -> torch.Tensor:
    """Decode an image file with Pillow into a uint8 RGB tensor (3, H, W).

    Raises:
        PackError: It cannot be decoded; the message names it.
    """
    try:
        with Image.open(source) as image:
            return pil_to_tensor(image.convert("RGB"))
    except OSError as error:
        raise PackError(f"{name} cannot be decoded as an image: {error}") from error


class JpegDataset(Dataset[Sample]):
    """Images as single files, the way an archive is when it was unpacked.

    Args:
        path: Folder with ``*.JPEG`` files and `validation_labels_10k.txt`: one integer a line, in the sorted
            order of the file names.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).

    Raises:
        FileNotFoundError: The folder or its labels are missing.
        PackError: There are no images, or not one label for each.
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


class ZIPDataset(Dataset[Sample]):
    """Images packed in one stored zip, or in several shards, read through one open handle a file.

    The handle is opened here, so forked workers share it: right for one process only.

    Args:
        path: The zip, or a list of shards.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).
        load_encoded: The members are JPEG files; otherwise they are raw pixels.
        layout: How raw members are laid out, for a pack that does not say so itself.

    Raises:
        FileNotFoundError: A file is missing.
        PackError: A file is no zip, is empty, has a member without a label, or has another layout than was
            asked for; reading a sample raises it for a member that is no image or fails its checksum.
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
        members = []
        for shard in self.paths:
            members += self._open(shard, layout)
        if not members:
            raise PackError(f"{', '.join(map(str, self.paths))}: no images inside")
        members.sort(key=lambda member: member[0])
        self.names, self.labels, self._packs, self._layouts = map(list, zip(*members, strict=True))

    def _open(self, path: Path | str, layout: RawLayout | None) -> list[tuple]:
        pack, info = open_pack(path)
        names = [n for n in pack.namelist() if n != INFO_NAME and not n.endswith("/")]
        unlabelled = [name for name in names if name not in info.labels]
        if unlabelled:
            raise PackError(f"{path}: {len(unlabelled)} members have no label, the first is {unlabelled[0]}")
        found = None if self.load_encoded else _agreed_layout(path, info, layout)
        return [(name, info.labels[name], pack, found) for name in names]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        name, pack = self.names[index], self._packs[index]
        where = f"{pack.filename}: {name}"
        try:
            data = pack.read(name)
        except zipfile.BadZipFile as error:
            raise PackError(f"{where}: {error}") from error
        image = decode_image(io.BytesIO(data), where) if self.load_encoded else self._raw(data, index, where)
        return (self.transform(image) if self.transform else image), self.labels[index]

    def _raw(self, data: bytes, index: int, where: str) -> torch.Tensor:
        try:
            return self._layouts[index].image(data)
        except PackError as error:
            raise PackError(f"{where}: {error}; are the members JPEG files (load_encoded=True)?") from error


def _agreed_layout(path: Path | str, info: PackInfo, asked: RawLayout | None) -> RawLayout:
    stated = info.layout or asked
    if stated is None:
        raise PackError(
            f"{path} does not say how its raw pixels are laid out; give it, for example "
            f'layout=RawLayout("HWC", (256, 256, 3)), or read JPEG members with load_encoded=True'
        )
    if asked and asked != stated:
        raise PackError(f"{path} is laid out as {stated}, but {asked} was asked for")
    return stated
