"""Ways to bring a data set to a node: as one packed file, unpacked from one, or file by file."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

from course_utils.scratch.presets import ScratchError

WAYS = {
    "copy": "one file, as it is",
    "unpack": "one tar or squashfs file, unpacked on the node",
    "files": "a folder, file by file (for comparison: each file costs the shared file system an open)",
}
SQUASHFS = (".squashfs", ".sqfs", ".sqsh")
BLOCK = 1 << 22  # bytes a read: a parallel file system is fastest with megabytes
Report = Callable[[int], object]  # takes the number of bytes that were written since the last call
Create = Callable[[Path], IO[bytes]]


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
    chosen = way if way != "auto" else "files" if source.is_dir() else "copy"
    if chosen not in WAYS:
        raise ScratchError(f"there is no way {way!r}; there are auto, {', '.join(WAYS)}")
    if source.is_dir() != (chosen == "files"):
        kind = "a folder" if source.is_dir() else "a file"
        raise ScratchError(f"{source} is {kind}; {chosen} stages {WAYS[chosen]}")
    return chosen


def transfer(
    source: Path, folder: Path, way: str, report: Report = ignore, create: Create = create
) -> dict[str, StagedFile]:
    """Write a data set into a folder.

    Args:
        source: A file, or a folder.
        folder: An empty folder; what is staged gets the name of the source, without an ending if unpacked.
        way: A key of `WAYS`.
        report: Called after each block.
        create: Opens the new files.

    Returns:
        What was written, by path relative to the folder.

    Raises:
        ScratchError: The source is damaged, or a program is missing.
        OSError: A file cannot be read or written.
    """
    if way == "unpack" and source.suffix in SQUASHFS:
        return _unsquash(source, folder, report)
    opened = {"copy": _one_file, "unpack": _members, "files": _files}[way](source)
    return {name: _write(stream, folder / name, report, create) for name, stream in opened}


def staged_name(source: Path, way: str) -> str:
    """Return the name of what a way makes of a source."""
    return source.name.partition(".")[0] if way == "unpack" else source.name


def _one_file(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with source.open("rb", buffering=0) as file:
        yield source.name, file


def _members(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the files of a tar, which is read from its beginning to its end once."""
    top = staged_name(source, "unpack")
    try:
        with (
            source.open("rb", buffering=0) as file,
            tarfile.open(fileobj=file, mode="r|*", bufsize=BLOCK) as tar,
        ):
            for member in tar:
                stream = tar.extractfile(member) if member.isfile() else None
                if stream is None and not member.isdir():
                    raise ScratchError(f"{source} holds {member.name}, which is neither a file nor a folder")
                if stream is not None:
                    yield str(Path(top, _inside(member.name))), stream
    except tarfile.TarError as error:
        raise ScratchError(f"{source} cannot be unpacked: {error}") from error


def _inside(name: str) -> str:
    """Refuse a name that leads out of the folder; `tarfile.data_filter` would look up each of its parts."""
    if name.startswith("/") or ".." in name.split("/"):
        raise ScratchError(f"the tar holds {name}, which would be written outside of its folder")
    return name


def _files(source: Path) -> Iterator[tuple[str, IO[bytes]]]:
    for folder, folders, names in os.walk(source):
        folders.sort()
        if links := [name for name in folders if Path(folder, name).is_symlink()]:
            raise ScratchError(f"{folder}/{links[0]} is a link to a folder; stage that folder itself")
        for name in sorted(names):
            path = Path(folder, name)
            with path.open("rb", buffering=0) as file:
                yield str(Path(source.name, path.relative_to(source))), file


def _write(stream: IO[bytes], path: Path, report: Report, create: Create) -> StagedFile:
    seen, size = sha256(), 0
    with create(path) as file:
        while block := stream.read(BLOCK):
            file.write(block)
            seen.update(block)
            size += len(block)
            report(len(block))
    return StagedFile(size, seen.hexdigest())


def _unsquash(source: Path, folder: Path, report: Report) -> dict[str, StagedFile]:
    target = folder / staged_name(source, "unpack")
    if not shutil.which("unsquashfs"):
        raise ScratchError(
            "unsquashfs is not installed (package squashfs-tools); stage the file, and mount it"
        )
    command = ["unsquashfs", "-quiet", "-no-progress", "-no-xattrs", "-dest", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ScratchError(f"{source} cannot be unpacked: {done.stderr.strip()[-300:]}")
    found = {}
    for path in sorted(path for path in target.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            found[str(path.relative_to(folder))] = written = _measured(file)
        report(written.size)
    return found


def _measured(file: IO[bytes]) -> StagedFile:
    seen, size = sha256(), 0
    while block := file.read(BLOCK):
        seen.update(block)
        size += len(block)
    return StagedFile(size, seen.hexdigest())


def measured(path: Path) -> StagedFile:
    """Return size and SHA-256 of a file."""
    with path.open("rb", buffering=0) as file:
        return _measured(file)


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
