"""Count the file operations of a whole command with ``strace``, libraries in C included.

Example:
    >>> from course_utils.storage.strace import trace
    >>> trace([sys.executable, "epoch.py"], under="data")                # doctest: +SKIP
    2,001 opens, 2,003 stats, 6,002 reads, 1 listing, 45.3 MB
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from course_utils.storage.io_counter import FileOps

__all__ = ["trace", "why_not_traceable"]

KINDS = {
    "opens": ("open", "openat", "openat2"),
    "stats": ("stat", "lstat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2"),
    "reads": ("read", "pread64", "readv", "preadv", "preadv2"),
}
KIND_OF = {call: kind for kind, calls in KINDS.items() for call in calls}
# With -y strace writes the path behind each descriptor: read(3</data/img.JPEG>, ...) = 4096
CALL = re.compile(r"^(?P<call>\w+)\((?P<what>.*)\) += (?P<answer>-?\d+)(?:<(?P<opened>[^>]*)>)?")


def why_not_traceable() -> str:
    """Say why ``strace`` cannot be used here, or return an empty string if it can."""
    if not shutil.which("strace"):
        return "strace is not installed"
    tried = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, check=False)
    return f"one may not trace here: {tried.stderr.strip()}" if tried.returncode else ""


def trace(command: Sequence[str | Path], under: str | Path) -> FileOps:
    """Run a command under ``strace`` and count what it and its children do below one folder.

    Opening a folder to list it counts as a listing, and asking about the folder itself not at all.

    Args:
        command: program and arguments.
        under: the folder (or file) whose operations count.

    Raises:
        RuntimeError: There is no strace, or one may not trace.
        subprocess.CalledProcessError: The command failed.
    """
    if reason := why_not_traceable():
        raise RuntimeError(reason)
    with tempfile.TemporaryDirectory(prefix="trace_") as folder:
        # One log for each process (-ff): their lines do not interrupt each other.
        options = ["-ff", "-y", "-e", "trace=?" + ",?".join(KIND_OF), "-o", f"{folder}/log"]
        subprocess.run(["strace", *options, *map(str, command)], check=True, capture_output=True)
        lines = (
            line for log in Path(folder).iterdir() for line in log.read_text(errors="replace").splitlines()
        )
        return _sum_up(lines, str(Path(under).resolve()))


def _sum_up(lines: Iterable[str], under: str) -> FileOps:
    counts = dict.fromkeys((*KINDS, "lists", "nbytes"), 0)
    for line in lines:
        found = CALL.match(line)
        if not found or under not in found["what"] + (found["opened"] or ""):
            continue
        kind = KIND_OF[found["call"]]
        if "O_DIRECTORY" in found["what"]:
            kind = "lists"
        if kind == "stats" and "S_IFDIR" in found["what"]:
            continue
        counts[kind] += 1
        if kind == "reads":
            counts["nbytes"] += max(int(found["answer"]), 0)
    return FileOps(**counts)
