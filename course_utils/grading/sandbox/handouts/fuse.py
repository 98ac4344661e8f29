"""The kernel's FUSE protocol: mount a file system, decode requests, encode replies.

Only what a read-only file system needs. The numbers are those of `linux/fuse.h`, the same on all machines.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from course_utils.grading.sandbox.isolation import namespaces

DEVICE = Path("/dev/fuse")
BUFFER_BYTES = 1 << 16
MAX_READ = 1 << 20
_REQUEST = struct.Struct("<IIQQIIIHH")  # length, operation, unique, node, uid, gid, pid, and two not used
_REPLY = struct.Struct("<IiQ")  # length, error, unique
_INIT = struct.Struct("<IIIIHHIIHHI28x")
_INIT_FLAGS = struct.Struct("<IIIII")  # major, minor, read-ahead, flags, more flags
_ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
_ENTRY = struct.Struct("<QQQQII")
_MAX_PAGES, _EXTENDED, _MAP_DIRECT = 1 << 22, 1 << 30, 1 << 4
_DIRECT = 1  # each read of a program is a request, and nothing is cached
_LONG_AGO = 1_600_000_000


class Operation(IntEnum):
    """Operations that the kernel requests."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    OPEN = 14
    READ = 15
    STATFS = 17
    RELEASE = 18
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    INTERRUPT = 36
    BATCH_FORGET = 42


WITHOUT_REPLY = (Operation.FORGET, Operation.BATCH_FORGET, Operation.INTERRUPT)


@dataclass(frozen=True)
class Request:
    """A request of the kernel.

    Attributes:
        operation: Number of the operation.
        unique: Number of the request.
        node: The file or folder.
        thread: The thread that asks, numbered as in the process namespace that mounted; 0 for the kernel.
        data: The arguments.
    """

    operation: int
    unique: int
    node: int
    thread: int
    data: bytes

    def name(self) -> str:
        """Return the name that a LOOKUP asks for."""
        return os.fsdecode(self.data.partition(b"\0")[0])

    def handle(self) -> int:
        """Return the open file description of a READ, READDIR or RELEASE."""
        return int.from_bytes(self.data[:8], "little")

    def span(self) -> tuple[int, int]:
        """Return offset and size of a READ or READDIR."""
        offset, size = struct.unpack_from("<QI", self.data, 8)
        return offset, min(size, MAX_READ)


def mount(place: str) -> int:
    """Mount a file system and return the descriptor on which to serve it.

    Raises:
        OSError: The kernel has no FUSE, or this account may not use it.
    """
    device = os.open(DEVICE, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        options = f"fd={device},rootmode={stat.S_IFDIR:o},user_id=0,group_id=0,allow_other"
        flags = namespaces.MS_RDONLY | namespaces.MS_NOSUID | namespaces.MS_NODEV | namespaces.MS_NOEXEC
        namespaces.mount("handouts", place, "fuse", flags, options)
    except OSError:
        os.close(device)
        raise
    return device


def receive(device: int) -> Request | None:
    """Return the next request; None if none is waiting.

    Raises:
        OSError: The file system is no longer mounted.
    """
    while True:
        try:
            data = os.read(device, BUFFER_BYTES)
        except BlockingIOError:
            return None
        except (InterruptedError, FileNotFoundError):  # a process died before its request was read
            continue
        _, operation, unique, node, _, _, thread, *_ = _REQUEST.unpack_from(data)
        return Request(operation, unique, node, thread, data[_REQUEST.size :])


def reply(device: int, request: Request, data: bytes = b"", error: int = 0) -> None:
    """Answer a request, with an error number or with data."""
    try:
        header = _REPLY.pack(_REPLY.size + len(data), -error, request.unique)
        os.write(device, header + data)
    except OSError as problem:
        if problem.errno != errno.ENOENT:  # the process died while it waited
            raise


def init_reply(request: Request) -> bytes | None:
    """Return the reply to INIT; None if this kernel cannot map uncached files (before Linux 6.6)."""
    data = request.data + bytes(_INIT_FLAGS.size)
    major, minor, read_ahead, flags, more = _INIT_FLAGS.unpack_from(data)
    if major != 7 or not flags & _EXTENDED or not more & _MAP_DIRECT:
        return None
    wanted = _EXTENDED | (flags & _MAX_PAGES)
    return _INIT.pack(major, min(minor, 38), read_ahead, wanted, 12, 9, 4096, 1, 256, 0, _MAP_DIRECT)


def attributes(node: int, size: int, folder: bool) -> bytes:
    """Return the attributes of a file or folder that everybody may read and nobody may write."""
    mode = stat.S_IFDIR | 0o555 if folder else stat.S_IFREG | 0o444
    times = (_LONG_AGO,) * 3
    links = 2 if folder else 1
    return _ATTRIBUTES.pack(node, size, -(-size // 512), *times, 0, 0, 0, mode, links, 0, 0, 0, 4096, 0)


def entry_reply(node: int, found: bytes) -> bytes:
    """Return the reply to LOOKUP, which the kernel may not remember."""
    return _ENTRY.pack(node, 0, 0, 0, 0, 0) + found


def attributes_reply(found: bytes) -> bytes:
    """Return the reply to GETATTR, which the kernel may not remember."""
    return bytes(16) + found


def open_reply(handle: int, folder: bool) -> bytes:
    """Return the reply to OPEN or OPENDIR."""
    return struct.pack("<QIi", handle, 0 if folder else _DIRECT, 0)


def statfs_reply() -> bytes:
    """Return the reply to STATFS: a full disk."""
    return struct.pack("<QQQQQIII28x", 0, 0, 0, 0, 0, 4096, 255, 4096)


def directory_reply(entries: list[tuple[int, str, bool]], offset: int, size: int) -> bytes:
    """Return the part of a listing that starts at an offset and fits a size.

    Args:
        entries: Node, name and whether it is a folder.
        offset: Number of entries to leave out.
        size: Bytes at most.
    """
    listing = b""
    for place, (node, name, folder) in enumerate(entries[offset:], start=offset + 1):
        encoded = os.fsencode(name)
        kind = (stat.S_IFDIR if folder else stat.S_IFREG) >> 12
        part = struct.pack("<QQII", node, place, len(encoded), kind) + encoded
        part += bytes(-len(part) % 8)
        if len(listing) + len(part) > size:
            break
        listing += part
    return listing
