"""Serve the files of a folder with a delay, in their own place, by FUSE.

python -m tests.bench.delayed.server FOLDER    # until it is unmounted
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import mfusepy

from tests.bench.delayed.mount import AT_ONCE, DELAY_S

END_WITH_PARENT = 1  # of prctl(2)


class DelayedFiles(mfusepy.Operations):
    """The files of a folder, to be read only: `open` and `read` wait first. Links are not followed."""

    use_ns = True

    def __init__(self, folder: Path) -> None:
        self.folder = os.open(folder, os.O_PATH)  # the mount hides the path

    def init_with_config(self, conn_info: mfusepy.fuse_conn_info, config_3: object) -> None:
        conn_info.max_background = conn_info.congestion_threshold = AT_ONCE

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        try:
            found = os.stat(_relative(path), dir_fd=self.folder, follow_symlinks=False)
        except OSError as error:
            raise mfusepy.FuseOSError(error.errno) from None
        return {
            name: getattr(found, name) for name in ("st_mode", "st_nlink", "st_uid", "st_gid", "st_size")
        } | {"st_mtime": found.st_mtime_ns}

    def readdir(self, path: str, fh: int) -> list[str]:
        folder = self.open(path, os.O_RDONLY)
        try:
            return [".", "..", *(entry.name for entry in os.scandir(folder))]
        finally:
            os.close(folder)

    def open(self, path: str, flags: int) -> int:
        time.sleep(DELAY_S)
        return os.open(_relative(path), flags, dir_fd=self.folder)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        time.sleep(DELAY_S)
        return os.pread(fh, size, offset)

    def release(self, path: str, fh: int) -> None:
        os.close(fh)


def _relative(path: str) -> str:
    return path.lstrip("/") or "."


def main(folder: str) -> None:
    """Serve the files of a folder in their own place."""
    ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGTERM)  # on which FUSE unmounts
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    settings = {"ro": True, "kernel_cache": True, "max_threads": AT_ONCE}  # its files do not change
    mfusepy.FUSE(DelayedFiles(Path(folder)), folder, foreground=True, **settings)


if __name__ == "__main__":
    main(sys.argv[1])
