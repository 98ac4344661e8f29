"""Count what each way of staging a folder of small files asks of the shared file system."""

import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from course_utils.scratch import transfer as transfers
from course_utils.scratch.archives import BUFFER
from course_utils.storage import FileOps, count_operations, strace


@dataclass(frozen=True)
class WayCost:
    """What one way costs on one node.

    Attributes:
        way: The way, in words.
        source: Operations on the shared file system; None if they cannot be counted here.
        created: Files that are made on scratch.
        written: Bytes that are written there.
        note: Why something is missing, or what else to know.
    """

    way: str
    source: FileOps | None
    created: int
    written: int
    note: str = ""


def count_ways(tree: Path, scratch: Path) -> list[WayCost]:
    """Stage a folder in each way, and count the operations on its file system.

    What happens on scratch is not counted: those operations reach nobody else's server.

    Args:
        tree: A folder of files; it is packed into a temporary folder for the other ways.
        scratch: A folder for the copies, which are deleted.
    """
    with (
        tempfile.TemporaryDirectory(dir=scratch) as packed,
        tempfile.TemporaryDirectory(dir=scratch) as copies,
    ):
        tar = Path(packed, f"{tree.name}.tar")
        with tarfile.open(tar, "w") as archive:
            archive.add(tree, tree.name)
        copied = _counted("one tar, copied as it is", tar, Path(copies, "copy"), "copy")
        return [
            _counted("file by file", tree, Path(copies, "files"), "files"),
            copied,
            _counted("one tar, unpacked on the node", tar, Path(copies, "unpack"), "unpack"),
            WayCost(
                "one tar, sent to all nodes by sbcast",
                broadcast_operations(copied.written),
                copied.created,
                copied.written,
                "read by one node for all, through a memory map; recorded with Slurm",
            ),
            _count_squashfs(tree, Path(packed, f"{tree.name}.squashfs"), Path(copies, "squashfs")),
        ]


def broadcast_operations(nbytes: int) -> FileOps:
    """Return what Slurm's sbcast asks of the file system of its source, as traced with Slurm 22.05.

    It maps the file into memory. The pages arrive by page faults, of which no system call tells.
    """
    return FileOps(opens=1, stats=1, nbytes=nbytes)


def _counted(label: str, source: Path, folder: Path, way: str) -> WayCost:
    folder.mkdir()
    with count_operations(BUFFER) as counter:

        def create(path: Path) -> IO[bytes]:
            counter.paused = True
            try:
                return transfers.create(path)
            finally:
                counter.paused = False

        files = transfers.transfer(source, folder, way, create=create)
    return _cost(label, counter.total(), files)


def _cost(
    label: str, source: FileOps | None, written: dict[str, transfers.StagedFile | None], note: str = ""
) -> WayCost:
    sizes = [file.size for file in written.values() if file]
    return WayCost(label, source, len(sizes), sum(sizes), note)


def _count_squashfs(tree: Path, image: Path, folder: Path) -> WayCost:
    label = "one squashfs file, unpacked on the node"
    missing = [name for name in ("mksquashfs", "unsquashfs") if not shutil.which(name)]
    reason = f"{missing[0]} is not installed" if missing else strace.why_not_traceable()
    if missing:
        return WayCost(label, None, 0, 0, f"not available here: {reason}")
    command = ["mksquashfs", str(tree), str(image), "-quiet", "-no-progress", "-noI", "-noD", "-noF"]
    subprocess.run(command, check=True, capture_output=True)
    if reason:
        files, source = transfers.transfer(image, folder, "unpack"), None
    else:
        unpack = ["unsquashfs", "-quiet", "-no-progress", "-dest", str(folder), str(image)]
        source = strace.trace(unpack, under=image)
        files = {str(path): transfers.measured(path) for path in folder.rglob("*") if path.is_file()}
    return _cost(label, source, files, f"not counted: {reason}" if reason else "")
