"""Count the file operations of a command with ``strace``, C libraries included.

Example:
    >>> from course_utils.storage import strace
    >>> strace.trace([sys.executable, "epoch.py"], under="data")         # doctest: +SKIP
    2,001 opens, 2,003 stats, 6,002 reads, 1 listing, 45.3 MB
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from course_utils.storage.io_counter import FileOps

__all__ = ["trace", "why_not_traceable"]

SYSTEM_CALLS = {
    "opens": ("open", "openat", "openat2"),
    "stats": ("stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"),
    "reads": ("read", "pread64", "readv", "preadv", "preadv2"),
    "maps": ("mmap",),
}
KIND_OF = {call: kind for kind, calls in SYSTEM_CALLS.items() for call in calls}
# With -y strace writes the path of each descriptor: read(3</data/img.JPEG>, ...) = 4096
LINE = re.compile(r"^(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?:<(?P<opened>[^>]*)>)?")


def why_not_traceable() -> str:
    """Return why ``strace`` cannot be used here, or an empty string if it can."""
    if not shutil.which("strace"):
        return "strace is not installed"
    attempt = subprocess.run(
        ["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False
    )
    return f"tracing is not permitted here: {attempt.stderr.strip()}" if attempt.returncode else ""


def trace(
    command: Sequence[str | Path], under: str | Path, meanwhile: Callable[[], object] | None = None
) -> FileOps:
    """Run a command under ``strace`` and count what it and its children do below one folder.

    Opening a folder counts as a listing; a stat of a folder does not count. A memory map of a file counts its
    bytes, and no read: its pages arrive by page faults.

    Args:
        command: program and arguments.
        under: the folder (or file) whose operations count.
        meanwhile: called when the command has written a line; must let it end, whatever happens.

    Raises:
        RuntimeError: strace is missing or tracing is not permitted.
        subprocess.CalledProcessError: The command failed.
    """
    if reason := why_not_traceable():
        raise RuntimeError(reason)
    with tempfile.TemporaryDirectory(prefix="trace_") as folder:
        # One log per process (-ff), so that lines of different processes do not interleave.
        options = ["-ff", "-y", "-e", "trace=?" + ",?".join(KIND_OF), "-o", f"{folder}/log"]
        traced = ["strace", *options, *map(str, command)]
        with subprocess.Popen(traced, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            if meanwhile and process.stdout and process.stdout.readline():
                meanwhile()
            output, errors = process.communicate()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command, output, errors)
        lines = (
            line for log in Path(folder).iterdir() for line in log.read_text(errors="replace").splitlines()
        )
        return _count(lines, str(Path(under).resolve()))


def _count(lines: Iterable[str], under: str) -> FileOps:
    counts = dict.fromkeys(("opens", "stats", "reads", "listings", "nbytes"), 0)
    for line in lines:
        match = LINE.match(line)
        if not match or under not in match["arguments"] + (match["opened"] or ""):
            continue
        kind = KIND_OF[match["call"]]
        if "O_DIRECTORY" in match["arguments"]:
            kind = "listings"
        if kind == "stats" and "S_IFDIR" in match["arguments"]:
            continue
        if kind == "maps":
            counts["nbytes"] += int(match["arguments"].split(", ")[1])
            continue
        counts[kind] += 1
        if kind == "reads":
            counts["nbytes"] += max(int(match["result"]), 0)
    return FileOps(**counts)
