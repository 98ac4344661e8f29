"""Read the archives of one packed form of an existing set, and note what is odd about them."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from course_utils.data import INFO_NAME, PackError, RawLayout, RegularZipFile, open_pack
from data_setup.format import SetupError

MAX_MEMBER = 1 << 30  # bytes; no image takes so many


def archives(folder: Path) -> list[Path]:
    """Return the archives of a packed form, sorted; hidden files, such as .DS_Store, are none."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


class PackedForm:
    """All archives in a folder, as one collection of members.

    Args:
        folder: Contains `part0.zip`, and more archives if there are more shards.

    Raises:
        SetupError: One is not a zip, or has no valid `dataset.json`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.oddities: list[str] = []
        self._labels: dict[str, int] = {}
        self._packs: dict[str, RegularZipFile] = {}
        self._duplicates: list[str] = []
        self._layouts: list[RawLayout | None] = []
        self._open: list[RegularZipFile] = []
        self._without_member: list[str] = []  # labels
        paths = archives(folder)
        if not paths:
            raise SetupError(f"{folder} is empty: it should contain part0.zip")
        try:
            for path in paths:
                self._add(path)
        except (PackError, OSError) as error:
            self.close()
            raise SetupError(f"{path}: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the archives."""
        for pack in self._open:
            pack.close()

    def _add(self, path: Path) -> None:
        pack, info = open_pack(path)
        self._open.append(pack)
        self._layouts.append(info.layout)
        members = [member for member in pack.infolist() if member.filename != INFO_NAME]
        names = [member.filename for member in members]
        self._duplicates += [name for name in names if name in self._packs]
        self._packs |= dict.fromkeys(names, pack)
        self._labels |= info.labels
        self._without_member += sorted(info.labels.keys() - set(names))
        compressed = sum(member.compress_type != zipfile.ZIP_STORED for member in members)
        if compressed:
            self.oddities.append(f"{self._relative(path)}: {compressed:,} members are compressed, not stored")

    def _relative(self, path: Path) -> str:
        return f"{self.folder.name}/{path.name}"

    @property
    def undeclared(self) -> list[Path]:
        """The archives that do not declare a layout."""
        return [
            Path(str(pack.filename))
            for pack, layout in zip(self._open, self._layouts, strict=True)
            if layout is None
        ]

    @property
    def declared_layouts(self) -> list[RawLayout]:
        """The different layouts that the archives declare."""
        return list({layout for layout in self._layouts if layout})

    def differences(self, labels: dict[str, int]) -> Iterator[str]:
        """Compare names and labels with those of the JPEG files.

        Yields:
            A sentence per difference.
        """
        form = self.folder.name
        for name in self._duplicates:
            yield f"{form}/ contains {name} twice"
        for name in self._without_member:
            yield f"{form}/ has a label for {name}, but not that member in the same archive"
        for name in sorted(labels.keys() - self._packs.keys()):
            yield f"{form}/ has no member {name}"
        for name in sorted(self._packs.keys() - labels.keys()):
            yield f"{form}/ has a member {name} without a JPEG file"
        for name in sorted(labels.keys() & self._packs.keys()):
            if self._labels.get(name) != labels[name]:
                packed = self._labels.get(name, "missing")
                yield f"the label of {name} is {packed} in {form}/ and {labels[name]} in the text file"

    def read(self, name: str) -> bytes:
        """Read a member.

        Raises:
            PackError: It is damaged.
            OSError: The disk fails.
        """
        pack = self._packs[name]
        if pack.getinfo(name).file_size > MAX_MEMBER:
            raise PackError(f"{pack.filename}: {name} claims to have more than {MAX_MEMBER:,} bytes")
        return pack.read_sample(name)
