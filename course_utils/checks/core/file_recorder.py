"""Record what this process and its forked children do with the files of a check, by Python's own means.

The recorder is the same in a notebook and when grading, so that a student sees the verdict that is given. It
does not see what C libraries and other programs do, and code in its process can tamper with it.
"""

import builtins
import contextlib
import io
import itertools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Generic, TypedDict, TypeVar

import msgspec

from course_utils.checks.core import environment
from course_utils.checks.core.file_events import FileEvent, Usage
from course_utils.system import io_counters

_RUNS = {"subprocess.Popen", "os.system", "os.posix_spawn"}
_OWNER_BITS = 24
MAX_EVENTS = 20_000  # far more than any answer that ends; the judge gets no others
_real_open, _real_close = io.open, os.close
T = TypeVar("T")


class Recorded(TypedDict, Generic[T]):
    """What a probe found, and what was done with its files meanwhile."""

    value: T
    files: list[FileEvent]


class FileRecorder:
    """The events of one check, in a file to which all its processes append.

    Args:
        folder: The folder whose files count.
    """

    def __init__(self, folder: Path) -> None:
        self.log = environment.tempfile.TemporaryFile(buffering=0)
        os.set_inheritable(self.log.fileno(), False)
        self.folder = str(folder)
        self.descriptors: dict[int, tuple[str, int]] = {}  # to name and handle
        self.handles = itertools.count(1)

    def record(self, kind: str, name: str, handle: int = 0, used: Usage | None = None) -> None:
        """Append an event."""
        if self.log.closed:  # a file outlives the check
            return
        event = environment.json.dumps([os.getpid(), kind, name, handle, used]) + "\n"
        self.log.write(event.encode())

    def mark(self, name: str) -> None:
        """Name this moment among the events."""
        self.record("mark", name, 0, _usage())

    def events(self) -> list[FileEvent]:
        """Return what was done until now, at most `MAX_EVENTS` events."""
        lines = os.pread(self.log.fileno(), os.fstat(self.log.fileno()).st_size, 0).splitlines()
        return [msgspec.json.decode(line, type=FileEvent) for line in lines[:MAX_EVENTS]]

    def recorded(self, value: T) -> Recorded[T]:
        """Return what a probe found, together with the events until now."""
        return {"value": value, "files": self.events()}

    def name_of(self, path: object, folder: int | None = None) -> str | None:
        """Return the path relative to the folder of the check; None for anything outside it."""
        if isinstance(path, int):
            return self.descriptors.get(path, (None, 0))[0]
        if not isinstance(path, str | bytes | os.PathLike):
            return None
        text = os.fsdecode(path)
        if folder in self.descriptors:
            text = os.path.join(self.folder, self.descriptors[folder][0], text)  # noqa: PTH118
        absolute = os.path.abspath(text)  # noqa: PTH100 - may not touch the file system
        if absolute == self.folder:
            return ""
        return absolute[len(self.folder) + 1 :] if absolute.startswith(f"{self.folder}/") else None

    def opened(self, descriptor: int, name: str) -> int:
        """Record that a descriptor was opened; return the handle, whose upper bits are this process."""
        handle = os.getpid() << _OWNER_BITS | next(self.handles)
        self.descriptors[descriptor] = name, handle
        self.record("open", name, handle)
        return handle

    def read(self, descriptor: int, kind: str) -> None:
        """Record that a descriptor is read, if its file counts."""
        if descriptor in self.descriptors:
            self.record(kind, *self.descriptors[descriptor])

    def closed(self, descriptor: int) -> None:
        """Record that a handle is closed, with the last of this process's descriptors of it."""
        name, handle = self.descriptors.pop(descriptor, ("", 0))
        others = any(handle == other for _, other in self.descriptors.values())
        if handle >> _OWNER_BITS == os.getpid() and not others:
            self.record("close", name, handle)


_active: list[FileRecorder] = []
_hooked: list[bool] = []
_thread = threading.local()


@contextmanager
def recording(folder: Path) -> Iterator[FileRecorder]:
    """Record what happens in a folder."""
    if not _hooked:
        # An audit hook cannot be removed: there is one, and it returns at once while nothing is recorded.
        sys.addaudithook(_hook)
        _hooked.append(True)
    recorder = FileRecorder(folder)
    _active.append(recorder)
    try:
        with _patched(recorder):
            yield recorder
    finally:
        _active.remove(recorder)
        recorder.log.close()


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if not _active or getattr(_thread, "opening", False):
        return
    recorder = _active[-1]
    if event in _RUNS:
        recorder.record("run", "")
    elif event == "open" and (name := recorder.name_of(args[0])) is not None and not isinstance(args[0], int):
        recorder.record("open", name)
    elif event in ("os.listdir", "os.scandir") and (name := recorder.name_of(args[0])) is not None:
        recorder.record("list", name)
    elif event == "mmap.__new__":
        recorder.read(args[0], "map")


