"""A FUSE filesystem that passes everything on to another folder, and hides open files that are removed.

As libfuse does by default, and NFS: a file that is removed while it is open is renamed to `.fuse_hidden...`
until it is closed, so that its folder cannot be removed. The protocol is spoken directly, because libfuse is
missing on most machines. Needs Linux, root and /dev/fuse.
"""

import ctypes
import errno
import os
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HEADER, REPLY = struct.Struct("<IIQQIIII"), struct.Struct("<IiQ")
ATTRIBUTES = struct.Struct("<6Q10I")
MAX_WRITE = 1 << 17
ATOMIC_TRUNCATE, BIG_WRITES = 1 << 3, 1 << 5
SET_MODE, SET_SIZE, SET_HANDLE = 1, 8, 64
DEVICE = Path("/dev/fuse")


@contextmanager
def mounted(behind: Path, point: Path) -> Iterator[Path]:
    """Serve a folder at a mount point by a process of its own.

    Raises:
        OSError: It cannot be mounted here.
    """
    point.mkdir()
    server = subprocess.Popen([sys.executable, __file__, behind, point], stdout=subprocess.PIPE, text=True)
    try:
        if server.stdout.readline() != "ready\n":
            raise OSError("the FUSE server cannot mount; its reason stands on stderr")
        yield point
    finally:
        subprocess.run(["umount", "-l", point], capture_output=True, check=False)
        server.stdout.close()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


