"""Open packs and check that they can be read as they are.

Whatever is wrong with one is a `PackError`; what a disk or a file server raises is an `OSError`.
"""

import errno
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path

from course_utils.data.pack import INFO_NAME, ChangedFileError, PackError, PackInfo, RawLayout
from course_utils.data.zips.regular_file import named
from course_utils.data.zips.zip_file import ZIP_DAMAGE, ZIP_UNSUITABLE, RegularZipFile, is_of_content
from course_utils.data.zips.zip_index import ZipIndex
from course_utils.system import retry_transient

UNUSABLE = (*ZIP_DAMAGE, *ZIP_UNSUITABLE)
NOT_A_FILE = (errno.EISDIR, errno.ENXIO)  # a folder, a socket
MAX_NAMED = 3


def open_pack(path: Path | str) -> tuple[RegularZipFile, PackInfo]:
    """Open a pack and read its description; the labels are those of its members, no more and no less.

    Raises:
        OSError: There is no such file, or the disk fails, also when asked again.
        PackError: It is not a complete zip, or no regular file, or has no valid `dataset.json`.
    """
    try:
        pack = retry_transient(partial(RegularZipFile, path))
    except UNUSABLE as error:
        raise _unusable(path, error) from error
    except OSError as error:
        raise _unusable(path, error) if _is_of_file(error) else named(error, path) from error
    try:
        if pack.namelist().count(INFO_NAME) > 1:
            raise PackError(f"two members have the name {INFO_NAME}; pack it again")
        return pack, PackInfo.from_json(pack.read_sample(INFO_NAME))
    except BaseException as error:
        pack.close()
        raise _undescribed(path, error) from error


def open_indexed_pack(path: Path | str, saved: Path | str | None = None) -> tuple[ZipIndex, PackInfo]:
    """Open the index of a pack and read its description.

    Args:
        path: The pack.
        saved: File of a saved index, as of `ZipIndex`.

    Raises:
        OSError: There is no such file, or the disk fails, also when asked again.
        PackError: It is not a complete zip, has members that are compressed, encrypted or of one name, or has
            no valid `dataset.json`.
    """
    try:
        index = ZipIndex(path, saved)
    except UNUSABLE as error:
        raise _unusable(path, error) from error
    except OSError as error:
        raise _unusable(path, error) if _is_of_file(error) else error from error
    try:
        return index, PackInfo.from_json(bytes(index.read(index.find(INFO_NAME))))
    except BaseException as error:
        index.close()
        raise _undescribed(path, error) from error


def _is_of_file(error: OSError) -> bool:
    return error.errno in NOT_A_FILE or is_of_content(error)


def _unusable(path: Path | str, error: Exception) -> PackError:
    if isinstance(error, ChangedFileError):
        return error
    if isinstance(error, OSError):
        return PackError(f"{path} cannot be read ({error.strerror or error}); give the zip file itself")
    if str(error).startswith(str(path)):
        return PackError(str(error))  # says what to do
    return PackError(f"{path} is not a complete zip file ({error}); make or copy it again")


def _undescribed(path: Path | str, error: BaseException) -> BaseException:
    """Return what to raise for an error while the description is read."""
    if isinstance(error, KeyError):
        return PackError(f"{path}: it has no {INFO_NAME}, which holds the labels; make or copy it again")
    if isinstance(error, UNUSABLE) and not isinstance(error, ChangedFileError):
        reason = str(error).removeprefix(f"{path}: ")
        return PackError(f"{path}: {reason}; make or copy it again")
    return error


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
    """Check that each member has a label, and each label a member.

    Raises:
        PackError: Some have none; it says how many, and names the first.
    """
    unlabelled = [name for name in names if name not in info.labels]
    if unlabelled:
        raise PackError(f"{path}: {len(unlabelled):,} members have no label, {_first(unlabelled)}")
    if len(info.labels) != len(set(names)):
        missing = sorted(info.labels.keys() - set(names))
        raise PackError(
            f"{path}: {len(missing):,} labels in {INFO_NAME} belong to members that are not there, "
            f"{_first(missing)}; make or copy it again"
        )


def _first(names: Sequence[str]) -> str:
    some = ", ".join(names[:MAX_NAMED])
    return f"the first are {some}" if len(names) > 1 else f"the first is {some}"


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
