"""Stage a data set once per node, whatever happens to the processes that do it.

A staged set is a folder that appears by one rename, with a manifest of all its files. Who makes it holds a
lock of the kernel (flock), which ends with its process. So whatever else carries the name of the set while
the lock is held was left by a process that has died.
"""

import contextlib
import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from course_utils.scratch.presets import ScratchError
from course_utils.scratch.transfer import (
    Report,
    StagedFile,
    choose_way,
    ignore,
    measured,
    staged_name,
    transfer,
)

MANIFEST = "manifest.json"


class Manifest(msgspec.Struct):
    """What a staged set was made from, and its files."""

    source: str
    way: str
    files: dict[str, StagedFile]


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


@dataclass(frozen=True)
class Place:
    """Where a set lies, and what its names begin with: the state of the source is a part of them."""

    scratch: Path
    name: str

    @property
    def folder(self) -> Path:
        """The staged set."""
        return self.scratch / self.name

    @property
    def lock(self) -> Path:
        """The lock file, which is never deleted: others may be waiting for it."""
        return self.scratch / f".{self.name}.lock"

    @property
    def broadcast(self) -> Path:
        """Where Slurm's sbcast puts one file; its name keeps its ending."""
        stem, _, key = self.name.rpartition("-")
        return self.scratch / f"{key}-{stem}"

    def left_behind(self) -> list[Path]:
        """Return the folders of processes that have died; valid while the lock is held."""
        names = (path.name for path in self.scratch.iterdir())
        ours = [name for name in names if name.startswith(f".{self.name}.") and name.endswith(".part")]
        return [self.scratch / name for name in ours]


def place_of(source: Path, scratch: Path, way: str) -> Place:
    """Return where a source is staged: another place when its path, its size or its time has changed.

    Of a folder only its own time counts: what changes further down is not seen.
    """
    status = source.stat()
    facts = f"{source}\0{status.st_size}\0{status.st_mtime_ns}\0{way}\0{os.getuid()}"
    return Place(scratch, f"{source.name}-{sha256(facts.encode()).hexdigest()[:12]}")


def stage_set(
    source: str | os.PathLike[str],
    scratch: str | os.PathLike[str],
    way: str = "auto",
    verify: bool = False,
    report: Report = ignore,
) -> StagedSet:
    """Bring a data set to a folder of this node, unless it is there; other processes that ask for it wait.

    Args:
        source: A packed file, or a folder.
        scratch: The folder, on storage of this node.
        way: A key of `WAYS`; "auto" copies a file as it is, and a folder file by file.
        verify: Compare the checksums of a set that is there, too, not only its sizes.
        report: Called with the number of bytes of each block that was written.

    Raises:
        ScratchError: It cannot be staged; the message says what to do.
        OSError: The source cannot be read.
    """
    origin, folder = Path(source).resolve(strict=True), Path(scratch).resolve(strict=True)
    chosen = choose_way(origin, way)
    place = place_of(origin, folder, chosen)
    with _explained(folder), _locked(place.lock):
        manifest = read_manifest(place.folder)
        copied = manifest is None or not is_whole(place.folder, manifest, verify)
        if copied:
            manifest = _make(origin, place, chosen, report)
    sizes = [file.size for file in manifest.files.values()] if manifest else []
    return StagedSet(place.folder / staged_name(origin, chosen), copied, len(sizes), sum(sizes))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a staged set; None if there is none that can be read."""
    try:
        return msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.DecodeError):
        return None


def is_whole(folder: Path, manifest: Manifest, verify: bool) -> bool:
    """Say whether all files have their sizes, and on request their checksums."""
    try:
        if any((folder / name).stat().st_size != file.size for name, file in manifest.files.items()):
            return False
        return not verify or all(measured(folder / name) == file for name, file in manifest.files.items())
    except OSError:
        return False


def _make(source: Path, place: Place, way: str, report: Report) -> Manifest:
    for old in place.left_behind():
        shutil.rmtree(old)
    work = Path(tempfile.mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.scratch))
    try:
        manifest = Manifest(str(source), way, transfer(source, work, way, report))
        with (work / MANIFEST).open("wb") as file:
            file.write(msgspec.json.encode(manifest))
        if place.folder.exists():
            # Damaged. Whoever has opened a file in it keeps that file.
            place.folder.rename(work.with_suffix(".old.part"))
        work.rename(place.folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise
    for old in place.left_behind():
        shutil.rmtree(old)
    return manifest


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock; wait for a process that has it. A link at its place is not followed."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ScratchError(f"{path} is no file: choose another folder with --scratch")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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
