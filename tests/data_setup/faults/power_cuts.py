"""Cut the power at every call of one run: copy the disk there, and continue the command on the copy."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Protocol


class Command(Protocol):
    """What is run, as `runner.Runner` does it."""

    out: Path

    def prepare(self) -> None:
        """Make the folder as the command finds it."""

    def start(self, out: Path, at: int, kind: str) -> int:
        """Start the command in a child process."""

    def problem_of_next_run(self, out: Path) -> str | None:
        """Run the command; return what is wrong with what it makes."""


def power_cuts(command: Command, image: Path, stride: int) -> Iterator[tuple[int, str, str | None]]:
    """Run a command that stops at each call, and cut the power there and after the end.

    Twice: with what the filesystem has written by itself, and with its journal flushed, as when another
    program flushes a file. The journal holds new names and sizes, but no contents that nobody has flushed.

    Args:
        command: What is run.
        image: The file that holds the filesystem of its folder.
        stride: Cut the power at every n-th call only, and after the end.

    Yields:
        Number of the call, what happened there, and what is wrong, for each cut.
    """
    for kind in ("cut", "journalled cut"):
        command.prepare()
        os.sync()
        known: dict[bytes, str | None] = {}  # many calls leave the disk as it was
        for at, is_last in stops(command):
            if at % stride and not is_last:
                continue
            if kind != "cut":
                flush_journal(command.out.parent)
            disk = image.read_bytes()
            digest = sha256(disk).digest()
            if digest not in known:
                known[digest] = problem_of_disk(command, disk, image)
            yield at, kind, known[digest]


def stops(command: Command) -> Iterator[tuple[int, bool]]:
    """Yield the number of each call at which a command is stopped, and whether it is the end instead."""
    child, at, status = command.start(command.out, 0, "stop"), 0, 0
    try:
        while True:
            at += 1
            _, status = os.waitpid(child, os.WUNTRACED)
            yield at, not os.WIFSTOPPED(status)
            if not os.WIFSTOPPED(status):
                break
            os.kill(child, signal.SIGCONT)
    finally:
        if os.WIFSTOPPED(status):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert status == 0


def flush_journal(folder: Path) -> None:
    handle = os.open(folder / "other", os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"a")
    os.fsync(handle)
    os.close(handle)


def problem_of_disk(command: Command, disk: bytes, image: Path) -> str | None:
    with mounted_copy(disk, image) as folder:
        out = folder / command.out.name
        return command.problem_of_next_run(out)


@contextmanager
def mounted_copy(disk: bytes, image: Path) -> Iterator[Path]:
    copy, point = Path(f"{image}.cut"), Path(f"{image}.point")
    copy.write_bytes(disk)
    point.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", copy, point], check=True)
    try:
        yield point
    finally:
        subprocess.run(["umount", point], check=True)
