"""What the sockets and pipes of a submission hold, read from outside of it: memory that no process maps."""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import socket
import struct
import termios
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# How much is counted for what cannot be read from outside: a descriptor that is on its way through a socket,
# connections that wait to be accepted, a queue of datagrams. The most that a pipe holds.
HIDDEN_BYTES = 2**20
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438  # everywhere; a Python built for older kernels lacks `os.pidfd_open`
_SIOCOUTQ = termios.TIOCOUTQ
_IN_FLIGHT = re.compile(r"^scm_fds:\s+(\d+)", re.MULTILINE)
_libc = ctypes.CDLL(None, use_errno=True)


def queued_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that wait in sockets and pipes of processes, as far as their descriptors reach.

    Args:
        pids: The processes; without the right to inspect one, it counts as if it had no descriptors.
    """
    sizes: dict[str, int] = {}
    for pid in pids:
        with suppress(OSError):  # a process that ends meanwhile
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    kind = str(descriptor.readlink())
                    if kind.startswith(("pipe:", "socket:")) and kind not in sizes:
                        sizes[kind] = _held(pid, int(descriptor.name), kind.startswith("socket:"))
    return sum(sizes.values())


def _held(pid: int, descriptor: int, is_socket: bool) -> int:
    with _copy_of(pid, descriptor) as copy:
        if not is_socket:
            return _asked(copy, termios.FIONREAD)
        info = Path(f"/proc/{pid}/fdinfo/{descriptor}").read_text()
        in_flight = sum(int(number) for number in _IN_FLIGHT.findall(info))
        return _held_by_socket(copy) + in_flight * HIDDEN_BYTES


def _held_by_socket(descriptor: int) -> int:
    with socket.socket(fileno=os.dup(descriptor)) as one:
        if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return HIDDEN_BYTES
        received, sent = _asked(descriptor, termios.FIONREAD), _asked(descriptor, _SIOCOUTQ)
        queue = one.type in (socket.SOCK_DGRAM, socket.SOCK_RAW)
        return HIDDEN_BYTES if queue and received else received + sent


def _asked(descriptor: int, question: int) -> int:
    answer = fcntl.ioctl(descriptor, question, struct.pack("i", 0))
    size: int = struct.unpack("i", answer)[0]
    return size


@contextmanager
def _copy_of(pid: int, descriptor: int) -> Iterator[int]:
    """Duplicate a descriptor of another process into this one.

    Raises:
        OSError: The process is gone, or may not be inspected; or the kernel is older than 5.6.
    """
    process = _call(_PIDFD_OPEN, pid, 0)
    try:
        copy = _call(_PIDFD_GETFD, process, descriptor, 0)
    finally:
        os.close(process)
    try:
        yield copy
    finally:
        os.close(copy)


def _call(number: int, *arguments: int) -> int:
    result: int = _libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return result
