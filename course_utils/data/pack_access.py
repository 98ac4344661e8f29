"""Open packs and check that they can be read as they are; whatever is wrong with one is a `PackError`."""

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from course_utils.data.pack import INFO_NAME, PackError, PackInfo, RawLayout
from course_utils.data.zips import RegularZipFile, ZipIndex

# What zipfile and ZipIndex raise for a damaged or unsuitable archive or member.
ZIP_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError),
    *(ValueError, RuntimeError, NotImplementedError, OverflowError, MemoryError),
)


def open_pack(path: Path | str) -> tuple[zipfile.ZipFile, PackInfo]:
    """Open a pack and read its description.

    Raises:
        FileNotFoundError: There is no such file.
        PackError: It is not a complete zip, or no regular file, or has no valid `dataset.json`.
    """
    try:
        pack = RegularZipFile(path)
    except (FileNotFoundError, PermissionError):
        raise
    except (*ZIP_DAMAGE, OSError) as error:
        raise _unusable(path, error) from error
    try:
        return pack, PackInfo.from_json(pack.read(INFO_NAME))
    except (KeyError, *ZIP_DAMAGE, OSError) as error:
        pack.close()
        raise _undescribed(path, error) from error


def open_indexed_pack(path: Path | str, saved: Path | str | None = None) -> tuple[ZipIndex, PackInfo]:
    """Open the index of a pack and read its description.

    Args:
        path: The pack.
        saved: File of a saved index, as of `ZipIndex`.

    Raises:
        FileNotFoundError: There is no such file.
        PackError: It is not a complete zip, has members that are compressed, encrypted or of one name, or has
            no valid `dataset.json`.
    """
    try:
        index = ZipIndex(path, saved)
    except (FileNotFoundError, PermissionError):
        raise
    except (*ZIP_DAMAGE, OSError) as error:
        raise _unusable(path, error) from error
    try:
        return index, PackInfo.from_json(bytes(index.read(index.find(INFO_NAME))))
    except (KeyError, *ZIP_DAMAGE, OSError) as error:
        index.close()
        raise _undescribed(path, error) from error


def _unusable(path: Path | str, error: Exception) -> PackError:
    if isinstance(error, OSError):
        return PackError(f"{path} cannot be read ({error.strerror or error}); give the zip file itself")
    if str(error).startswith(str(path)):
        return PackError(str(error))  # says what to do
    return PackError(f"{path} is not a complete zip file ({error}); make or copy it again")


def _undescribed(path: Path | str, error: Exception) -> PackError:
    if isinstance(error, KeyError):
        return PackError(f"{path}: it has no {INFO_NAME}, which holds the labels; make or copy it again")
    return PackError(f"{path}: {error}; make or copy it again")


def layout_to_read(path: Path | str, info: PackInfo, requested: RawLayout | None) -> RawLayout | None:
    """Return the layout of raw members: the one that a pack states, or else the one that was requested.

    Raises:
        PackError: They contradict each other.
    """
    if requested and info.layout and requested != info.layout:
        raise PackError(f"{path} has the layout {info.layout}, but {requested} was requested")
    return info.layout or requested


def raw_layout_to_read(path: Path | str, info: PackInfo, requested: RawLayout | None) -> RawLayout:
    """Return the layout of members that are raw pixels, as `layout_to_read` does.

    Raises:
        PackError: There is none, or they contradict each other.
    """
    layout = layout_to_read(path, info, requested)
    if layout is None:
        raise PackError(
            f"{path} does not state the layout of its raw pixels; pass it, for example "
            f'layout=RawLayout("HWC", (256, 256, 3)), or read JPEG members with load_encoded=True'
        )
    return layout


def require_labels(path: Path | str, names: Sequence[str], info: PackInfo) -> None:
    """Check that each member has a label.

    Raises:
        PackError: Some have none.
    """
    unlabelled = [name for name in names if name not in info.labels]
    if unlabelled:
        raise PackError(f"{path}: {len(unlabelled):,} members have no label, the first is {unlabelled[0]}")


def require_images(paths: Sequence[Path | str], count: int, repeated: Iterable[str]) -> None:
    """Check that packs have images, and each name once: a pack given twice would count twice.

    Args:
        paths: The packs.
        count: Number of their images.
        repeated: Names that occur more than once.

    Raises:
        PackError: There is no image, or a name occurs more than once.
    """
    given = ", ".join(map(str, paths)) or "an empty list of packs"
    if not count:
        raise PackError(f"{given}: no images inside")
    for name in repeated:
        raise PackError(
            f"{given}: {name} occurs more than once. Give each pack once; images of the same name cannot be "
            "told apart, so pack them under different names."
        )


def repeated_names(names: Sequence[str]) -> Iterator[str]:
    """Return the names that occur more than once in a sorted sequence."""
    return (name for name, following in pairwise(names) if name == following)
