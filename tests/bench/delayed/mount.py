"""Mount a folder of files whose every `open` and `read` takes a millisecond, as over a network."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_utils.storage import page_cache

DELAY_S = 0.001
AT_ONCE = 64  # requests that the kernel sends without waiting for an answer; for FUSE, it would be 12
START_S = 20
FUSE = 0x65735546  # its type in statfs(2)
APART = 1 << 20  # bytes between requests that are timed, more than the kernel reads ahead


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """Delay the files of a folder, in their own place; the server keeps to the last core.

    Raises:
        NotADirectoryError: It is no folder.
        RuntimeError: FUSE cannot mount a folder here.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")
    command = [sys.executable, "-m", "tests.bench.delayed.server", str(folder)]
    settings = os.environ | {"FUSE_LIBRARY_NAME": "fuse3"}  # the older one has no limit of requests to set
    with subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True) as server:
        try:
            _wait(server, folder)
            yield
        finally:
            subprocess.run(["fusermount3", "-u", "-z", str(folder)], check=False, capture_output=True)
            server.kill()  # it would wait for files that are still open


def _wait(server: subprocess.Popen[str], folder: Path) -> None:
    until = time.monotonic() + START_S
    while not folder.is_mount():
        if server.poll() is not None or time.monotonic() > until:
            server.kill()
            *_, reason = ["the server does not answer", *server.communicate()[1].splitlines()]
            raise RuntimeError(f"FUSE cannot mount {folder}: {reason}")
        time.sleep(0.05)


def request_ms(file: Path) -> float:
    """Return how long a read of a file takes that is not in the page cache, in milliseconds: the median."""
    trust_page_cache()
    page_cache.evict(file)
    times = []
    with file.open("rb", buffering=0) as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        for offset in range(0, file.stat().st_size, APART):
            start = time.perf_counter()
            os.pread(opened.fileno(), 1, offset)
            times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times)


def largest(folder: Path) -> Path:
    """Return the largest file below a folder."""
    return max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)


def trust_page_cache() -> None:
    """Let `page_cache` measure files of FUSE in this process: this server caches nothing."""
    page_cache.MEASURABLE[FUSE] = "files with a delay"
