"""What the recorder of file operations sees."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from course_utils.checks.core import FileRecorder, evidence
from course_utils.checks.core.file_events import FileActivity
from course_utils.checks.core.file_recorder import MAX_EVENTS, recording
from course_utils.system import in_child

Activity = Callable[[], FileActivity]


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.bin").write_bytes(bytes(200_000))
    return tmp_path


@pytest.fixture
def recorder(folder) -> Iterator[FileRecorder]:
    with recording(folder) as recorder:
        yield recorder


@pytest.fixture
def activity(recorder) -> Activity:
    return lambda: FileActivity(recorder.events())


def test_opens_lists_and_looks_are_counted_by_path(folder, activity):
    (folder / "sub" / "a.bin").read_bytes()
    list((folder / "sub").iterdir())
    assert (folder / "sub" / "a.bin").exists()
    assert not os.access(folder / "absent", os.R_OK)
    assert activity().count("open") == {"sub/a.bin": 1}
    assert activity().count("list") == {"sub": 1}
    assert activity().count("look") == {"sub/a.bin": 1, "absent": 1}


def test_files_elsewhere_do_not_count(folder, activity, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "b.bin"
    elsewhere.write_bytes(b"b")
    elsewhere.read_bytes()
    assert activity().events == []


def test_names_are_found_by_descriptor(folder, activity):
    descriptor = os.open(folder / "sub", os.O_RDONLY)
    os.listdir(descriptor)  # noqa: PTH208 - a descriptor
    os.stat("a.bin", dir_fd=descriptor)
    os.close(descriptor)
    assert activity().count("list") == {"sub": 1}
    assert activity().count("look") == {"sub/a.bin": 1}


def test_commands_count(folder, activity):
    subprocess.run(["true"], check=True)
    assert activity().count("run") == {"": 1}


@pytest.mark.parametrize("back", [False, True])
def test_handle_that_a_child_reads_at_the_shared_position_is_shared(folder, activity, back):
    def read() -> None:
        place = file.tell()
        file.read(10)
        if back:
            file.seek(place)

    with (folder / "sub" / "a.bin").open("rb", buffering=0) as file:
        read()
        in_child(read)
        [sharing] = activity().shared()
    assert (sharing.name, sharing.owner) == ("sub/a.bin", os.getpid())


def test_duplicated_descriptor_is_the_same_handle(folder, activity):
    with (folder / "sub" / "a.bin").open("rb") as file:
        file.read(10)
        with os.fdopen(os.dup(file.fileno()), "rb") as copy:
            in_child(copy.read, 10)
    assert activity().shared()


def test_positioned_reads_and_memory_maps_share_nothing(folder, activity):
    descriptor = os.open(folder / "sub" / "a.bin", os.O_RDONLY)
    mapped = np.memmap(folder / "sub" / "a.bin", mode="r")
    for read in (lambda: os.pread(descriptor, 10, 0), lambda: int(mapped[5])):
        read()
        in_child(read)
    os.close(descriptor)
    assert activity().shared() == []


def test_handle_is_left_open_until_its_process_closes_it(folder, activity):
    file = (folder / "sub" / "a.bin").open("rb")
    file.read(10)
    in_child(file.close)
    assert activity().left_open(os.getpid()) == ["sub/a.bin"]
    file.close()
    assert activity().left_open(os.getpid()) == []


def test_marks_divide_the_events(folder, recorder, activity):
    (folder / "sub" / "a.bin").read_bytes()
    recorder.mark("here")
    list(folder.iterdir())
    assert activity().marked("here") == os.getpid()
    assert activity().before("here").count("open", "list") == {"sub/a.bin": 1}
    assert activity().after("here").count("open", "list") == {"": 1}


def test_bytes_that_a_process_reads_and_writes_are_known_at_marks(folder, recorder, activity, tmp_path):
    recorder.mark("before")
    (tmp_path / "copy").write_bytes((folder / "sub" / "a.bin").read_bytes())
    recorder.mark("after")
    used = activity().used_between("before", "after")
    assert used is None or min(used) >= 200_000


def test_events_are_plain_data_and_not_without_end(folder, recorder):
    for _ in range(MAX_EVENTS + 1):
        recorder.record("look", "sub/a.bin")
    decoded = evidence.decode(evidence.encode({"files": recorder.events()}))
    assert len(decoded["files"]) == MAX_EVENTS


def test_functions_are_restored_and_open_files_still_work(folder):
    before = open, os.open, os.stat, os.read
    with recording(folder):
        file = (folder / "sub" / "a.bin").open("rb")
    assert (open, os.open, os.stat, os.read) == before
    assert len(file.read()) == 200_000
    file.close()
