"""Files of a check, laid out and watched."""

import os
from collections.abc import Iterator

import pytest

from course_utils.grading.sandbox.watched_folder import OTHER, WatchedFolder


@pytest.fixture
def given(tmp_path) -> Iterator[WatchedFolder]:
    given = WatchedFolder(tmp_path / "given", {"a.zip": b"first", "b.zip": b"second"})
    yield given
    given.close()


def test_each_opening_counts_whoever_opens(given, tmp_path):
    for _ in range(3):
        (tmp_path / "given" / "a.zip").read_bytes()
    os.system(f"cat {tmp_path}/given/b.zip > {os.devnull}")
    assert given.opened() == {"a.zip": 3, "b.zip": 1}


def test_handles_that_stay_open_count_where_they_are_read(given, tmp_path):
    handles = []
    for _ in range(3):
        handles.append((tmp_path / "given" / "a.zip").open("rb"))
        handles[-1].read()
    assert given.opened() == {"a.zip": 3}
    for handle in handles:
        handle.close()


def test_a_listing_counts_and_a_look_does_not(given, tmp_path):
    assert sorted(path.name for path in (tmp_path / "given").iterdir()) == ["a.zip", "b.zip"]
    assert (tmp_path / "given" / "a.zip").exists()
    assert given.opened() == {"": 1}


def test_a_file_of_the_students_own_is_another(given, tmp_path):
    (tmp_path / "given" / "index").write_text("mine")
    assert given.opened() == {OTHER: 1}


def test_what_a_count_returned_is_not_returned_again(given, tmp_path):
    (tmp_path / "given" / "a.zip").read_bytes()
    given.opened()
    assert given.opened() == {}


def test_a_link_in_the_place_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "given").symlink_to("elsewhere")
    with pytest.raises(OSError, match="File exists"):
        WatchedFolder(tmp_path / "given", {"a.zip": b""})
    assert list((tmp_path / "elsewhere").iterdir()) == []
