"""The file system that shows the files of checks, served by this process to other ones."""

import errno
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from course_utils.checks.core import FileActivity
from course_utils.grading.sandbox.handouts import fuse
from course_utils.grading.sandbox.handouts.file_server import FileServer
from course_utils.grading.sandbox.handouts.fuse import Operation, Request
from course_utils.grading.sandbox.isolation import namespaces

FILES = {"one.bin": bytes(range(250)) * 800, "sub/two.txt": b"two\n"}
Run = Callable[[str], FileActivity]


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[tuple[FileServer, Path]]:
    """A file system that is mounted for this process and its children; only root may, outside a sandbox."""
    place = tmp_path_factory.mktemp("mounted")
    try:
        device = fuse.mount(str(place))
    except OSError as refusal:
        pytest.skip(str(refusal))
    server = FileServer(device, Path("/proc"))
    if not server.supported():
        server.close()
        pytest.skip("this kernel cannot map uncached files")
    yield server, place
    server.close()
    subprocess.run(["umount", place], check=True)


@pytest.fixture
def run(server) -> Run:
    """Run code in another process, in which `folder` names the files; return what it did."""
    server, place = server

    def run_code(code: str) -> FileActivity:
        server.place("files", FILES)
        setup = f"import mmap, os\nfolder = {str(place / 'files')!r}\none = folder + '/one.bin'\n"
        subprocess.run([sys.executable, "-c", setup + code], check=True)
        return FileActivity(server.events())

    return run_code


def test_contents_are_those_of_the_files(run):
    run("""
assert open(one, "rb").read() == bytes(range(250)) * 800
assert open(folder + "/sub/two.txt").read() == "two\\n"
assert sorted(os.listdir(folder)) == ["one.bin", "sub"]
assert mmap.mmap(os.open(one, os.O_RDONLY), 0, access=mmap.ACCESS_READ)[-1] == 249
assert os.stat(one).st_size == 200_000
""")


CHANGES = ("open(one, 'ab')", "os.link(one, one + '2')", "os.rename(one, one + '2')", "os.unlink(one)")


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_can_be_changed(run, change):
    refused = f"    assert error.errno == {errno.EROFS}\n"
    run(f"try:\n    {change}\nexcept OSError as error:\n{refused}else:\n    1 / 0\n")


def test_operations_are_counted_by_path_and_descriptor(run):
    found = run("""
inside = os.open(folder, os.O_RDONLY)
os.listdir(inside)
os.stat("one.bin", dir_fd=inside)
os.access(one, os.R_OK)
handle = os.open(one, os.O_RDONLY)
open(f"/proc/self/fd/{handle}").close()
""")
    assert found.count("list") == {"": 1}
    assert found.count("open") == {"one.bin": 2}
    assert found.count("look")["one.bin"] == 2


def test_only_reads_at_the_shared_position_share_a_handle(run):
    code = """
handle = os.open(one, os.O_RDONLY)
def read():
    READ
read()
if os.fork() == 0:
    read()
    os._exit(0)
os.wait()
"""
    assert run(code.replace("READ", "os.read(handle, 10)")).shared()
    assert run(code.replace("READ", "os.read(handle, 10); os.lseek(handle, 0, 0)")).shared()
    assert run(code.replace("READ", "os.preadv(handle, [bytearray(10)], -1, os.RWF_HIPRI)")).shared()
    sendfile = "assert os.sendfile(os.memfd_create('x'), handle, 0, 10) == 10"
    assert not run(code.replace("READ", sendfile)).shared()
    assert not run(code.replace("READ", "os.pread(handle, 10, 0)")).shared()
    assert not run(code.replace("READ", "mmap.mmap(handle, 0, access=mmap.ACCESS_READ)[5]")).shared()
    assert not run(code.replace("READ", "os.read(os.open(one, os.O_RDONLY), 10)")).shared()


def test_threads_are_one_process_and_programs_another(run):
    found = run("""
import subprocess, threading
thread = threading.Thread(target=lambda: open(one).close())
thread.start()
thread.join()
os.stat(one)
subprocess.run(["cat", folder + "/sub/two.txt"], stdout=subprocess.DEVNULL)
""")
    assert len(found.processes()) == 2


def test_handle_is_closed_with_its_last_descriptor(run):
    found = run("""
first, second = os.open(one, os.O_RDONLY), os.open(one, os.O_RDONLY)
os.read(first, 1), os.read(second, 1)
copy = os.dup(first)
os.close(first)
os.close(second)
os.path.exists(folder + "/mark-closed")
os.close(copy)
""")
    process = found.processes()[0]
    assert found.before("mark-closed").left_open(process) == ["one.bin"]
    assert found.left_open(process) == []


def test_memory_and_transfers_are_measured_at_marks(run):
    found = run("""
os.path.exists(folder + "/mark-measure-1")
kept = b"x" * 10_000_000
open(one, "rb").read(10_000), open(os.devnull, "wb").write(bytes(100_000))
os.path.exists(folder + "/mark-measure-2")
""")
    used = found.used_between("mark-measure-1", "mark-measure-2")
    assert 9_000_000 < used.copied < 12_000_000
    assert (10_000, 100_000) <= (used.read, used.written) <= (60_000, 120_000)


def test_sizes_of_reads_are_known(run):
    found = run("open(one, 'rb').close()\nopen(folder + '/sub/two.txt', 'rb', 0).read(3)")
    assert (found.bytes_read("one.bin"), found.bytes_read("sub/two.txt")) == (0, 3)


def test_record_that_is_full_says_so(server, run, monkeypatch):
    monkeypatch.setattr("course_utils.grading.sandbox.handouts.file_server.MAX_EVENTS", 20)
    run("for number in range(9): os.path.exists(one)")
    assert server[0].report().complete
    assert len(run("for number in range(30): os.path.exists(one)").events) == 20
    assert not server[0].report().complete


def test_files_placed_later_replace_those_before(server):
    server, place = server
    server.place("later", {"x": b"x"})
    done = subprocess.run(["ls", place], capture_output=True, text=True, check=True)
    assert done.stdout == "later\n"


def test_kernel_without_uncached_maps_is_not_supported():
    init = Request(Operation.INIT, 1, 0, 0, b"".join(n.to_bytes(4, "little") for n in (7, 31, 0, 0xFFFF)))
    assert fuse.init_reply(init) is None


def test_mounting_where_it_is_forbidden_leaves_no_descriptor(tmp_path, monkeypatch):
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(namespaces, "mount", refuse)
    before = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(OSError, match=r"no|No such file|Permission"):
        fuse.mount(str(tmp_path))
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_report_ends_although_processes_go_on_asking(monkeypatch):
    """Processes that a submission has left behind can ask faster than they are answered."""
    request, requests = Request(Operation.STATFS, 1, 1, 0, b""), itertools.count()

    def receive(device: int) -> Request:
        assert next(requests) < 100_000
        return request

    device, writer = os.pipe()
    server = FileServer(device, Path("/proc"))
    monkeypatch.setattr(fuse, "receive", receive)
    monkeypatch.setattr(fuse, "reply", lambda *_: None)
    assert server.report().events == []
    server.close()
    os.close(writer)
