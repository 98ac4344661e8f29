"""Sanitising a submitted folder before nbgrader copies it."""

import os
from datetime import UTC, datetime

import pytest

from grading.submission.files import Submission
from grading.submission.folder_reader import MAX_NOTEBOOKS_BYTES, read_folder
from grading.submission.sanitize import NOTE, sanitize_folder


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "01_a"
    folder.mkdir()
    (folder / "01_a.ipynb").write_text("{}")
    return folder


def _kinds(folder):
    return [finding.kind for finding in Submission(folder, "ann", "01_a").findings]


def test_valid_folder_is_unchanged(folder):
    (folder / "timestamp.txt").write_text("2026-01-02 03:04:05.000000 UTC")
    for path in folder.iterdir():
        os.utime(path, (0, 0))
    sanitize_folder(folder, "01_a")
    assert sorted(path.name for path in folder.iterdir()) == ["01_a.ipynb", "timestamp.txt"]
    assert _kinds(folder) == []


def test_links_and_pipes_are_replaced_by_notes(folder):
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    os.mkfifo(folder / "pipe")
    sanitize_folder(folder, "01_a")
    assert sorted(path.name for path in folder.iterdir()) == ["01_a.ipynb", NOTE]
    assert _kinds(folder) == ["tampered"] * 3
    [original] = folder.parent.glob(".*.original-1")
    assert (original / "link").is_symlink()
    assert Submission(folder, "ann", "01_a").files() == {}


@pytest.mark.parametrize("stamp", [b"soon", b"\xff", b"9999-01-01 00:00:00 UTC"])
def test_invalid_time_stamp_is_replaced_by_the_files_newest(folder, stamp):
    (folder / "timestamp.txt").write_bytes(stamp)
    sanitize_folder(folder, "01_a")
    repaired = (folder / "timestamp.txt").read_text().removesuffix(" UTC")
    assert datetime.fromisoformat(repaired).year >= 2024
    assert _kinds(folder) == ["tampered"]


@pytest.mark.parametrize(
    ("stamp", "kinds"), [(b"", ["damaged"]), (bytes(30), ["damaged"]), (b"\xef\xbb\xbf%s UTC", [])]
)
def test_time_stamp_of_a_full_disk_or_an_editor_is_no_tampering(folder, stamp, kinds):
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S").encode()
    (folder / "timestamp.txt").write_bytes(stamp.replace(b"%s", now))
    sanitize_folder(folder, "01_a")
    assert _kinds(folder) == kinds


def test_folder_without_a_notebook_says_what_is_there(folder):
    (folder / "01_a.ipynb").unlink()
    (folder / "answers.zip").write_bytes(b"PK")
    sanitize_folder(folder, "01_a")
    sanitize_folder(folder, "01_a")
    assert [finding.what for finding in Submission(folder, "ann", "01_a").findings] == [
        "There is no notebook, only 'answers.zip'."
    ]


def test_large_outputs_cost_no_answers_nor_helpers(folder):
    (folder / "01_a.ipynb").write_bytes(b'{"outputs": "' + b"A" * (60 * 2**20) + b'"}')
    (folder / "helper.py").write_text("x = 1")
    submission = Submission(folder, "ann", "01_a")
    assert len(submission.notebook()) > 60 * 2**20
    assert submission.files() == {"helper.py": b"x = 1"}


def test_memory_for_notebooks_is_bounded(folder):
    for number in range(20):
        with (folder / f"{number:02}.ipynb").open("wb") as file:
            file.truncate(30 * 2**20)  # sparse: 30 MiB that take no space on the disk
    found = read_folder(folder)
    assert sum(map(len, found.files.values())) <= MAX_NOTEBOOKS_BYTES
    assert any("exceeds the size of a submission" in finding.what for finding in found.findings)


def test_single_renamed_notebook_gets_its_name_back(folder):
    (folder / "01_a.ipynb").rename(folder / "mine.ipynb")
    sanitize_folder(folder, "01_a")
    assert Submission(folder, "ann", "01_a").notebook() == b"{}"
    assert _kinds(folder) == ["damaged"]


def test_time_stamp_older_than_the_files_is_reported(folder):
    (folder / "timestamp.txt").write_text("2020-01-02 03:04:05.000000 UTC")
    sanitize_folder(folder, "01_a")
    sanitize_folder(folder, "01_a")
    [finding] = Submission(folder, "ann", "01_a").findings
    assert finding.kind == "suspicious"
    assert finding.what.startswith("'timestamp.txt' says 2020-01-02 03:04 UTC, but a file was written at 2")


def test_files_in_the_place_of_the_lessons_are_renamed(folder):
    (folder / "tiny").write_text("mine")
    (folder / "tiny.zip").mkdir()
    (folder / "tiny.zip" / "inside").write_text("mine")
    (folder / "labels.json").write_text("replaced when grading")
    sanitize_folder(folder, "01_a", ["tiny/a.jpg", "tiny.zip", "labels.json"])
    assert set(Submission(folder, "ann", "01_a").files()) == {
        "own-tiny",
        "own-tiny.zip/inside",
        "labels.json",
    }
    assert _kinds(folder) == ["damaged"] * 2


def test_helper_that_begins_with_a_dot_is_kept(folder):
    (folder / ".helper.py").write_text("x = 1")
    sanitize_folder(folder, "01_a")
    assert Submission(folder, "ann", "01_a").files() == {".helper.py": b"x = 1"}


def test_notebook_is_read_before_many_pictures(folder):
    for number in range(1200):
        (folder / f"{number}.png").write_bytes(b"x")
    assert Submission(folder, "ann", "01_a").notebook() == b"{}"


def test_sanitizing_is_idempotent(folder):
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "timestamp.txt").write_text("2020-01-02 03:04:05.000000 UTC")
    sanitize_folder(folder, "01_a")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    sanitize_folder(folder, "01_a")
    assert len(list(folder.parent.glob(".*.original-*"))) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