class Passthrough:
    """Answers the requests of the kernel, one after the other.

    Args:
        behind: The folder that holds the files.
    """

    def __init__(self, behind: str) -> None:
        self.paths = {1: behind}  # by node
        self.nodes = {behind: 1}
        self.open: dict[int, int] = {}  # node by descriptor
        self.hidden: set[str] = set()

    def node(self, path: str) -> int:
        if path not in self.nodes:
            self.nodes[path] = node = max(self.paths) + 1
            self.paths[node] = path
        return self.nodes[path]

    def moved(self, old: str, new: str) -> None:
        """Let the nodes of a path and of all below it follow a rename."""
        self.nodes.pop(new, None)
        for path in [path for path in self.nodes if path == old or path.startswith(f"{old}/")]:
            node = self.nodes.pop(path)
            self.nodes[new + path[len(old) :]] = node
            self.paths[node] = new + path[len(old) :]

    def inner(self, node: int, name: bytes) -> str:
        return f"{self.paths[node]}/{os.fsdecode(name.split(bytes(1))[0])}"

    def attributes(self, path: str) -> bytes:
        s = os.lstat(path)
        times = [s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns]
        return ATTRIBUTES.pack(
            *(s.st_ino, s.st_size, s.st_blocks),
            *(time // 10**9 for time in times),
            *(time % 10**9 for time in times),
            *(s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_rdev, 4096, 0),
        )

    def entry(self, path: str) -> bytes:
        attributes = self.attributes(path)
        return struct.pack("<4Q2I", self.node(path), 0, 0, 0, 0, 0) + attributes

    def opened(self, node: int, flags: int, mode: int = 0) -> bytes:
        handle = os.open(self.paths[node], flags & ~os.O_DIRECT & ~os.O_NOFOLLOW, mode)
        self.open[handle] = node
        return struct.pack("<Q2I", handle, 0, 0)

    def hide_if_open(self, path: str) -> bool:
        """Rename a file that is open instead of removing it; return whether it was."""
        node = self.nodes.get(path)
        if node not in self.open.values():
            return False
        hidden = f"{os.path.dirname(path)}/.fuse_hidden{node:08x}"  # noqa: PTH120
        os.rename(path, hidden)  # noqa: PTH104
        self.moved(path, hidden)
        self.hidden.add(hidden)
        return True

    # Each method answers the request of its number, given the node and the rest of the message.

    def do_1(self, node: int, body: bytes) -> bytes:  # LOOKUP
        return self.entry(self.inner(node, body))

    def do_3(self, node: int, body: bytes) -> bytes:  # GETATTR
        return struct.pack("<Q2I", 0, 0, 0) + self.attributes(self.paths[node])

    def do_4(self, node: int, body: bytes) -> bytes:  # SETATTR
        valid, _, handle, size, *_ = struct.unpack_from("<IIQQ", body)
        mode = struct.unpack_from("<I", body, 68)[0]
        if valid & SET_MODE:
            os.chmod(self.paths[node], stat.S_IMODE(mode))  # noqa: PTH101
        if valid & SET_SIZE:
            os.truncate(handle if valid & SET_HANDLE else self.paths[node], size)
        return self.do_3(node, body)

    def do_8(self, node: int, body: bytes) -> bytes:  # MKNOD
        path = self.inner(node, body[16:])
        os.mknod(path, struct.unpack_from("<I", body)[0])
        return self.entry(path)

    def do_9(self, node: int, body: bytes) -> bytes:  # MKDIR
        path = self.inner(node, body[8:])
        os.mkdir(path, struct.unpack_from("<I", body)[0])  # noqa: PTH102
        return self.entry(path)

    def do_10(self, node: int, body: bytes) -> bytes:  # UNLINK
        path = self.inner(node, body)
        if not self.hide_if_open(path):
            os.unlink(path)  # noqa: PTH108
            self.nodes.pop(path, None)
        return b""

    def do_11(self, node: int, body: bytes) -> bytes:  # RMDIR
        path = self.inner(node, body)
        os.rmdir(path)  # noqa: PTH106
        self.nodes.pop(path, None)
        return b""

    def do_12(self, node: int, body: bytes, names: int = 8) -> bytes:  # RENAME
        folder = struct.unpack_from("<Q", body)[0]
        old, new, *_ = body[names:].split(bytes(1))
        source, target = self.inner(node, old), self.inner(folder, new)
        self.hide_if_open(target)
        os.rename(source, target)  # noqa: PTH104
        self.moved(source, target)
        return b""

    def do_45(self, node: int, body: bytes) -> bytes:  # RENAME2
        return self.do_12(node, body, 16)

    def do_13(self, node: int, body: bytes) -> bytes:  # LINK
        path = self.inner(node, body[8:])
        os.link(self.paths[struct.unpack_from("<Q", body)[0]], path)
        return self.entry(path)

    def do_14(self, node: int, body: bytes) -> bytes:  # OPEN
        return self.opened(node, struct.unpack_from("<I", body)[0])

    def do_35(self, node: int, body: bytes) -> bytes:  # CREATE
        flags, mode = struct.unpack_from("<II", body)
        path = self.inner(node, body[16:])
        handle = os.open(path, (flags | os.O_CREAT) & ~os.O_DIRECT, mode)
        self.open[handle] = self.node(path)
        return self.entry(path) + struct.pack("<Q2I", handle, 0, 0)

    def do_15(self, node: int, body: bytes) -> bytes:  # READ
        return os.pread(*(struct.unpack_from("<QQI", body)[i] for i in (0, 2, 1)))

    def do_16(self, node: int, body: bytes) -> bytes:  # WRITE
        handle, offset, size = struct.unpack_from("<QQI", body)
        return struct.pack("<2I", os.pwrite(handle, body[40 : 40 + size], offset), 0)

    def do_17(self, node: int, body: bytes) -> bytes:  # STATFS
        s = os.statvfs(self.paths[1])
        numbers = (s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree)
        return struct.pack("<5Q4I24x", *numbers, s.f_bsize, s.f_namemax, s.f_frsize, 0)

    def do_18(self, node: int, body: bytes) -> bytes:  # RELEASE
        handle = struct.unpack_from("<Q", body)[0]
        os.close(handle)
        path = self.paths[self.open.pop(handle)]
        if path in self.hidden and self.nodes[path] not in self.open.values():
            os.unlink(path)  # noqa: PTH108
            self.hidden.discard(path)
        return b""

    def do_20(self, node: int, body: bytes) -> bytes:  # FSYNC
        os.fsync(struct.unpack_from("<Q", body)[0])
        return b""

    def do_27(self, node: int, body: bytes) -> bytes:  # OPENDIR
        return struct.pack("<Q2I", 0, 0, 0)

    def do_28(self, node: int, body: bytes) -> bytes:  # READDIR
        _, start, size = struct.unpack_from("<QQI", body)
        answer = b""
        for number, name in enumerate(sorted(os.listdir(self.paths[node]))):  # noqa: PTH208
            encoded = os.fsencode(name)
            record = struct.pack("<QQII", number + 2, number + 1, len(encoded), 0) + encoded
            record += bytes(-len(record) % 8)
            if number >= start and len(answer) + len(record) <= size:
                answer += record
            elif number >= start:
                break
        return answer

    def nothing(self, node: int, body: bytes) -> bytes:
        return b""

    do_25 = do_29 = do_30 = nothing  # FLUSH, RELEASEDIR, FSYNCDIR

    def do_26(self, node: int, body: bytes) -> bytes:  # INIT
        flags = struct.unpack_from("<4I", body)[3] & (ATOMIC_TRUNCATE | BIG_WRITES)
        return struct.pack("<4I2H2I2H8I", 7, 31, 1 << 17, flags, 12, 9, MAX_WRITE, 1, 0, 0, *[0] * 8)

    def serve(self, device: int) -> None:
        while True:
            try:
                message = os.read(device, MAX_WRITE + (1 << 16))
            except OSError as error:
                if error.errno == errno.ENODEV:  # unmounted
                    return
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                raise
            _, number, unique, node, *_ = HEADER.unpack_from(message)
            if number in (2, 36, 42):  # FORGET, INTERRUPT, BATCH_FORGET want no answer
                continue
            try:
                code, answer = 0, getattr(self, f"do_{number}")(node, message[HEADER.size :])
            except AttributeError:
                code, answer = errno.ENOSYS, b""
            except OSError as error:
                code, answer = error.errno, b""
            with suppress(FileNotFoundError):  # the request was interrupted
                os.write(device, REPLY.pack(REPLY.size + len(answer), -code, unique) + answer)


def main(behind: str, point: str) -> None:
    device = os.open(DEVICE, os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"passthrough", os.fsencode(point), b"fuse", 0, options.encode()):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    Passthrough(os.path.realpath(behind)).serve(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
