"""The files of checks in one submission: a file system that reports each operation, or else a watched folder.

The first process of the submission mounts the file system, and the fork server serves it, out of the
student's reach. Where the kernel does not let it mount one (no `/dev/fuse`, or a kernel before 6.6), inotify
counts how often each file is opened. It sees no process, no look-up, and no handle that processes share;
those are then reported by the submission's own process.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from course_utils.checks.core import SeenFiles
from course_utils.grading.sandbox.handouts import fuse
from course_utils.grading.sandbox.handouts.file_server import FileServer
from course_utils.grading.sandbox.handouts.watched_folder import WatchedFolder
from course_utils.grading.sandbox.isolation import namespaces

HANDOUTS = "/tmp/handouts"


class SubmissionFiles:
    """One object in the fork server and, after a fork, in the first process of a submission.

    Args:
        writable: Folders in which the submission can write.
    """

    def __init__(self, writable: Sequence[str] = ()) -> None:
        self._writable = writable
        self._here, self._inside = socket.socketpair()
        self._server: FileServer | None = None
        self._watched: WatchedFolder | None = None
        self._root = Path()

    def mount(self) -> None:
        """Mount the file system if possible, and hide the device; called by the first process."""
        place = Path(HANDOUTS)
        place.mkdir()
        place.chmod(0o755)
        descriptors = []
        with contextlib.suppress(OSError):
            descriptors = [fuse.mount(HANDOUTS)]
        if fuse.DEVICE.exists():
            namespaces.mount("/dev/null", str(fuse.DEVICE), "", namespaces.MS_BIND)
        socket.send_fds(self._inside, [b"mounted"], descriptors)
        for descriptor in (*descriptors, self._inside.detach(), self._here.detach()):
            os.close(descriptor)

    def serve(self, child: int) -> None:
        """Serve what the descendants of a child have mounted; called by the fork server after the fork."""
        self._inside.close()
        self._root = Path(f"/proc/{child}/root")
        _, descriptors, *_ = socket.recv_fds(self._here, 16, 1)
        self._here.close()
        if descriptors:
            self._server = FileServer(descriptors[0], self._root / "proc", self._writable, child)

    def place(self, folder: str, files: dict[str, bytes]) -> None:
        """Show files in a new folder of `HANDOUTS`.

        Raises:
            NotWatchedError: This machine cannot watch anything more.
            OSError: They cannot be written: the student may have filled the disk.
        """
        if self._server is not None and self._server.supported():
            self._server.place(folder, files)
            return
        self._close_watched()
        self._watched = WatchedFolder()
        self._watched.place(self._root / HANDOUTS[1:] / folder, files)

    def report(self) -> SeenFiles:
        """Return what was done with the files since they were placed."""
        if self._watched is not None:
            return SeenFiles(opened=self._watched.opened())
        return SeenFiles([]) if self._server is None else self._server.report()

    def close(self) -> None:
        """Stop serving and watching."""
        self._here.close()
        self._inside.close()
        self._close_watched()
        if self._server is not None:
            self._server.close()

    def _close_watched(self) -> None:
        if self._watched is not None:
            self._watched.close()
        self._watched = None
