"""Which system calls a submission asks for in vain, and that programs do without them."""

import subprocess
import sys

import pytest

from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.steps import Step

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

REFUSED = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {"io_uring_setup": 425, "memfd_secret": 447, "clone3": 435}.items():
    print(name, libc.syscall(number, 0, 0), ctypes.get_errno())
"""
NAMESPACES = """
import ctypes, os, signal, subprocess
libc = ctypes.CDLL(None, use_errno=True)
user = 0x10000000
print(libc.unshare(user), ctypes.get_errno())
clone = {"x86_64": 56, "aarch64": 220}[os.uname().machine]
print(libc.syscall(clone, user | signal.SIGCHLD, 0, 0, 0, 0), ctypes.get_errno())
print(subprocess.run(["unshare", "-U", "true"], stderr=subprocess.DEVNULL).returncode)
"""
# What Python's own library asks the kernel for in ways of its own.
LIBRARY = {
    "sendfile": "print(os.sendfile(out, file, 0, 9), os.sendfile(out, file, None, 9))",
    "copy_file_range": "print(os.copy_file_range(file, out, 9))",
    "copies": "print([os.path.getsize(copy('data', copy.__name__))"
    " for copy in (shutil.copy, shutil.copy2, shutil.copyfile)])",
    "folder": "shutil.copytree('.', '/tmp/tree')\nprint(os.path.exists('/tmp/tree/data'))",
    "move": "shutil.copy('data', 'data2')\nshutil.move('data2', '/dev/shm/data2')\n"
    "print(os.path.getsize('/dev/shm/data2'))",
    "path": "path = pathlib.Path('data')\n"
    "print(path.copy('path').stat().st_size if hasattr(path, 'copy') else 100_000)",
    "socket": "one, other = socket.socketpair()\nprint(one.sendfile(open('data', 'rb'), count=1000))",
    "asyncio": "async def run():\n    done = await asyncio.create_subprocess_exec('true')\n"
    "    return await done.wait()\nprint(asyncio.run(run()))",
    "map": "print(len(mmap.mmap(file, 0, access=mmap.ACCESS_READ)))",
    "waits": "poll = select.epoll()\npoll.register(pipe[0])\n"
    "print(poll.poll(0), select.select([], [], [], 0))",
    "memory file": "print(os.ftruncate(os.memfd_create('x'), 10))",
    "shared memory": "block = shared_memory.SharedMemory(create=True, size=10)\nprint(block.size > 0)\n"
    "block.unlink()",
    "spawn": "print(os.waitpid(os.posix_spawn(shutil.which('true'), ['true'], {}), 0)[1])",
    "program": "print(subprocess.run(['cp', 'data', 'data3']).returncode)",
    "processes": "context = multiprocessing.get_context('fork')\nqueue = context.SimpleQueue()\n"
    "child = context.Process(target=queue.put, args=[5])\nchild.start()\nprint(queue.get())\nchild.join()",
    "threads": "thread = threading.Thread(target=print, args=['in a thread'])\nthread.start()\nthread.join()",
    "locks": "print(fcntl.flock(file, fcntl.LOCK_SH), fcntl.lockf(out, fcntl.LOCK_EX))",
    "holes": "print(os.posix_fallocate(out, 0, 100), os.posix_fadvise(file, 0, 0, os.POSIX_FADV_WILLNEED))",
    "temporary": "with tempfile.TemporaryFile() as new:\n    print(new.write(b'data'))",
    "randomness": "print(len(os.getrandom(8)), len(os.urandom(8)))",
}
BEGIN = """
import asyncio, fcntl, mmap, multiprocessing, os, pathlib, select, shutil
import socket, subprocess, tempfile, threading
from multiprocessing import shared_memory
pathlib.Path("data").write_bytes(bytes(100_000))
file, out, pipe = os.open("data", os.O_RDONLY), os.open("out", os.O_RDWR | os.O_CREAT), os.pipe()
"""
DUMPABLE = """
import ctypes
libc = ctypes.CDLL(None)
before = libc.prctl(3, 0, 0, 0, 0)
print(libc.prctl(4, 1 - before, 0, 0, 0), libc.prctl(3, 0, 0, 0, 0) - before)
"""


@pytest.fixture(scope="module")
def run():
    with Sandbox(KIND, ()) as sandbox:
        yield lambda source: sandbox.run([Step(0, source)], {})[0].text


def test_calls_that_nobody_could_count_or_filter_are_not_implemented(run):
    calls = ("io_uring_setup -1 38", "memfd_secret -1 38", "clone3 -1 38")
    assert run(REFUSED).splitlines() == list(calls)


def test_no_user_namespace_can_be_made(run):
    """In one, a submission could mount file systems that are neither limited nor watched."""
    assert run(NAMESPACES) == "-1 1\n-1 1\n1\n"


@pytest.mark.parametrize("what", LIBRARY)
def test_library_does_the_same_inside_and_outside(run, what, tmp_path):
    source = BEGIN + LIBRARY[what].replace("/tmp/tree", "../tree")
    command = [sys.executable, "-c", source]
    (tmp_path / "outside").mkdir()
    outside = subprocess.run(command, cwd=tmp_path / "outside", capture_output=True, text=True, check=True)
    assert run(BEGIN + LIBRARY[what]) == outside.stdout != ""


def test_process_cannot_change_who_may_look_at_it(run):
    assert run(DUMPABLE) == "0 0\n"
