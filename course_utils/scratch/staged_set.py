"""A staged set on the disk: whose folder it lies in, its manifest, and whether it is still as it was made."""

import contextlib
import json
import os
import pwd
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from course_utils.data import PackError, read_regular_file
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.transfer import StagedFile, measured, sizes_below

# Two names in the folder of a set, so that no name of the data can be that of the manifest.
MANIFEST, DATA = "manifest.json", "data"
STEM = 50  # characters of a source's name that the names of its place begin with


class Manifest(msgspec.Struct):
    """What a staged set was made from, and its files; None stands for a folder."""

    source: str
    way: str
    files: dict[str, StagedFile | None]


@dataclass(frozen=True)
class Place:
    """Where a set lies, and what its names begin with: the state of the source is a part of them.

    Attributes:
        scratch: The folder that all users share.
        name: The name of the set.
    """

    scratch: Path
    name: str

    @property
    def own(self) -> Path:
        """The folder of this user, in which nobody else can put anything."""
        return self.scratch / f"staged-{os.geteuid()}"

    @property
    def folder(self) -> Path:
        """The staged set."""
        return self.own / self.name

    @property
    def data(self) -> Path:
        """The folder of what was staged."""
        return self.folder / DATA

    @property
    def lock(self) -> Path:
        """The lock file, which is never deleted: others may be waiting for it."""
        return self.own / f".{self.name}.lock"

    @property
    def broadcast(self) -> Path:
        """Where Slurm's sbcast puts one file; its name keeps its ending. No node needs another folder."""
        stem, _, key = self.name.rpartition("-")
        return self.scratch / f"{key}-{stem}"

    def parts(self) -> list[Path]:
        """Return the folders in which a copy is being made; those of dead processes if the lock is held."""
        names = os.listdir(self.own)  # noqa: PTH208 - names alone
        ours = [name for name in names if name.startswith(f".{self.name}.") and name.endswith(".part")]
        return [self.own / name for name in ours]

    def arrived(self) -> int:
        """Return the bytes of the copies that are being made."""
        with contextlib.suppress(OSError, ScratchError):  # what is renamed or removed meanwhile
            return sum(size or 0 for part in self.parts() for _, size in sizes_below(part))
        return 0


def place_of(source: Path, scratch: Path, way: str) -> Place:
    """Return where a source is staged: another place when its path, its size or its time has changed.

    Of a folder only its own time counts: what changes further down is not seen.
    """
    status = source.stat()
    facts = os.fsencode(source) + f"\0{status.st_size}\0{status.st_mtime_ns}\0{way}".encode()
    return Place(scratch, f"{source.name[-STEM:]}-{sha256(facts).hexdigest()[:12]}")


def is_own(folder: Path) -> bool:
    """Say whether a folder is there.

    Raises:
        ScratchError: It is no folder, or not for this user alone: nothing in it is trusted.
    """
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISDIR(status.st_mode):
        raise ScratchError(f"{folder} is no folder: choose another folder with --scratch")
    if status.st_uid != os.geteuid():
        raise ScratchError(
            f"{folder} belongs to {_user(status.st_uid)}, who may have put anything there: choose another "
            "folder with --scratch"
        )
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ScratchError(
            f"{folder} is open to other users: delete it if they may have changed it, else chmod 700"
        )
    return True


def make_own(folder: Path) -> None:
    """Make a folder for this user alone, unless it is there.

    Raises:
        ScratchError: What is there cannot be trusted.
    """
    if not is_own(folder):
        folder.mkdir(0o700, exist_ok=True)
        is_own(folder)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a set; names that are not UTF-8 are escaped as Python does."""
    (folder / MANIFEST).write_text(json.dumps(msgspec.to_builtins(manifest)))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a staged set; None if there is none that can be read.

    Raises:
        ScratchError: The folder is not this user's.
    """
    if not is_own(folder.parent) or not is_own(folder):
        return None
    try:
        return msgspec.convert(json.loads(read_regular_file(folder / MANIFEST, "manifest")), Manifest)
    except (OSError, PackError, ValueError, RecursionError):
        return None


def differences(folder: Path, manifest: Manifest, verify: bool) -> Iterator[str]:
    """Yield what is missing, of another size or extra in a set, and on request what differs in its bytes."""
    try:
        there = dict(sizes_below(folder))
    except (ScratchError, OSError) as error:
        yield str(error)
        return
    wanted = {DATA: None, MANIFEST: None} | {f"{DATA}/{name}": file for name, file in manifest.files.items()}
    yield from (f"{name} is missing" for name in wanted if name not in there)
    yield from (f"{name} is extra" for name in there if name not in wanted)
    for name, file in wanted.items():
        if name in there and there[name] != (file and file.size) and name != MANIFEST:
            yield f"{name} has another size"
        elif verify and file and name in there and _measured(folder / name) != file:
            yield f"{name} has other bytes"


def is_whole(folder: Path, manifest: Manifest, verify: bool) -> bool:
    """Say whether a set holds its files and folders and nothing else, on request with their checksums."""
    return next(differences(folder, manifest, verify), None) is None


def _measured(path: Path) -> StagedFile | None:
    try:
        return measured(path)
    except OSError:
        return None


def _user(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user with number {number}"
