"""Reads a folder that a student has prepared: descriptor by descriptor, within limits, following no link.

Names are bytes, and a link, a pipe or a folder can stand where a file is expected. Everything is looked at
(`lstat`) before it is opened, and opened so that a link fails and a pipe does not block.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath

from grading.submission.findings import Finding

MAX_ENTRIES, MAX_FILES, MAX_DEPTH = 20_000, 1000, 20
MAX_NAME_BYTES, MAX_PATH_BYTES = 200, 1000
# What `nbgrader submit` accepts: outputs, which are not graded, may make a notebook large.
MAX_NOTEBOOK_BYTES, MAX_NOTEBOOKS_BYTES = 112 * 2**20, 128 * 2**20
MAX_FILE_BYTES, MAX_ALL_BYTES = 16 * 2**20, 48 * 2**20
MAX_FINDINGS = 30  # of one kind of problem; the others are counted
NOTEBOOK = ".ipynb"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class FolderContents:
    """What could be read of a folder.

    Attributes:
        files: Contents by relative name, with `/` between its parts.
        findings: What was left out, and why.
        left_out: Relative names of what is not among `files`.
        complete: Whether the folder holds nothing but `files`.
        newest: When the newest file was last changed by its owner (ctime), in seconds.
        modified: When the newest file was written, as it says itself (mtime), in seconds.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)
    complete: bool = True
    newest: float = 0.0
    modified: float = 0.0


def read_folder(
    folder: Path, first: tuple[str, ...] = (), own_files_only: bool = False, make_readable: bool = False
) -> FolderContents:
    """Read the regular files of a folder.

    Files are read in this order, so that what matters is read before a limit is reached: `first`, notebooks,
    then all others from the top. Hidden folders, such as Jupyter's checkpoints, are skipped.

    Args:
        folder: The folder; its owner may be changing it concurrently.
        first: Names of files at its top to read before any other.
        own_files_only: Leave out files that the folder's owner does not own.
        make_readable: Change the mode of files that their owner, this user, may not read.
    """
    return _Reader(first, own_files_only, make_readable).read(folder)


