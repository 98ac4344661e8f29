"""Count operations on real files and in real processes."""

import builtins
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.storage.io_counter import FileOps, count_operations, kernel_reads

CONTENT = b"0123456789abcdef" * 1000 + b"end"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "member.bin"
    path.write_bytes(CONTENT)
    return path


def counted(body):
    with count_operations() as counter:
        body()
    return counter.total()


def with_descriptor(path, use):
    fd = os.open(path, os.O_RDONLY)
    try:
        return use(fd)
    finally:
        os.close(fd)


def read_bytes(path):
    assert path.read_bytes() == CONTENT


def read_text(path):
    assert path.read_text() == CONTENT.decode()


def read_in_parts(path):
    with path.open("rb") as handle:
        assert handle.read(5) == CONTENT[:5]
        assert handle.read() == CONTENT[5:]


def read_unbuffered(path):
    with path.open("rb", buffering=0) as handle:
        assert handle.read(7) == CONTENT[:7]
        assert handle.read(7) == CONTENT[7:14]


def read_at_offsets(path):
    assert with_descriptor(path, lambda fd: os.pread(fd, 10, 16)) == CONTENT[16:26]


def read_into_buffers(path):
    assert with_descriptor(path, lambda fd: os.preadv(fd, [bytearray(4), bytearray(6)], 0)) == 10


def read_descriptor_as_file(path):
    with os.fdopen(os.open(path, os.O_RDONLY), "rb") as handle:
        assert handle.read() == CONTENT


SIZE = len(CONTENT)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (read_bytes, FileOps(opens=1, stats=1, reads=2, nbytes=SIZE)),
        (read_text, FileOps(opens=1, stats=1, reads=2, nbytes=SIZE)),
        (read_in_parts, FileOps(opens=1, stats=1, reads=3, nbytes=SIZE)),
        (read_unbuffered, FileOps(opens=1, stats=1, reads=2, nbytes=14)),
        (read_at_offsets, FileOps(opens=1, reads=1, nbytes=10)),
        (read_into_buffers, FileOps(opens=1, reads=1, nbytes=10)),
        (read_descriptor_as_file, FileOps(opens=1, stats=1, reads=2, nbytes=SIZE)),
        pytest.param(lambda path: path.stat(), FileOps(stats=1), id="stat"),
        pytest.param(os.path.exists, FileOps(stats=1), id="exists"),
        pytest.param(lambda path: list(path.parent.iterdir()), FileOps(listings=1), id="iterdir"),
        pytest.param(lambda path: list(os.scandir(path.parent)), FileOps(listings=1), id="scandir"),
        pytest.param(
            lambda path: path.with_name("new").write_text("x"), FileOps(opens=1, stats=1), id="write"
        ),
    ],
)
def test_file_access_is_counted_exactly(file, use, expected):
    assert counted(lambda: use(file)) == expected


@pytest.mark.skipif(kernel_reads() is None, reason="this kernel does not count reads")
@pytest.mark.parametrize(
    "use", [read_bytes, read_in_parts, read_unbuffered, read_at_offsets, read_into_buffers]
)
def test_reads_equal_those_of_the_kernel(file, use):
    with count_operations() as counter:
        before = kernel_reads()
        use(file)
        seen = kernel_reads() - before - 1
    assert counter.total().reads == seen


def test_original_functions_are_restored(file):
    originals = [builtins.open, io.open, os.open, os.stat, os.pread, os.scandir]
    with count_operations():
        assert builtins.open is not originals[0]
    with pytest.raises(ZeroDivisionError), count_operations():
        raise ZeroDivisionError
    assert [builtins.open, io.open, os.open, os.stat, os.pread, os.scandir] == originals


def test_open_errors_are_unchanged(file):
    with count_operations(), pytest.raises(FileNotFoundError):
        file.with_name("nowhere").read_bytes()
    with count_operations(), pytest.raises(IsADirectoryError):
        file.parent.read_bytes()


def test_text_mode_keeps_encoding_and_newlines(file):
    file.write_bytes("ä\r\nb\n".encode("latin-1"))
    with count_operations(), file.open(encoding="latin-1", newline="") as handle:
        assert (handle.mode, handle.name, handle.encoding) == ("r", str(file), "latin-1")
        assert list(handle) == ["ä\r\n", "b\n"]


def test_pipes_and_python_source_are_not_counted():
    def use_pipe_and_read_source():
        assert subprocess.run(["echo", "hello"], capture_output=True, check=True).stdout == b"hello\n"
        assert Path(os.__file__).read_text()

    assert counted(use_pipe_and_read_source) == FileOps()


def test_counters_can_be_nested(file):
    with count_operations() as outer:
        inner = counted(lambda: read_bytes(file))
        read_at_offsets(file)
    assert outer.total().reads == inner.reads + 1


# In a subprocess, because threads left by other tests may use files while this process waits.
KILLED_CHILD = """
import multiprocessing, os, signal, sys
from pathlib import Path
from course_utils.storage.io_counter import count_operations

def read_and_die():
    file.read_bytes()
    os.kill(os.getpid(), signal.SIGKILL)

file = Path(sys.argv[1])
with count_operations() as counter:
    child = multiprocessing.get_context("fork").Process(target=read_and_die)
    child.start()
    child.join()
    file.read_bytes()
print(child.exitcode, counter.total())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_operations_of_a_killed_child_are_counted(file):
    command = [sys.executable, "-c", KILLED_CHILD, file]
    output = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert output == f"-9 {FileOps(opens=2, stats=2, reads=4, nbytes=2 * SIZE)}\n"


def test_counter_can_be_read_while_counting(file):
    with count_operations() as counter:
        file.read_bytes()
        first = counter.total()
        file.read_bytes()
        assert counter.total() - first == first == counter.process_total() - first


def test_arithmetic_and_text_of_file_ops():
    one = FileOps(opens=2000, stats=2000, reads=6000, nbytes=45_200_000)
    assert one + one == one * 2
    assert one.operations == 10_000
    assert repr(FileOps(1, 2, 1, 1, 867)) == "1 open, 2 stats, 1 read, 1 listing, 867 bytes"
    assert one.for_users(500) == (
        "Your job × 500 users, one epoch each:\n"
        "1,000,000 opens, 1,000,000 stats, 3,000,000 reads, 22.6 GB;\n"
        "5,000,000 operations that one file system has to serve."
    )
    assert "90 epochs each:\n90,000,000 opens" in one.for_users(500, epochs=90)
