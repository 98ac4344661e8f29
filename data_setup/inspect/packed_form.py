"""Read the archives of one packed form of an existing set, and note what is odd about them."""

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from course_utils.data import INFO_NAME, PackError, RawLayout, RegularZipFile, open_pack
from data_setup.format.errors import SetupError

MAX_MEMBER = 1 << 30  # bytes; no image takes so many


def archives(folder: Path) -> list[Path]:
    """Return the archives of a packed form, sorted; hidden files, such as .DS_Store, are none."""
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


class PackedForm(ExitStack):
    """All archives in a folder, as one collection of members; a context that closes them.

    Args:
        folder: Contains `part0.zip`, and more archives if there are more shards.

    Attributes:
        oddities: What is odd about the archives.
        layouts: The layout that each archive declares.

    Raises:
        SetupError: One is not a zip, or has no valid `dataset.json`.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.oddities: list[str] = []
        self.layouts: dict[Path, RawLayout | None] = {}
        self._labels: dict[str, int] = {}
        self._packs: dict[str, RegularZipFile] = {}
        self._problems: list[str] = []

    def __enter__(self) -> Self:
        paths = archives(self.folder)
        if not paths:
            raise SetupError(f"{self.folder} is empty: it should contain part0.zip")
        with ExitStack() as opened:  # closes the archives if one cannot be opened
            for path in paths:
                try:
                    pack, info = open_pack(path)
                except (PackError, OSError) as error:
                    raise SetupError(f"{path}: {error}") from error
                opened.enter_context(pack)
                self.layouts[path] = info.layout
                self._add(path, pack, info.labels)
            self.push(opened.pop_all())
        return self

    def _add(self, path: Path, pack: RegularZipFile, labels: dict[str, int]) -> None:
        form = self.folder.name
        members = [member for member in pack.infolist() if member.filename != INFO_NAME]
        names = [member.filename for member in members]
        self._problems += [f"{form}/ contains {name} twice" for name in names if name in self._packs]
        self._problems += [
            f"{form}/ has a label for {name}, but not that member in the same archive"
            for name in sorted(labels.keys() - set(names))
        ]
        self._packs |= dict.fromkeys(names, pack)
        self._labels |= labels
        compressed = sum(member.compress_type != zipfile.ZIP_STORED for member in members)
        if compressed:
            self.oddities.append(f"{form}/{path.name}: {compressed:,} members are compressed, not stored")

    def differences(self, labels: dict[str, int]) -> Iterator[str]:
        """Yield a sentence per difference of names and labels from those of the JPEG files."""
        form = self.folder.name
        yield from self._problems
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