@contextmanager
def _patched(recorder: FileRecorder) -> Iterator[None]:
    with contextlib.ExitStack() as stack:

        def patch(module: object, name: str, function: Callable[..., Any]) -> None:
            stack.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, function)

        for module in (builtins, io):
            patch(module, "open", _recording_open(recorder))
        patch(os, "open", _recording_os_open(recorder, os.open))
        patch(os, "close", _recording_close(recorder))
        patch(os, "dup", _recording_dup(recorder, os.dup))
        for name, kind in {"read": "read", "readv": "read", "pread": "pread", "preadv": "pread"}.items():
            if hasattr(os, name):
                patch(os, name, _recording_read(recorder, getattr(os, name), kind))
        for name in ("stat", "lstat", "access"):
            patch(os, name, _recording_look(recorder, getattr(os, name)))
        yield


class _RecordedFile(io.FileIO):
    """The raw layer of a file that is read."""

    def __init__(self, file: Any, recorder: FileRecorder, closefd: bool, opener: Any) -> None:  # noqa: ANN401
        self._recorder, self._descriptor = recorder, -1
        super().__init__(file, "r", closefd, opener)
        self._descriptor = self.fileno()

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - any buffer
        self._recorder.read(self._descriptor, "read")
        return super().readinto(buffer)

    def read(self, size: int | None = -1) -> bytes:
        self._recorder.read(self._descriptor, "read")
        return super().read(-1 if size is None else size)

    def readall(self) -> bytes:
        self._recorder.read(self._descriptor, "read")
        return super().readall()

    def close(self) -> None:
        if not self.closed and self._descriptor >= 0 and self.closefd:
            self._recorder.closed(self._descriptor)
        super().close()


def _recording_open(recorder: FileRecorder) -> Callable[..., IO[Any]]:
    def recording_open(
        file: Any,  # noqa: ANN401 - as the original
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,  # noqa: ANN401
    ) -> IO[Any]:
        name = recorder.name_of(file)
        if name is None or set(mode) - set("rbt"):
            return _real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        try:
            _thread.opening = True
            raw = _RecordedFile(file, recorder, closefd, opener)
        except FileNotFoundError:
            recorder.record("look", name)
            raise
        finally:
            _thread.opening = False
        if not isinstance(file, int):
            recorder.opened(raw.fileno(), name)
        return _layers(raw, mode, buffering, (encoding, errors, newline))

    return recording_open


def _layers(
    raw: io.FileIO, mode: str, buffering: int, text: tuple[str | None, str | None, str | None]
) -> IO[Any]:
    if buffering == 0 and "b" in mode:
        return raw
    buffered = io.BufferedReader(raw, buffering if buffering > 1 else io.DEFAULT_BUFFER_SIZE)
    if "b" in mode:
        return buffered
    wrapped = io.TextIOWrapper(buffered, io.text_encoding(text[0]), text[1], text[2])
    wrapped.mode = mode  # type: ignore[misc]  # read-only in typeshed; io.open sets it the same way
    return wrapped


def _recording_os_open(recorder: FileRecorder, real: Callable[..., int]) -> Callable[..., int]:
    def recording_open(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> int:  # noqa: ANN401
        name = recorder.name_of(path, dir_fd)
        try:
            _thread.opening = name is not None
            descriptor = real(path, *args, dir_fd=dir_fd, **kwargs)
        finally:
            _thread.opening = False
        if name is not None and os.path.isdir(f"/dev/fd/{descriptor}"):  # noqa: PTH112
            recorder.descriptors[descriptor] = name, 0
        elif name is not None:
            recorder.opened(descriptor, name)
        return descriptor

    return recording_open


def _recording_close(recorder: FileRecorder) -> Callable[[int], None]:
    def close(fd: int) -> None:
        recorder.closed(fd)
        _real_close(fd)

    return close


def _recording_dup(recorder: FileRecorder, real: Callable[[int], int]) -> Callable[[int], int]:
    def dup(fd: int) -> int:
        copy = real(fd)
        if fd in recorder.descriptors:
            recorder.descriptors[copy] = recorder.descriptors[fd]
        return copy

    return dup


def _recording_read(recorder: FileRecorder, real: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def read(fd: int, *args: Any) -> Any:  # noqa: ANN401 - as the original
        recorder.read(fd, kind)
        return real(fd, *args)

    return read


def _recording_look(recorder: FileRecorder, real: Callable[..., Any]) -> Callable[..., Any]:
    def look(path: Any, *args: Any, dir_fd: int | None = None, **kwargs: Any) -> Any:  # noqa: ANN401
        name = None if isinstance(path, int) else recorder.name_of(path, dir_fd)
        if name is not None:
            recorder.record("look", name)
        return real(path, *args, dir_fd=dir_fd, **kwargs)

    return look


def _usage() -> Usage | None:
    counters = io_counters()
    return None if counters is None else Usage(counters["rchar"], counters["wchar"])
