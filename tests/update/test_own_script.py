"""An update brings what the course changed into the student's `train.py`, and never loses a line of it."""

from course_utils.train_script.versions import VERSIONS, source
from course_utils.update.own_script import PAGE, SCRIPT, update_script
from course_utils.update.repository import update_clone
from tests.update.test_repository import author, clone, course, git  # noqa: F401

BEFORE = VERSIONS.read_text()
AFTER = BEFORE.replace("default=400", "default=500")


def script(folder, text):
    path = folder / SCRIPT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_own_changes_stay_beside_those_of_the_course(tmp_path):
    mine = script(tmp_path, source("03"))
    assert "with what the course changed" in update_script(tmp_path, BEFORE, AFTER)
    assert mine.read_text() == source("03").replace("default=400", "default=500")
    assert (mine.parent / "train.before_update_1.py").read_text() == source("03")


def test_a_conflict_leaves_the_script(tmp_path):
    mine = script(tmp_path, source().replace("default=400", "default=64"))
    assert "yours, as it was" in update_script(tmp_path, BEFORE, AFTER)
    assert "default=64" in mine.read_text()
    assert len(list(mine.parent.iterdir())) == 1


def test_without_a_change_or_a_script_nothing_is_said(tmp_path):
    assert update_script(tmp_path, BEFORE, AFTER) == ""
    mine = script(tmp_path, source())
    assert update_script(tmp_path, BEFORE, BEFORE) == update_script(tmp_path, "", AFTER) == ""
    assert mine.read_text() == source()


def test_an_update_of_a_clone_updates_the_script(course, clone):  # noqa: F811
    for text in (BEFORE, AFTER):
        page = course / PAGE
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text)
        git(course, "add", "--all")
        git(course, "commit", "-qm", "A version")
        if text == BEFORE:
            update_clone(clone)
            mine = script(clone, source("01"))
            (clone / ".git" / "info" / "exclude").write_text("my_files/\n")
    assert update_clone(clone).script.endswith("as it was: train.before_update_1.py")
    assert mine.read_text() == source("01").replace("default=400", "default=500")
