"""Files of a check: placed, watched, counted."""

import os
from collections.abc import Iterator

import pytest

from course_utils.grading.sandbox.handouts.watched_folder import OTHER, WatchedFolder


@pytest.fixture
def watched(tmp_path) -> Iterator[WatchedFolder]:
    watched = WatchedFolder()
    watched.place(tmp_path / "files", {"a.zip": b"first", "b.zip": b"second"})
    yield watched
    watched.close()


def test_openings_by_all_processes_are_counted(watched, tmp_path):
    for _ in range(3):
        (tmp_path / "files" / "a.zip").read_bytes()
    os.system(f"cat {tmp_path}/files/b.zip > {os.devnull}")
    assert watched.opened() == {"a.zip": 3, "b.zip": 1}


def test_handles_that_stay_open_are_counted_when_read(watched, tmp_path):
    handles = []
    for _ in range(3):
        handles.append((tmp_path / "files" / "a.zip").open("rb"))
        handles[-1].read()
    assert watched.opened() == {"a.zip": 3}
    for handle in handles:
        handle.close()


def test_listing_is_counted_and_stat_is_not(watched, tmp_path):
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == ["a.zip", "b.zip"]
    assert (tmp_path / "files" / "a.zip").exists()
    assert watched.opened() == {"": 1}


def test_files_created_later_are_counted_together(watched, tmp_path):
    (tmp_path / "files" / "index").write_text("mine")
    assert watched.opened() == {OTHER: 1}


def test_counting_resets_the_counts(watched, tmp_path):
    (tmp_path / "files" / "a.zip").read_bytes()
    watched.opened()
    assert watched.opened() == {}


def test_link_in_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "files").symlink_to("elsewhere")
    watched = WatchedFolder()
    with pytest.raises(OSError, match="File exists"):
        watched.place(tmp_path / "files", {"a.zip": b""})
    watched.close()
    assert list((tmp_path / "elsewhere").iterdir()) == []