class _Reader:
    def __init__(self, first: tuple[str, ...], own_files_only: bool, make_readable: bool) -> None:
        self.first, self.own_files_only, self.make_readable = first, own_files_only, make_readable
        self.found = FolderContents()
        self.entries: dict[str, os.stat_result] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.folders: set[str] = set()
        self.left, self.left_for_notebooks = MAX_ALL_BYTES, MAX_NOTEBOOKS_BYTES
        self.owner = -1

    def read(self, folder: Path) -> FolderContents:
        try:
            root = os.open(folder, _FOLDER)
        except OSError as error:
            link = error.errno in (errno.ELOOP, errno.ENOTDIR)
            reason = "is a link or a file" if link else f"cannot be opened ({os.strerror(error.errno or 0)})"
            self._leave_out("tampered" if link else "damaged", "", reason)
            return self.found
        try:
            self.owner = os.fstat(root).st_uid
            self._list(root)
            for name in sorted(self.entries, key=self._rank):
                self._read_file(root, name, self.entries[name])
                self.folders -= {str(parent) for parent in PurePosixPath(name).parents}
        finally:
            os.close(root)
        if self.folders - {""}:  # empty ones: one may stand in the place of a file
            self.found.complete = False
        for (kind, reason), count in self.counts.items():
            if count > MAX_FINDINGS:
                self.found.findings.append(Finding(kind, f"{count - MAX_FINDINGS} more {reason}."))
        return self.found

    def _rank(self, name: str) -> tuple[bool, bool, int, str]:
        return name not in self.first, not name.endswith(NOTEBOOK), name.count("/"), name

    def _list(self, root: int) -> None:
        """Fill `entries` with the regular files, breadth first."""
        for name in self.first:
            with suppress(OSError):
                self._add(root, name, os.lstat(name, dir_fd=root), deque())
        folders = deque([""])
        looked_at = 0
        while folders:
            name = folders.popleft()
            self.folders.add(name)
            try:
                with _opened(root, name, _FOLDER) as descriptor, os.scandir(descriptor) as scan:
                    names = sorted(entry.name for entry in islice(scan, MAX_ENTRIES - looked_at + 1))
                    looked_at += len(names)
                    if looked_at > MAX_ENTRIES:
                        self._leave_out("damaged", name, "has too many entries")
                        return
                    for one in names:
                        path = f"{name}/{one}" if name else one
                        with suppress(FileNotFoundError):
                            self._add(descriptor, path, os.lstat(one, dir_fd=descriptor), folders)
            except OSError as error:
                self._leave_out("damaged", name, f"cannot be listed ({os.strerror(error.errno or 0)})")

    def _add(self, parent: int, path: str, status: os.stat_result, folders: deque[str]) -> None:
        name = path.rpartition("/")[2]
        if path in self.entries:
            return
        if stat.S_ISDIR(status.st_mode) and name.startswith("."):
            self.found.complete = False
        elif _is_too_long(path):
            self._leave_out("damaged", path, "has too long a name or lies too deep")
        elif not _is_utf8(name):
            self._leave_out("damaged", path, "has a name that is not UTF-8")
        elif stat.S_ISDIR(status.st_mode) and (path in self.first or name.endswith(NOTEBOOK)):
            self._leave_out("tampered", path, "is a folder in the place of a file")
        elif stat.S_ISDIR(status.st_mode):
            self._allow(parent, name, status, stat.S_IRWXU)
            folders.append(path)
        elif stat.S_ISREG(status.st_mode):
            self._allow(parent, name, status, stat.S_IRUSR)
            self.entries[path] = status
        else:
            kind = "a link; it was not followed" if stat.S_ISLNK(status.st_mode) else "not a regular file"
            self._leave_out("tampered", path, f"is {kind}")

    def _allow(self, parent: int, name: str, status: os.stat_result, bits: int) -> None:
        if self.make_readable and status.st_uid == os.geteuid() and status.st_mode & bits != bits:
            with suppress(OSError):
                os.chmod(name, stat.S_IMODE(status.st_mode) | bits, dir_fd=parent)

    def _read_file(self, root: int, name: str, status: os.stat_result) -> None:
        notebook = name.endswith(NOTEBOOK)
        most = (
            min(MAX_NOTEBOOK_BYTES, self.left_for_notebooks) if notebook else min(MAX_FILE_BYTES, self.left)
        )
        if len(self.found.files) >= MAX_FILES:
            self._leave_out("damaged", name, f"is beyond the limit of {MAX_FILES} files")
        elif self._is_foreign(status):
            self._leave_out("tampered", name, "is another user's file")
        elif status.st_size > most:
            self._leave_out("damaged", name, "exceeds the size of a submission; it was left out")
        else:
            try:
                with _opened(root, name, _FILE) as descriptor:
                    data = _read_regular(descriptor, status)
            except OSError as error:
                self._leave_out("damaged", name, f"cannot be read ({os.strerror(error.errno or 0)})")
                return
            if notebook:
                self.left_for_notebooks -= len(data)
            else:
                self.left -= len(data)
            self.found.files[name] = data
            self.found.newest = max(self.found.newest, status.st_ctime)
            self.found.modified = max(self.found.modified, status.st_mtime)

    def _is_foreign(self, status: os.stat_result) -> bool:
        """Say whether a file is another user's; a hard link to it can be made by anybody."""
        return status.st_uid != self.owner and (self.own_files_only or status.st_nlink > 1)

    def _leave_out(self, kind: str, path: str, reason: str) -> None:
        self.found.complete = False
        self.found.left_out.add(path)
        what = _shown(path) if path else "The submitted folder"
        self.counts[kind, reason] += 1
        if self.counts[kind, reason] <= MAX_FINDINGS:
            self.found.findings.append(Finding(kind, f"{what} {reason}."))


@contextmanager
def _opened(root: int, name: str, flags: int) -> Iterator[int]:
    """Open a file or folder below `root` part by part, so that no part of its path is a link."""
    descriptor = os.dup(root)
    try:
        *folders, last = [part for part in name.split("/") if part] or ["."]
        for part, how in [*((folder, _FOLDER) for folder in folders), (last, flags)]:
            inner = os.open(part, how, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def _read_regular(descriptor: int, expected: os.stat_result) -> bytes:
    """Read a file that is still the one that was looked at; one that grows meanwhile is cut off."""
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != (
        expected.st_dev,
        expected.st_ino,
    ):
        raise OSError(errno.ESTALE, "replaced while it was read")
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return file.read(expected.st_size)


def _is_too_long(path: str) -> bool:
    sizes = [len(os.fsencode(part)) for part in path.split("/")]
    return len(sizes) > MAX_DEPTH or max(sizes) > MAX_NAME_BYTES or sum(sizes) > MAX_PATH_BYTES


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    """Return a name for a reader: names are any bytes, and as long as the file system allows."""
    text = path.encode("utf-8", "backslashreplace").decode()
    return repr(text if len(text) <= 100 else f"{text[:60]}...{text[-40:]}")
