"""Put something in the way of Python's file functions that notes each use of them.

``open`` returns a real file whose raw layer notes its reads. Python's own files, program text and the folders
of the kernel pass unnoticed, so that a module imported on the way does not count.
"""

import builtins
import contextlib
import io
import os
import stat
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from typing import IO

__all__ = ["BUFFER_BYTES", "Listener", "listen", "stop_listening", "unnoticed"]

BUFFER_BYTES = 4096

Listener = Callable[[str, int], None]
NOT_DATA = (os.devnull, *(f"{folder}/" for folder in ("/proc", "/sys", sys.prefix, sys.base_prefix)))

_open, _fstat = io.open, os.fstat
_listeners: list[Listener] = []
_thread = threading.local()
_replaced: list[tuple[object, str, object]] = []


def listen(listener: Listener) -> None:
    """Call ``listener(kind, nbytes)`` for each use of a file function from now on.

    Args:
        listener: is told ``"opens"``, ``"stats"``, ``"reads"`` or ``"lists"``, and the bytes that were read.
    """
    _listeners.append(listener)
    if _replaced:
        return
    for module, name in ((builtins, "open"), (io, "open"), (tarfile, "bltn_open")):
        _replace(module, name, _noting_open)
    _replace(os, "open", _with_path(os.open, "opens"))
    for name in ("stat", "lstat", "access"):
        _replace(os, name, _with_path(getattr(os, name), "stats"))
    for name in ("scandir", "listdir"):
        _replace(os, name, _with_path(getattr(os, name), "lists"))
    for name in ("read", "pread", "readv", "preadv"):
        if hasattr(os, name):
            _replace(os, name, _reading(getattr(os, name)))


def stop_listening(listener: Listener) -> None:
    """Call it no more; the original functions are put back when nobody listens."""
    _listeners.remove(listener)
    while _replaced and not _listeners:
        module, name, original = _replaced.pop()
        setattr(module, name, original)


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Let a listener use files itself: what this thread does in the body is told to nobody."""
    before, _thread.quiet = getattr(_thread, "quiet", False), True
    try:
        yield
    finally:
        _thread.quiet = before


def _note(kind: str, nbytes: int = 0) -> None:
    if not getattr(_thread, "quiet", False):
        for listener in _listeners:
            listener(kind, nbytes)


def _replace(module: object, name: str, function: Callable) -> None:
    _replaced.append((module, name, getattr(module, name)))
    setattr(module, name, function)


class _NotingFile(io.FileIO):
    """The raw layer of a file opened for reading: each call to the kernel is noted."""

    def readinto(self, buffer: bytearray | memoryview) -> int | None:
        count = super().readinto(buffer)
        _note("reads", count or 0)
        return count

    def read(self, size: int | None = -1) -> bytes | None:
        if size is None or size < 0:
            return self.readall()
        data = super().read(size)
        _note("reads", len(data or b""))
        return data

    def readall(self) -> bytes:
        """Read the rest as Python does: all there should be in one read, until one brings nothing."""
        wanted = max(_fstat(self.fileno()).st_size - self.tell(), 0) + 1
        parts = []
        while part := self.read(max(wanted - sum(map(len, parts)), 1)):
            parts.append(part)
        return b"".join(parts)


def _noting_open(
    file: str | bytes | os.PathLike | int,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Callable | None = None,
) -> IO:
    file = file if isinstance(file, int) else os.fspath(file)
    text = (encoding, errors, newline)
    data = _is_data(file)
    if data and not set(mode) & set("wax+"):
        opened = _open_to_read(_NotingFile(file, "r", closefd, opener), mode, buffering, text)
    else:
        opened = _open(file, mode, buffering, *text, closefd, opener)
    if data:
        _note("stats")
        if not isinstance(file, int):
            _note("opens")
    return opened


def _open_to_read(raw: _NotingFile, mode: str, buffering: int, text: tuple) -> IO:
    if buffering == 0 and "b" in mode:
        return raw
    buffered = io.BufferedReader(raw, buffering if buffering > 1 else BUFFER_BYTES)
    if "b" in mode:
        return buffered
    wrapped = io.TextIOWrapper(buffered, io.text_encoding(text[0]), *text[1:])
    wrapped.mode = mode
    return wrapped


def _with_path(function: Callable, kind: str) -> Callable:
    def noting(path: object = ".", *args: object, **kwargs: object) -> object:
        if _is_data(path):
            _note(kind)
        return function(path, *args, **kwargs)

    return noting


def _reading(function: Callable) -> Callable:
    def noting(fd: int, *args: object) -> object:
        answer = function(fd, *args)
        if _is_data(fd):
            _note("reads", answer if isinstance(answer, int) else len(answer))
        return answer

    return noting


def _is_data(path: object) -> bool:
    """Tell files and folders of the user from pipes, devices and files of Python and the system."""
    if isinstance(path, int):
        return stat.S_ISREG(_fstat(path).st_mode)
    name = os.path.abspath(os.fsdecode("." if path is None else path))  # noqa: PTH100 - Path would follow links
    return not (name.startswith(NOT_DATA) or name.endswith(".py"))
