"""Updates of real clones: `make update`, and nbgitpuller on a Hub."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.update.repository import UpdateError, merge_driver, update_clone

LESSON = "notebooks/00_lesson/00_lesson.ipynb"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cell(name: str, source: str, **metadata) -> dict:
    return {"cell_type": "code", "id": name, "metadata": metadata, "source": source, "outputs": []}


def write(folder: Path, *cells: dict, name: str = LESSON) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    )


def sources(folder: Path, name: str = LESSON) -> list[str]:
    return [one["source"] for one in json.loads((folder / name).read_text())["cells"]]


ANSWER = {"nbgrader": {"grade_id": "b", "solution": True}}


@pytest.fixture(autouse=True)
def author(monkeypatch):
    """The teacher commits by these; students have no name in git."""
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "course")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "course@example.org")


@pytest.fixture
def course(tmp_path) -> Path:
    """The repository that the teacher pushes to."""
    folder = tmp_path / "course"
    folder.mkdir()
    git(folder, "init", "-q", "--initial-branch=main")
    write(folder, cell("a", "1 + 1"), cell("b", "# YOUR CODE HERE", **ANSWER))
    (folder / ".gitattributes").write_text("*.ipynb merge=notebook\n")
    (folder / "help.txt").write_text("old\n")
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", "Version 1")
    return folder


@pytest.fixture
def clone(course, tmp_path) -> Path:
    """A student's clone; the student has run the lesson and written an answer."""
    folder = tmp_path / "student"
    subprocess.run(["git", "clone", "-q", course, folder], check=True)
    ran = cell("a", "1 + 1") | {"outputs": [{"output_type": "stream", "name": "stdout", "text": "2"}]}
    write(folder, ran, cell("b", "x = 1", **ANSWER))
    return folder


def new_version(course: Path) -> None:
    write(course, cell("a", "2 + 2"), cell("new", "3"), cell("b", "# YOUR CODE HERE", **ANSWER))
    git(course, "commit", "-qam", "Version 2")


def test_a_lesson_that_was_run_gets_the_new_version_and_keeps_its_answers(course, clone):
    new_version(course)
    update = update_clone(clone)
    assert sources(clone) == ["2 + 2", "3", "x = 1"]
    assert update.notebooks == [LESSON]
    assert not git(clone, "status", "--porcelain")


def test_the_work_before_the_update_stays_in_the_history(course, clone):
    before = (clone / LESSON).read_text()
    new_version(course)
    update = update_clone(clone)
    assert git(clone, "show", f"{update.commit}:{LESSON}") == before.strip()


def test_nothing_new_changes_nothing(clone):
    before = (clone / LESSON).read_text()
    assert update_clone(clone).commit is None
    assert (clone / LESSON).read_text() == before
    assert git(clone, "status", "--porcelain")


def test_two_updates_after_one_another(course, clone):
    new_version(course)
    update_clone(clone)
    write(course, cell("a", "4 + 4"), cell("b", "# YOUR CODE HERE", **ANSWER))
    git(course, "commit", "-qam", "Version 3")
    update_clone(clone)
    assert sources(clone) == ["4 + 4", "x = 1"]


def test_a_student_who_commits_is_updated_too(course, clone):
    git(clone, "commit", "-qam", "my answer")
    new_version(course)
    update_clone(clone)
    assert sources(clone) == ["2 + 2", "3", "x = 1"]


def test_another_file_that_both_changed_is_the_new_one_and_named(course, clone):
    (clone / "help.txt").write_text("mine\n")
    (course / "help.txt").write_text("new\n")
    new_version(course)
    update = update_clone(clone)
    assert (clone / "help.txt").read_text() == "new\n"
    assert update.replaced == ["help.txt"]
    assert git(clone, "show", f"{update.commit}:help.txt") == "mine"


def test_a_lesson_that_the_course_removed_stays_with_its_answers(course, clone):
    git(course, "rm", "-q", LESSON)
    git(course, "commit", "-qm", "Version 2")
    update_clone(clone)
    assert sources(clone) == ["1 + 1", "x = 1"]


def test_a_lesson_that_the_student_removed_comes_back(course, clone):
    (clone / LESSON).unlink()
    new_version(course)
    update_clone(clone)
    assert sources(clone) == ["2 + 2", "3", "# YOUR CODE HERE"]


def test_a_notebook_that_cannot_be_read_is_set_aside(course, clone):
    (clone / LESSON).write_text("<<<<<<< HEAD\n")
    new_version(course)
    [copy] = update_clone(clone).set_aside
    assert (clone / copy).read_text() == "<<<<<<< HEAD\n"
    assert sources(clone) == ["2 + 2", "3", "# YOUR CODE HERE"]


def test_a_new_lesson_under_the_name_of_a_students_own_notebook_keeps_both(course, clone):
    name = "notebooks/01_own/01_own.ipynb"
    write(clone, cell("mine", "my notes"), name=name)
    write(course, cell("c", "new lesson"), name=name)
    git(course, "add", "--all")
    new_version(course)
    update_clone(clone)
    assert sources(clone, name) == ["my notes", "new lesson"]


def test_an_untracked_file_in_the_way_stops_the_update_and_is_named(course, clone):
    (clone / "extra.txt").write_text("mine")
    (course / "extra.txt").write_text("new")
    git(course, "add", "--all")
    new_version(course)
    with pytest.raises(UpdateError, match=r"extra\.txt"):
        update_clone(clone)
    assert (clone / "extra.txt").read_text() == "mine"
    assert sources(clone) == ["1 + 1", "x = 1"]


def test_large_files_of_a_student_are_not_committed(course, clone):
    (clone / "my_data.bin").write_bytes(bytes(1000))
    new_version(course)
    update_clone(clone)
    assert git(clone, "status", "--porcelain") == "?? my_data.bin"


@pytest.mark.parametrize("broken", ["no clone", "no upstream", "no server"])
def test_what_cannot_be_updated_says_why_and_stays(broken, course, clone, tmp_path):
    new_version(course)
    if broken == "no clone":
        clone = tmp_path / "unzipped"
        clone.mkdir()
    elif broken == "no upstream":
        git(clone, "checkout", "-q", "-b", "mine")
    else:
        course.rename(tmp_path / "moved")
    reasons = {"no clone": "not a clone", "no upstream": "follows no other", "no server": "did not answer"}
    with pytest.raises(UpdateError, match=reasons[broken]):
        update_clone(clone)
    if broken != "no clone":
        assert sources(clone) == ["1 + 1", "x = 1"]


def test_the_command_says_what_it_did(course, clone):
    new_version(course)
    command = [sys.executable, "-m", "course_utils.update", "--clone", clone]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert f"{LESSON}: merged cell by cell" in told
    again = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert again == "This is the newest version of the course.\n"


# nbgitpuller does not close the pipes of the git commands that it has read.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_nbgitpuller_keeps_answers_where_git_knows_the_driver(course, clone, monkeypatch):
    """As on a Hub, whose reference configuration sets these variables."""
    pull = pytest.importorskip("nbgitpuller.pull")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "merge.notebook.driver")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", merge_driver())
    new_version(course)
    for _ in pull.GitPuller(str(course), str(clone), branch="main").pull():
        pass
    assert sources(clone) == ["2 + 2", "3", "x = 1"]
