"""Which system calls a submission asks for in vain, and that programs do without them."""

import pytest

from course_utils.grading.sandbox.client import Sandbox
from course_utils.grading.sandbox.isolation import backends
from course_utils.grading.sandbox.steps import Step

try:
    KIND = backends.choose()
except backends.NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)

REFUSED = """
import ctypes, os
file, pipe = os.open("data", os.O_RDWR | os.O_CREAT), os.pipe()
os.write(file, b"some data")
calls = {
    "sendfile": lambda: os.sendfile(pipe[1], file, 0, 4),
    "splice": lambda: os.splice(file, pipe[1], 4, 0),
    "copy_file_range": lambda: os.copy_file_range(file, os.memfd_create("copy"), 4, 0),
}
for name, call in calls.items():
    try:
        call()
    except OSError as error:
        print(name, error.errno)
libc = ctypes.CDLL(None, use_errno=True)
io_setup = {"x86_64": 206, "aarch64": 0}[os.uname().machine]
for name, number in {"io_uring_setup": 425, "io_setup": io_setup, "memfd_secret": 447, "clone3": 435}.items():
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
WITHOUT = """
import pathlib, shutil, socket, subprocess, threading
pathlib.Path("data").write_bytes(bytes(100_000))
shutil.copy("data", "copy")
subprocess.run(["cp", "data", "copy2"], check=True)
one, other = socket.socketpair()
thread = threading.Thread(target=pathlib.Path("data3").write_bytes, args=[bytes(100_000)])
thread.start(), thread.join()
one.sendfile(open("data", "rb"), count=1000)
sizes = [pathlib.Path(name).stat().st_size for name in ("copy", "copy2", "data3")]
print(sizes, len(other.recv(2000)))
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


def test_calls_that_read_files_in_other_ways_are_not_implemented(run):
    calls = ("sendfile 38", "splice 38", "copy_file_range 38", "io_uring_setup -1 38", "io_setup -1 38")
    assert run(REFUSED).splitlines() == [*calls, "memfd_secret -1 38", "clone3 -1 38"]


def test_no_user_namespace_can_be_made(run):
    """In one, a submission could mount file systems that are neither limited nor watched."""
    assert run(NAMESPACES) == "-1 1\n-1 1\n1\n"


def test_programs_copy_files_without_them(run):
    assert run(WITHOUT) == "[100000, 100000, 100000] 1000\n"


def test_process_cannot_change_who_may_look_at_it(run):
    assert run(DUMPABLE) == "0 0\n"
