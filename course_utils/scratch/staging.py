"""Stage a data set once per node, whatever happens to the processes that do it.

A staged set is a folder that appears by one rename, with a manifest of all its files. Who makes it holds a
lock of the kernel (flock), which ends with its process. So whatever else carries the name of the set while
the lock is held was left by a process that has died.
"""

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from course_utils.scratch.archives import remove_tree
from course_utils.scratch.node_lock import Holder, Waits, locked
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.source_files import SourceFiles, changed
from course_utils.scratch.staged_set import (
    DATA,
    Manifest,
    Place,
    differences,
    make_own,
    place_of,
    read_manifest,
    write_manifest,
)
from course_utils.scratch.transfer import Report, choose_way, ignore, staged_name, transfer

Replaces = Callable[[str], object]


@dataclass(frozen=True)
class StagedSet:
    """A data set on this node.

    Attributes:
        path: The file or folder to read.
        copied: Whether this call has made it.
        files: Number of files.
        nbytes: Their bytes.
    """

    path: Path
    copied: bool
    files: int
    nbytes: int


def wait_silently(_: Holder) -> None:
    """Take the process that is waited for, and report nothing."""


def replace_silently(_: str) -> None:
    """Take what is wrong with a set, and report nothing."""


def stage_set(
    source: str | os.PathLike[str],
    scratch: str | os.PathLike[str],
    way: str = "auto",
    verify: bool = False,
    report: Report = ignore,
    waits: Waits = wait_silently,
    replaces: Replaces = replace_silently,
) -> StagedSet:
    """Bring a data set to a folder of this node, unless it is there; other processes that ask for it wait.

    A set that has lost or got files since it was made is made anew, and so is one whose source has another
    time or size. Of a folder only its own time counts: after a change further down, `touch` the folder.

    Args:
        source: A packed file, or a folder.
        scratch: The folder, on storage of this node. Sets lie in a folder of this user's in it.
        way: A key of `WAYS`; "auto" copies a file as it is, and a folder file by file.
        verify: Compare the checksums of a set that is there, too, not only its names and sizes.
        report: Called with the number of bytes of each block that was written.
        waits: Called with the process that this one waits for, before it does.
        replaces: Called with what is wrong with a set that is there, before it is made anew.

    Raises:
        ScratchError: It cannot be staged; the message says what to do.
        OSError: The source cannot be read.
    """
    origin, folder = resolved(source), resolved(scratch)
    if folder.is_relative_to(origin):
        raise ScratchError(
            f"{folder} lies in {origin}, which would be copied into itself: choose another folder"
        )
    chosen = choose_way(origin, way)
    place = place_of(origin, folder, chosen)
    with _explained(folder):
        make_own(place.own)
        with locked(place.lock, waits):
            manifest = read_manifest(place.folder)
            wrong = next(differences(place.folder, manifest, verify), None) if manifest else "no manifest"
            if wrong and place.folder.exists():
                replaces(wrong)
            if wrong or manifest is None:
                manifest = _make(origin, place, chosen, report)
    sizes = [file.size for file in manifest.files.values() if file]
    path = place.data / staged_name(origin, chosen)
    return StagedSet(path, wrong is not None, len(sizes), sum(sizes))


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return a path without links.

    Raises:
        OSError: It does not exist, or its links form a loop, for which `Path.resolve` has another error.
    """
    return Path(os.path.realpath(path, strict=True))


def _make(source: Path, place: Place, way: str, report: Report) -> Manifest:
    for old in place.parts():
        remove_tree(old)
    work, maker = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.own)), os.getpid()
    try:
        (work / DATA).mkdir()
        opened = SourceFiles()
        manifest = Manifest(os.fspath(source), way, transfer(source, work / DATA, way, report, opened=opened))
        opened.require_unchanged()
        if place_of(source, place.scratch, way) != place:  # while this process waited for the lock
            raise changed(source)
        write_manifest(work, manifest)
        if place.folder.exists():
            # Damaged. Whoever has opened a file in it keeps that file.
            place.folder.rename(work.with_suffix(".old.part"))
        work.rename(place.folder)
    except BaseException:
        if os.getpid() == maker:  # not a child that was forked meanwhile
            with contextlib.suppress(OSError):
                remove_tree(work)
        raise
    for old in place.parts():
        remove_tree(old)
    return manifest


@contextlib.contextmanager
def _explained(scratch: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            free = shutil.disk_usage(scratch).free
            raise ScratchError(
                f"{scratch} or your quota is full ({free / 1e9:,.1f} GB free); nothing was left behind"
            ) from error
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM) and not os.access(scratch, os.W_OK):
            raise ScratchError(f"{scratch} cannot be written: choose another folder") from error
        if error.errno in (errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK):
            raise ScratchError(f"{scratch} has no locks; it is not storage of this node alone") from error
        raise
