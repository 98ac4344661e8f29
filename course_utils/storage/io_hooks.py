"""Monkeypatch Python's file functions to report each call to listeners.

``open`` returns a real file whose raw layer reports its reads. Files of Python itself, source code and the
kernel's file systems are not reported, so that an import during counting does not count.

Audit hooks are not enough: they see opens and listings only, and cannot be removed.
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
from typing import IO, Any, Literal, Protocol, TypeVar

__all__ = [
    "BUFFER_BYTES",
    "Kind",
    "Listener",
    "add_listener",
    "buffer_size",
    "disabled",
    "remove_listener",
    "set_buffer_size",
]

BUFFER_BYTES = 4096

Kind = Literal["opens", "stats", "reads", "listings"]
Listener = Callable[[Kind, int], None]
File = int | str | bytes | os.PathLike[str] | os.PathLike[bytes]
Opener = Callable[[str, int], int]
Encoding = tuple[str | None, str | None, str | None]
Result = TypeVar("Result")
NOT_DATA = (os.devnull, *(f"{folder}/" for folder in ("/proc", "/sys", sys.prefix, sys.base_prefix)))

_open, _fstat = io.open, os.fstat
_listeners: list[Listener] = []
_thread = threading.local()
_patches: list[tuple[object, str, object]] = []


def add_listener(listener: Listener) -> None:
    """Call ``listener(kind, nbytes)`` for each file operation from now on.

    Args:
        listener: receives the kind of operation and the bytes read (0 for all but reads).
    """
    _listeners.append(listener)
    if _patches:
        return
    for module, name in ((builtins, "open"), (io, "open"), (tarfile, "bltn_open")):
        _patch(module, name, _reporting_open)
    _patch(os, "open", _reporting_path(os.open, "opens"))
    for name in ("stat", "lstat", "access"):
        _patch(os, name, _reporting_path(getattr(os, name), "stats"))
    for name in ("scandir", "listdir"):
        _patch(os, name, _reporting_path(getattr(os, name), "listings"))
    for name in ("read", "pread", "readv", "preadv"):
        if hasattr(os, name):
            _patch(os, name, _reporting_read(getattr(os, name)))


def remove_listener(listener: Listener) -> None:
    """Stop calling a listener; without any listener, restore the original functions."""
    _listeners.remove(listener)
    while _patches and not _listeners:
        module, name, original = _patches.pop()
        setattr(module, name, original)


@contextlib.contextmanager
def disabled() -> Iterator[None]:
    """Report nothing that this thread does in the body, so that listeners can use files themselves."""
    before, _thread.disabled = getattr(_thread, "disabled", False), True
    try:
        yield
    finally:
        _thread.disabled = before


def set_buffer_size(nbytes: int) -> int:
    """Set the default buffer of the files that this thread opens from now on; return the previous size.

    Args:
        nbytes: size in bytes, more than 1.

    Raises:
        ValueError: The size is not a possible buffer size.
    """
    if nbytes <= 1:
        raise ValueError(f"a buffer of {nbytes} bytes: must be more than 1")
    before: int = getattr(_thread, "buffer_bytes", BUFFER_BYTES)
    _thread.buffer_bytes = nbytes
    return before


@contextlib.contextmanager
def buffer_size(nbytes: int) -> Iterator[None]:
    """Use `set_buffer_size` in the body only; processes forked in the body inherit the size."""
    before = set_buffer_size(nbytes)
    try:
        yield
    finally:
        set_buffer_size(before)


def _report(kind: Kind, nbytes: int = 0) -> None:
    if not getattr(_thread, "disabled", False):
        for listener in _listeners:
            listener(kind, nbytes)


def _patch(module: object, name: str, function: Callable[..., object]) -> None:
    _patches.append((module, name, getattr(module, name)))
    setattr(module, name, function)


class _Buffer(Protocol):
    """The same as ``collections.abc.Buffer`` of Python 3.12 and later."""

    def __buffer__(self, flags: int, /) -> memoryview: ...


class _ReportingFile(io.FileIO):
    """The raw layer of a file opened for reading: reports each read call to the kernel."""

    def readinto(self, buffer: _Buffer) -> int | None:
        count = super().readinto(buffer)
        _report("reads", count or 0)
        return count

    def read(self, size: int | None = -1) -> bytes:  # None for a non-blocking file without data
        if size is None or size < 0:
            return self.readall()
        data = super().read(size)
        _report("reads", len(data or b""))
        return data

    def readall(self) -> bytes:
        """Read the rest as CPython does: reads of the expected remaining size until one returns nothing."""
        expected = max(_fstat(self.fileno()).st_size - self.tell(), 0) + 1
        parts: list[bytes] = []
        while part := self.read(max(expected - sum(len(part) for part in parts), 1)):
            parts.append(part)
        return b"".join(parts)


def _reporting_open(
    file: File,
    mode: str = "r",
    buffering: int = -1,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    closefd: bool = True,
    opener: Opener | None = None,
) -> IO[Any]:
    file = file if isinstance(file, int) else os.fspath(file)
    text = (encoding, errors, newline)
    opener = opener and _unreported(opener)  # what it opens is reported here
    data = _is_data(file)
    opened: IO[Any]
    if data and not set(mode) & set("wax+"):
        opened = _open_to_read(_ReportingFile(file, "r", closefd, opener), mode, buffering, text)
    else:
        opened = _open(file, mode, buffering, *text, closefd, opener)
    if data:
        _report("stats")
        if not isinstance(file, int):
            _report("opens")
    return opened


def _unreported(opener: Opener) -> Opener:
    def quiet(path: str, flags: int) -> int:
        with disabled():
            return opener(path, flags)

    return quiet


def _open_to_read(raw: _ReportingFile, mode: str, buffering: int, text: Encoding) -> IO[Any]:
    if buffering == 0 and "b" in mode:
        return raw
    default: int = getattr(_thread, "buffer_bytes", BUFFER_BYTES)
    buffered = io.BufferedReader(raw, buffering if buffering > 1 else default)
    if "b" in mode:
        return buffered
    wrapped = io.TextIOWrapper(buffered, io.text_encoding(text[0]), *text[1:])
    wrapped.mode = mode  # type: ignore[misc]  # read-only in typeshed; io.open sets it the same way
    return wrapped


def _reporting_path(function: Callable[..., Result], kind: Kind) -> Callable[..., Result]:
    def reporting(path: File | None = ".", *args: object, **kwargs: object) -> Result:
        if _is_data(path):
            _report(kind)
        return function(path, *args, **kwargs)

    return reporting


def _reporting_read(function: Callable[..., int | bytes]) -> Callable[..., int | bytes]:
    def reporting(fd: int, *args: object) -> int | bytes:
        result = function(fd, *args)
        if _is_data(fd):
            _report("reads", result if isinstance(result, int) else len(result))
        return result

    return reporting


def _is_data(path: File | None) -> bool:
    """Tell files and folders of the user from pipes, devices and files of Python and the system."""
    if isinstance(path, int):
        return stat.S_ISREG(_fstat(path).st_mode)
    name = os.path.abspath(os.fsdecode("." if path is None else path))  # noqa: PTH100 - Path would follow links
    return not (name.startswith(NOT_DATA) or name.endswith(".py"))
