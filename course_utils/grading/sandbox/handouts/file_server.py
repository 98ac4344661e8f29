"""Serves the files of checks to one submission as a read-only file system, and records their use.

The kernel says which thread asks for what, through which open file description, and caches nothing. So each
operation of each process is seen: by descriptors, in threads, children and programs, too. A stat takes about
80 µs, a read of 20 kB 170 µs.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import select
import threading
from collections.abc import Sequence
from pathlib import Path

from course_utils.checks.core import MEASURE, FileEvent, Kind, SeenFiles
from course_utils.grading.sandbox.handouts import fuse
from course_utils.grading.sandbox.handouts.callers import Callers
from course_utils.grading.sandbox.handouts.fuse import Operation, Request
from course_utils.grading.sandbox.handouts.tree import Tree

MAX_EVENTS = 100_000
MAX_WAITING = 4096  # more than the threads of a submission can ask for at a time
_ROOT = 1


class FileServer:
    """The file system of one submission, served by a thread until `close`.

    Args:
        device: Descriptor from `fuse.mount`; the server owns it from now on.
        proc: The `/proc` of the submission's process namespace.
        writable: Folders in which the submission can write.
        first: The submission's first process, by its number for this one.
    """

    def __init__(
        self, device: int, proc: Path, writable: Sequence[str] = (), first: int | None = None
    ) -> None:
        self._device, self._callers = device, Callers(proc, writable, first)
        self._tree, self._handles = Tree(), itertools.count(1)
        self._open: dict[int, int] = {}
        self._events: list[FileEvent] = []
        self._complete = True
        self._last: dict[int, tuple[int, int]] = {}  # each thread's last operation and its node
        self._lock, self._supported = threading.Lock(), True
        self._stopped, self._stop = os.pipe()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def place(self, folder: str, files: dict[str, bytes]) -> None:
        """Show files in a folder of the file system, in place of all files before."""
        with self._lock:
            self._tree.replace(folder, files)
            self._events.clear()
            self._last.clear()
            self._complete = True

    def supported(self) -> bool:
        """Return whether this kernel can serve files of which nothing is cached."""
        self._drain()
        return self._supported

    def events(self) -> list[FileEvent]:
        """Return what was done with the files since they were placed."""
        return self.report().events or []

    def report(self) -> SeenFiles:
        """Return what was done with the files since they were placed, and whether that is all."""
        self._drain()
        return SeenFiles(list(self._events), complete=self._complete)

    def close(self) -> None:
        """Stop serving; processes that still use a file get errors."""
        os.close(self._stop)
        self._thread.join()
        os.close(self._stopped)
        os.close(self._device)

    def _drain(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            self._serve_waiting()

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._device, select.POLLIN)
        poll.register(self._stopped)
        with contextlib.suppress(OSError):  # unmounted
            while not any(descriptor == self._stopped for descriptor, _ in poll.poll()):
                with self._lock:
                    self._serve_waiting()

    def _serve_waiting(self) -> None:
        """Serve the requests that wait, but not without end those that processes go on to make."""
        for _ in range(MAX_WAITING):
            request = fuse.receive(self._device)
            if request is None:
                return
            if request.operation in fuse.WITHOUT_REPLY:
                continue
            try:
                data, error = self._answer(request), 0
            except OSError as problem:
                data, error = b"", problem.errno or errno.EIO
            fuse.reply(self._device, request, data, error)

    def _answer(self, request: Request) -> bytes:
        """Return the reply to a request.

        Raises:
            OSError: The reply is this error.
        """
        match request.operation:
            case Operation.LOOKUP:
                return self._look_up(request)
            case Operation.GETATTR:
                data = self._get_attributes(request)
            case Operation.OPEN | Operation.OPENDIR:
                data = self._open_node(request)
            case Operation.READ:
                data = self._read(request)
            case Operation.READDIR:
                data = self._list(request)
            case Operation.RELEASE | Operation.RELEASEDIR:
                data = self._release(request)
            case Operation.STATFS:
                data = fuse.statfs_reply()
            case Operation.INIT:
                data = self._initialise(request)
            case _:
                raise OSError(errno.ENOSYS, "not needed")
        self._last[request.thread] = request.operation, request.node
        return data

    def _initialise(self, request: Request) -> bytes:
        found = fuse.init_reply(request)
        self._supported = found is not None
        if found is None:
            raise OSError(errno.EPROTO, "this kernel cannot map files of which nothing is cached")
        return found

    def _look_up(self, request: Request) -> bytes:
        name, node = request.name(), None
        with contextlib.suppress(FileNotFoundError):
            node = self._tree.child(request.node, name)
        if request.node != _ROOT and (node is None or not self._tree.is_folder(node)):
            self._record(request, "look", self._tree.path(request.node, name))
        if node is None:
            raise FileNotFoundError(errno.ENOENT, name)
        self._last[request.thread] = Operation.LOOKUP, node
        return fuse.entry_reply(node, self._tree.attributes(node))

    def _get_attributes(self, request: Request) -> bytes:
        # Of a folder that has just been opened, the C library asks for them before it lists.
        after_opening = self._last.get(request.thread) == (Operation.OPENDIR, request.node)
        if self._tree.is_folder(request.node) and request.node != _ROOT and not after_opening:
            self._record(request, "look", self._tree.path(request.node))
        return fuse.attributes_reply(self._tree.attributes(request.node))

    def _open_node(self, request: Request) -> bytes:
        handle = next(self._handles)
        folder = request.operation == Operation.OPENDIR
        if not folder:
            name = self._tree.path(request.node)
            if self._last.get(request.thread) == (Operation.LOOKUP, request.node):
                self._forget_look(request, name)
            self._open[handle] = request.node
            self._record(request, "open", name, handle, 0)
        return fuse.open_reply(handle, folder)

    def _forget_look(self, request: Request, name: str) -> None:
        """Count an opening alone, not also the look-up of its path."""
        process = self._callers.process(request.thread)
        for place in range(len(self._events) - 1, max(len(self._events) - 9, -1), -1):
            if self._events[place][:3] == (process, "look", name):
                del self._events[place]
                return

    def _read(self, request: Request) -> bytes:
        offset, size = request.span()
        kind = self._callers.kind_of_read(request.thread)
        data = self._tree.data(request.node)[offset : offset + size]
        self._record(request, kind, self._tree.path(request.node), request.handle(), len(data))
        return data

    def _list(self, request: Request) -> bytes:
        offset, size = request.span()
        if offset == 0:
            self._record(request, "list", self._tree.path(request.node))
        return fuse.directory_reply(self._tree.entries(request.node), offset, size)

    def _release(self, request: Request) -> bytes:
        node = self._open.pop(request.handle(), None)
        if node is not None:
            self._record(request, "close", self._tree.path(node), request.handle())
        return b""

    def _record(
        self, request: Request, kind: Kind, name: str, handle: int = 0, size: int | None = None
    ) -> None:
        if len(self._events) >= MAX_EVENTS:
            self._complete = False
            return
        process = self._callers.process(request.thread)
        asked = kind == "look" and name.startswith(MEASURE)
        used = self._callers.usage(process) if asked else None
        self._events.append(FileEvent(process, kind, name, handle, used, size))
