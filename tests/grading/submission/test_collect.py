"""Collecting from an exchange whose submissions their owners can change."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from grading.submission import collect
from grading.submission.folder_reader import MAX_FILE_BYTES
from grading.submission.sanitize import NOTE, STAMP_FORMAT

COURSE, LESSON = "feeding-the-gpu", "01_lesson"


@pytest.fixture
def submission(tmp_path):
    folder = tmp_path / "inbound" / "ann+01_lesson"
    (folder / "tiny").mkdir(parents=True)
    (folder / "answer.ipynb").write_text("mine")
    (folder / "tiny" / "labels.json").write_text("{}")
    return folder


def test_regular_files_of_the_owner_are_copied_with_their_folders(submission, tmp_path):
    collect.copy_own_files(submission, tmp_path / "copy")
    assert (tmp_path / "copy" / "answer.ipynb").read_text() == "mine"
    assert (tmp_path / "copy" / "tiny" / "labels.json").exists()


def test_links_pipes_and_large_files_are_skipped(submission, tmp_path):
    secret = tmp_path / "teacher"
    secret.mkdir()
    (secret / "gradebook.db").write_text("marks")
    (submission / "link").symlink_to(secret / "gradebook.db")
    (submission / "folder").symlink_to(secret)
    os.mkfifo(submission / "pipe")
    (submission / "large").write_bytes(bytes(MAX_FILE_BYTES + 1))
    collect.copy_own_files(submission, tmp_path / "copy")
    copied = sorted(p.name for p in (tmp_path / "copy").rglob("*") if p.is_file())
    assert copied == ["answer.ipynb", "labels.json", NOTE, "timestamp.txt"]
    note = (tmp_path / "copy" / NOTE).read_text()
    assert all(f"'{name}'" in note for name in ("link", "folder", "pipe", "large"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_file_of_another_user_is_skipped(submission, tmp_path):
    (submission / "hard").write_text("somebody else's")
    os.chown(submission / "hard", 12345, -1)
    collect.copy_own_files(submission, tmp_path / "copy")
    assert not (tmp_path / "copy" / "hard").exists()


def test_modification_time_set_by_the_owner_is_ignored(submission, tmp_path):
    for path in (submission, *submission.rglob("*")):
        os.utime(path, (0, 0))
    received, _ = collect.copy_own_files(submission, tmp_path / "copy")
    assert abs((datetime.now(UTC) - received).days) < 1


@pytest.fixture
def course(tmp_path):
    """Return functions that submit `LESSON` to an exchange and collect it, which returns log and folder."""
    root = tmp_path / "exchange"
    inbound = root / COURSE / "inbound"
    inbound.mkdir(parents=True)
    root.chmod(0o1777)
    user = collect._owner(inbound)
    config = Config()
    config.CourseDirectory.course_id, config.CourseDirectory.root = COURSE, str(tmp_path / "course")
    config.Exchange.root = str(root)
    config.ExchangeFactory.collect = collect.SafeCollect
    (tmp_path / "course" / "source" / LESSON).mkdir(parents=True)
    api = NbGraderAPI(config=config)

    def submit(stamp, owner=user):
        folder = inbound / f"{owner}+{LESSON}+{stamp}+abc"
        folder.mkdir()
        (folder / "answer.ipynb").write_text("mine")
        (folder / collect.STAMP).write_text(stamp)
        return folder

    def run_collect():
        result = api.collect(LESSON)
        assert result["success"], result
        return result["log"], Path(tmp_path / "course" / "submitted")

    return submit, run_collect


def now():
    return datetime.now(UTC).strftime(STAMP_FORMAT)


def test_honest_submission_is_collected_without_a_warning(course):
    submit, run_collect = course
    folder = submit(now())
    log, submitted = run_collect()
    user = folder.name.split("+")[0]
    assert (submitted / user / LESSON / "answer.ipynb").read_text() == "mine"
    assert "which counts" not in log


def test_forged_time_stamp_is_replaced_and_reported(course):
    submit, run_collect = course
    folder = submit("2001-01-01 00:00:00.000000 UTC")
    log, submitted = run_collect()
    stamp = (submitted / folder.name.split("+")[0] / LESSON / collect.STAMP).read_text()
    assert stamp.startswith(str(datetime.now(UTC).year))
    assert "which counts" in log


def test_submission_in_another_students_name_is_left_out_and_reported(course):
    submit, run_collect = course
    submit(now(), owner="bob")
    log, submitted = run_collect()
    assert not (submitted / "bob").exists()
    assert "left out" in log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_folder_in_another_students_name_does_not_hide_their_own(course):
    submit, run_collect = course
    own = submit(now())
    user = own.name.split("+")[0]
    for stamp in ("9999-01-01 00:00:00 UTC", "9" * 50, "soon", "1e99999999 UTC"):
        os.chown(submit(stamp, owner=user), 12345, -1)
    submit("9" * 80)
    log, submitted = run_collect()
    assert (submitted / user / LESSON / "answer.ipynb").read_text() == "mine"
    assert log.count("left out") == 5


def test_collecting_goes_on_after_a_submission_that_cannot_be_copied(course, monkeypatch):
    submit, run_collect = course
    submit(now())

    def fail(*_):
        raise RecursionError("too deep")

    monkeypatch.setattr(collect, "copy_own_files", fail)
    with pytest.raises(AssertionError, match="1 submissions were not collected"):
        run_collect()


def test_damaged_copy_of_an_earlier_collection_is_repaired(course):
    submit, run_collect = course
    user = submit("2001-01-01 00:00:00.000000 UTC").name.split("+")[0]
    _, submitted = run_collect()
    stamp = submitted / user / LESSON / collect.STAMP
    stamp.unlink()
    stamp.mkdir()
    run_collect()
    assert stamp.is_file()
