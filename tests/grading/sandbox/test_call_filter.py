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
print("io_uring_setup", ctypes.CDLL(None).syscall(425, 4, ctypes.create_string_buffer(120)))
"""
WITHOUT = """
import pathlib, shutil, socket, subprocess
pathlib.Path("data").write_bytes(bytes(100_000))
shutil.copy("data", "copy")
subprocess.run(["cp", "data", "copy2"], check=True)
one, other = socket.socketpair()
one.sendfile(open("data", "rb"), count=1000)
sizes = [pathlib.Path(name).stat().st_size for name in ("copy", "copy2")]
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
    assert run(REFUSED) == "sendfile 38\nsplice 38\ncopy_file_range 38\nio_uring_setup -1\n"


def test_programs_copy_files_without_them(run):
    assert run(WITHOUT) == "[100000, 100000] 1000\n"


def test_process_cannot_change_who_may_look_at_it(run):
    assert run(DUMPABLE) == "0 0\n"
