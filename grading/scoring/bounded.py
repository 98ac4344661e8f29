"""Runs a function on hostile data in a forked process, with bounds on processor time and memory."""

from __future__ import annotations

import faulthandler
import math
import os
import resource
import selectors
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, NoReturn, TypeVar

import msgspec

from grading.sandbox.server_process import GraderFaultError

T = TypeVar("T")
# A process that is killed otherwise, or hangs, is not the data's fault: it is started once more.
TRIES = 2


@dataclass(frozen=True)
class Bounds:
    """What one call may use; many times more than honest data needs.

    Attributes:
        cpu_seconds: Processor time, which does not depend on how busy the machine is.
        memory_mb: Memory beyond what this process has.
        wall_seconds: Wall time, in case that a call waits for something.
    """

    cpu_seconds: int = 30
    memory_mb: int = 1024
    wall_seconds: float = 600.0


@dataclass(frozen=True)
class Exceeded:
    """The outcome of a call that exceeded its bounds; `reason` completes "it ..."."""

    reason: str


def run_bounded(
    function: Callable[[str], T], names: Sequence[str], form: type[T], bounds: Bounds | None = None
) -> Iterator[tuple[str, T | Exceeded]]:
    """Call a function with each name, in one forked process as long as no call exceeds its bounds.

    Args:
        function: Called in the child; returns plain data of the type `form`.
        names: Its arguments.
        form: The type of its results.
        bounds: What each call may use.

    Yields:
        Each name with the result, or with `Exceeded`.

    Raises:
        GraderFaultError: The function raised an exception, or the process was lost for another reason.
    """
    bounds, left, tries = bounds or Bounds(), list(names), TRIES
    while left:
        with _forked(function, list(left), bounds) as child:
            while left and (line := child.read_line(bounds.wall_seconds)):
                tries = TRIES
                yield left.pop(0), _result(line, form, bounds)
        if left and (exceeded := child.exceeded(bounds)):
            yield left.pop(0), exceeded
        elif left and (tries := tries - 1) == 0:
            raise GraderFaultError(f"The process that judges {left[0]!r} was lost ({child.status}).")


class _Answer(msgspec.Struct, Generic[T]):
    """What the child sends for each name: a result, that no memory was left, or another error's traceback."""

    result: T | None = None
    error: str = ""
    no_memory: bool = False


def _result(line: bytes, form: type[T], bounds: Bounds) -> T | Exceeded:
    answer = msgspec.json.decode(line, type=_Answer[form])  # type: ignore[valid-type]
    if answer.no_memory:
        return Exceeded(f"took more than {bounds.memory_mb} MiB of memory")
    if answer.result is None:
        raise GraderFaultError(answer.error)
    result: T = answer.result
    return result


class _Child:
    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self.pipe, self.status = pid, pipe, 0
        self.rest, self.closed = b"", False
        self.selector = selectors.DefaultSelector()
        self.selector.register(pipe, selectors.EVENT_READ)

    def read_line(self, seconds: float) -> bytes:
        """Return the next line; empty where none follows in time."""
        end = time.monotonic() + seconds
        part = self.rest
        while b"\n" not in part:
            if not self.selector.select(max(0.0, end - time.monotonic())):
                return b""
            if not (part := os.read(self.pipe, 2**16)):
                self.closed = True
                return b""
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\n")
        return line

    def end(self) -> None:
        """End the process, unless it ends by itself."""
        if not self.closed:
            os.kill(self.pid, signal.SIGKILL)
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self.selector.close()
        os.close(self.pipe)

    def exceeded(self, bounds: Bounds) -> Exceeded | None:
        """Say whether the data was too much for the process that has ended."""
        if self.status == -signal.SIGXCPU:
            return Exceeded(f"took more than {bounds.cpu_seconds} seconds of processor time")
        if self.status in (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS):
            return Exceeded(f"took more than {bounds.memory_mb} MiB of memory")
        return None


@contextmanager
def _forked(function: Callable[[str], T], names: list[str], bounds: Bounds) -> Iterator[_Child]:
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns when a process with threads forks.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _serve_and_exit(function, names, bounds, writer)
    os.close(writer)
    child = _Child(pid, reader)
    try:
        yield child
    finally:
        child.end()


def _serve_and_exit(function: Callable[[str], T], names: list[str], bounds: Bounds, pipe: int) -> NoReturn:
    code = 1
    try:
        faulthandler.disable()
        _limit(resource.RLIMIT_CORE, 0)
        _limit(resource.RLIMIT_AS, _address_space() + bounds.memory_mb * 2**20)
        for name in names:
            _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + bounds.cpu_seconds)
            data = _answer(function, name) + b"\n"
            while data:
                data = data[os.write(pipe, data) :]
        code = 0
    finally:
        os._exit(code)


def _answer(function: Callable[[str], T], name: str) -> bytes:
    try:
        return msgspec.json.encode(_Answer(function(name)))
    except MemoryError:
        return msgspec.json.encode(_Answer[None](no_memory=True))
    except Exception:
        text = traceback.format_exc()[-5000:]
        return msgspec.json.encode(_Answer[None](error=text.encode("utf-8", "backslashreplace").decode()))


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _address_space() -> int:
    """Return the bytes of address space that this process has; more than any where /proc is missing."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - Path would import after the fork
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 2**40
