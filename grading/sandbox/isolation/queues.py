"""What the sockets and pipes of a submission hold, read from outside of it: memory that no process maps.

Named pipes do not count.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import re
import select
import socket
import struct
import termios
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# How much is counted for what cannot be read from outside: a descriptor in flight through a socket,
# connections that wait to be accepted, a queue of datagrams. The most that a pipe holds.
HIDDEN_BYTES = 2**20
_PIDFD_OPEN, _PIDFD_GETFD = 434, 438  # everywhere; a Python built for older kernels lacks `os.pidfd_open`
_SO_DOMAIN = 39
_WITH_SIZE = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)
_IN_FLIGHT = re.compile(r"^scm_fds:\s+(\d+)", re.MULTILINE)
_libc = ctypes.CDLL(None, use_errno=True)


def queued_bytes(pids: Iterable[int]) -> int:
    """Return the bytes that wait in sockets and pipes of processes, as far as their descriptors reach.

    Args:
        pids: The processes; without the right to inspect one, it counts as if it had no descriptors.
    """
    sizes: dict[str, int] = {}
    for pid in pids:
        with suppress(OSError), _closing(_call(_PIDFD_OPEN, pid, 0)) as process:
            for descriptor in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):  # closed meanwhile
                    kind = str(descriptor.readlink())
                    if kind.startswith(("pipe:", "socket:")) and kind not in sizes:
                        sizes[kind] = _held(process, descriptor, kind.startswith("socket:"))
    return sum(sizes.values())


def _held(process: int, descriptor: Path, is_socket: bool) -> int:
    with _closing(_call(_PIDFD_GETFD, process, int(descriptor.name), 0)) as copy:
        if not is_socket:
            return _ioctl_int(copy, termios.FIONREAD)
        info = (descriptor.parents[1] / "fdinfo" / descriptor.name).read_text()
        in_flight = sum(int(number) for number in _IN_FLIGHT.findall(info))
        return _held_by_socket(copy) + in_flight * HIDDEN_BYTES


def _held_by_socket(descriptor: int) -> int:
    hidden = HIDDEN_BYTES if _is_readable(descriptor) else 0
    # With a family and a type, whatever they are, Python does not ask for them, which some sockets refuse.
    one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, descriptor)
    try:
        if one.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return hidden
        if one.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) not in (
            socket.SOCK_STREAM,
            socket.SOCK_SEQPACKET,
        ):
            return hidden  # the kernel tells the size of the first datagram only
        received = _ioctl_int(descriptor, termios.FIONREAD)
        if one.getsockopt(socket.SOL_SOCKET, _SO_DOMAIN) == socket.AF_UNIX:
            return received  # what one end has sent is what the other one receives
        return received + _ioctl_int(descriptor, termios.TIOCOUTQ)
    except OSError:
        return hidden
    finally:
        one.detach()


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return any(events & select.POLLIN for _, events in poll.poll(0))


def _ioctl_int(descriptor: int, request: int) -> int:
    size: int = struct.unpack("i", fcntl.ioctl(descriptor, request, struct.pack("i", 0)))[0]
    return size


@contextmanager
def _closing(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int) -> int:
    """Make a system call.

    Raises:
        OSError: The process is gone, or may not be inspected; or the kernel is older than 5.6.
    """
    result: int = _libc.syscall(number, *arguments)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return result
