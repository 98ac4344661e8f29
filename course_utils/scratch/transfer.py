"""Ways to bring a data set to a node: as one packed file, unpacked from one, or file by file."""

import contextlib
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

from course_utils.scratch.archives import (
    BUFFER,
    SQUASHFS,
    damage_explained,
    members_of_tar,
    unpacked_name,
    unsquash,
)
from course_utils.scratch.presets import ScratchError
from course_utils.scratch.source_files import SourceFiles, changed, no_file, require_regular

WAYS = {
    "copy": "one file, as it is",
    "unpack": "one tar or squashfs file, unpacked on the node",
    "files": "a folder, file by file (for comparison: each file costs the shared file system an open)",
}
Report = Callable[[int], object]  # takes the number of bytes that were written since the last call
Create = Callable[[Path], IO[bytes]]
Item = tuple[str, int, IO[bytes] | None]  # path, size and content; None is the content of a folder


class StagedFile(NamedTuple):
    """A file that was written: its size in bytes, and its SHA-256."""

    size: int
    digest: str


def ignore(_: int) -> None:
    """Take the number of bytes, and report nothing."""


def create(path: Path) -> IO[bytes]:
    """Open a new file to be written, in a folder that is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("xb")


def choose_way(source: Path, way: str) -> str:
    """Return the way that "auto" stands for; other ways are checked.

    Raises:
        ScratchError: The source cannot be staged in this way.
    """
    require_regular(source)
    chosen = way if way != "auto" else "files" if source.is_dir() else "copy"
    if chosen not in WAYS:
        raise ScratchError(f"there is no way {way!r}; there are auto, {', '.join(WAYS)}")
    if source.is_dir() != (chosen == "files"):
        kind = "a folder" if source.is_dir() else "a file"
        raise ScratchError(f"{source} is {kind}; {chosen} stages {WAYS[chosen]}")
    return chosen


def transfer(
    source: Path,
    folder: Path,
    way: str,
    report: Report = ignore,
    create: Create = create,
    opened: SourceFiles | None = None,
) -> dict[str, StagedFile | None]:
    """Write a data set into a folder.

    Args:
        source: A file, or a folder.
        folder: An empty folder; what is staged gets `staged_name` in it.
        way: A key of `WAYS`.
        report: Called after each block.
        create: Opens the new files.
        opened: Opens the files of the source; it knows afterwards whether they have changed.

    Returns:
        What was written, by path relative to the folder; None for a folder.

    Raises:
        ScratchError: The source is damaged or has changed, or a program is missing.
        OSError: A file cannot be read or written.
    """
    opened = opened or SourceFiles()
    if way == "unpack" and source.suffix in SQUASHFS:
        return _unsquashed(source, folder, report, opened)
    items = {"copy": _one_file, "unpack": _members, "files": _files}[way](source, opened)
    written: dict[str, StagedFile | None] = {}
    with damage_explained(source), contextlib.closing(items):
        for name, size, stream in items:
            try:
                if stream is None:
                    (folder / name).mkdir(parents=True, exist_ok=True)
                    written[name] = None
                else:
                    written[name] = _write(stream, folder / name, report, create)
            except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
                raise ScratchError(f"{source} holds {name} twice: pack it again") from error
            if (file := written[name]) and file.size != size:
                raise changed(f"{source}: {name}")
    for name in [*written]:  # a tar need not list its folders
        above = name
        while (above := os.path.dirname(above)) and above not in written:  # noqa: PTH120 - for each file
            written[above] = None
    return written


def staged_name(source: Path, way: str) -> str:
    """Return the name of what a way makes of a source."""
    return unpacked_name(source) if way == "unpack" else source.name


def _one_file(source: Path, opened: SourceFiles) -> Generator[Item, None, None]:
    file, size = opened.open(source)
    with file:
        yield source.name, size, file


def _members(source: Path, opened: SourceFiles) -> Generator[Item, None, None]:
    top = unpacked_name(source)
    for name, size, stream in members_of_tar(source, opened):
        yield f"{top}/{name}".rstrip("/"), size, stream


def _files(source: Path, opened: SourceFiles) -> Generator[Item, None, None]:
    waiting = [(source, source.name)]
    while waiting:
        folder, name = waiting.pop()
        yield name, 0, None
        for entry in opened.entries(folder):
            inner = f"{name}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append((folder / entry.name, inner))
            elif entry.is_dir():
                raise ScratchError(f"{entry.path} is a link to a folder; stage that folder itself")
            elif not entry.is_file():
                raise no_file(entry.path)
            else:
                file, size = opened.open(folder / entry.name)
                with file:
                    yield inner, size, file


def _write(stream: IO[bytes], path: Path, report: Report, create: Create) -> StagedFile:
    seen, size = sha256(), 0
    with create(path) as file:
        while block := stream.read(BUFFER):
            file.write(block)
            seen.update(block)
            size += len(block)
            report(len(block))
    return StagedFile(size, seen.hexdigest())


def _unsquashed(
    source: Path, folder: Path, report: Report, opened: SourceFiles
) -> dict[str, StagedFile | None]:
    opened.remember(source)
    unsquash(source, folder / unpacked_name(source))
    written: dict[str, StagedFile | None] = {}
    for name, size in sizes_below(folder):
        written[name] = None if size is None else measured(folder / name)
        report(size or 0)
    return written


def sizes_below(folder: Path) -> Iterator[tuple[str, int | None]]:
    """Yield the relative paths of what lies below a folder, with the sizes of files; None for folders.

    Raises:
        ScratchError: There is something else.
    """
    waiting = [""]
    while waiting:
        above = waiting.pop()
        with os.scandir(folder / above) as entries:
            for entry in entries:
                name = f"{above}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{name}/")
                    yield name, None
                elif entry.is_file(follow_symlinks=False):
                    yield name, entry.stat(follow_symlinks=False).st_size
                else:
                    raise no_file(entry.path)


def measured(path: Path) -> StagedFile:
    """Return size and SHA-256 of a file."""
    seen, size = sha256(), 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(BUFFER):
            seen.update(block)
            size += len(block)
    return StagedFile(size, seen.hexdigest())


def broadcast_command(source: Path, target: Path) -> list[str]:
    """Return Slurm's command that sends a file from one node to all nodes of the job.

    It is run once per job, not once per node, and needs a folder that exists on each node. The file is under
    its final name while it arrives.
    """
    return ["sbcast", "--preserve", "--force", str(source), str(target)]


def mount_command(image: Path, point: Path) -> list[str]:
    """Return the command that mounts a squashfs file here: by FUSE, or as root; an empty list if none can."""
    if shutil.which("squashfuse"):
        return ["squashfuse", str(image), str(point)]
    return ["mount", "-t", "squashfs", "-o", "loop,ro", str(image), str(point)] if os.geteuid() == 0 else []
