"""The archives of one packed form, read as what they are, oddities included."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from course_utils.data import INFO_NAME, PackError, RawLayout, open_pack
from data_setup.format import SetupError


class Packs:
    """All archives in a folder, as one collection of members.

    Args:
        folder: It holds `part0.zip`, and more if there are more shards.

    Raises:
        SetupError: One is no zip, or has no usable `dataset.json`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.oddities: list[str] = []
        self._labels: dict[str, int] = {}
        self._packs: dict[str, zipfile.ZipFile] = {}
        self._duplicates: list[str] = []
        self._layouts: list[RawLayout | None] = []
        self._open: list[zipfile.ZipFile] = []
        paths = sorted(folder.iterdir())
        if not paths:
            raise SetupError(f"{folder} is empty: it should hold part0.zip")
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
        compressed = sum(member.compress_type != zipfile.ZIP_STORED for member in members)
        if compressed:
            self.oddities.append(f"{self._relative(path)}: {compressed:,} members are compressed, not stored")

    def _relative(self, path: Path) -> str:
        return f"{self.folder.name}/{path.name}"

    @property
    def stated_layouts(self) -> list[RawLayout]:
        """The different layouts that the archives state."""
        return list({layout for layout in self._layouts if layout})

    def differences(self, labels: dict[str, int]) -> Iterator[str]:
        """Compare names and labels with those of the single files.

        Yields:
            A sentence for each difference.
        """
        form = self.folder.name
        for name in self._duplicates:
            yield f"{form}/ holds {name} twice"
        for name in sorted(labels.keys() - self._packs.keys()):
            yield f"{form}/ has no member {name}"
        for name in sorted(self._packs.keys() - labels.keys()):
            yield f"{form}/ has a member {name} that is no file of its own"
        for name in sorted(labels.keys() & self._packs.keys()):
            if self._labels.get(name) != labels[name]:
                stated = self._labels.get(name, "missing")
                yield f"the label of {name} is {stated} in {form}/ and {labels[name]} in the text file"

    def read(self, name: str) -> bytes:
        """Read a member.

        Raises:
            PackError: It is damaged.
        """
        pack = self._packs[name]
        try:
            return pack.read(name)
        except (zipfile.BadZipFile, OSError) as error:
            raise PackError(f"{pack.filename}: {name}: {error}") from error
