"""Counts from strace equal those of the counter."""

import subprocess
import sys
from dataclasses import replace

import pytest

import course_utils.data.zip_datasets  # noqa: F401 - so that importing torch is not counted
from course_utils.storage import strace
from course_utils.storage.io_counter import FileOps, count_operations

needs_strace = pytest.mark.skipif(bool(strace.why_not_traceable()), reason=strace.why_not_traceable())

EPOCHS = """
import sys
from pathlib import Path
from course_utils.data import JpegDataset, ZIPDataset
top = Path(sys.argv[1])
for dataset in (
    JpegDataset(top / "disk_transformed"),
    ZIPDataset(top / "zip_encoded/part0.zip", load_encoded=True),
    ZIPDataset(top / "zip/part0.zip"),
):
    for index in range(len(dataset)):
        dataset[index]
"""


@needs_strace
@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python 3.14 has larger buffers than the counter")
def test_counter_agrees_with_strace(image_set, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["", str(image_set)])
    with count_operations() as counter:
        exec(EPOCHS, {})
    seen = strace.trace([sys.executable, "-c", EPOCHS, image_set], under=image_set)
    # By descriptor, which the counter leaves out: Python up to 3.13 reads a whole file at once (labels, the
    # ends of the zips), and datasets note which file they have opened.
    assert replace(seen, stats=seen.stats - 7) == counter.total()


@needs_strace
def test_children_are_traced(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"12345")
    shell = f"cat {file}; (cat {file} &) ; wait"
    seen = strace.trace(["sh", "-c", shell], under=tmp_path)
    assert (seen.opens, seen.nbytes) == (2, 10)


@needs_strace
def test_failing_command_raises(tmp_path):
    with pytest.raises(subprocess.CalledProcessError):
        strace.trace(["false"], under=tmp_path)


def test_missing_strace_raises(monkeypatch, tmp_path):
    monkeypatch.setattr(strace.shutil, "which", lambda _: None)
    with pytest.raises(RuntimeError, match="strace is not installed"):
        strace.trace(["true"], under=tmp_path)


def test_log_lines_are_counted():
    lines = [
        'openat(AT_FDCWD</x>, "/data/a", O_RDONLY|O_CLOEXEC) = 3</data/a>',
        'newfstatat(3</data/a>, "", {st_mode=S_IFREG|0644, st_size=9, ...}, AT_EMPTY_PATH) = 0',
        'read(3</data/a>, "123456789", 4096) = 9',
        'read(3</data/a>, "", 4096)              = 0',
        'pread64(3</data/a>, "12"..., 100, 0) = 2',
        'openat(AT_FDCWD</x>, "/data", O_RDONLY|O_DIRECTORY|O_CLOEXEC) = 4</data>',
        'newfstatat(4</data>, "", {st_mode=S_IFDIR|0755, st_size=4096, ...}, AT_EMPTY_PATH) = 0',
        'openat(AT_FDCWD</x>, "/etc/passwd", O_RDONLY) = 5</etc/passwd>',
        "+++ exited with 0 +++",
    ]
    assert strace._count(lines, "/data") == FileOps(opens=1, stats=1, reads=3, listings=1, nbytes=11)
