"""`notebooks/` equals what nbgrader generates from `solutions/`, and contains no answer."""

import filecmp
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters.base import NbGraderException

from course_utils.start_page import INDEX
from grading.nbgrader_plugins.release import (
    MINE,
    SUMS,
    EditedError,
    edited,
    generate,
    generate_release,
)
from tests.lessons.lesson import COURSE, Lesson, read

# Idioms of all datasets.
IDIOM = re.compile(r"self\.(\w+) = \1|return len\(self\.\w+\)")
REGION = re.compile(r"### BEGIN (SOLUTION|HIDDEN TESTS)\n(.*?)### END \1", re.DOTALL)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of what git tracks: somebody's term_config.py changes links and points."""
    course = tmp_path_factory.mktemp("release")
    shutil.copy(COURSE / "nbgrader_config.py", course)
    for name in ("solutions", "course_utils"):
        (course / name).symlink_to(COURSE / name)
    generate(course, course / "notebooks")
    return course / "notebooks"


def files(folder: Path) -> list[Path]:
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_release_equals_a_newly_generated_one(fresh: Path):
    published = COURSE / "notebooks"
    # JupyterLab's checkpoints and the start page of `make lab` are git-ignored.
    ignored = {".ipynb_checkpoints", INDEX}
    present = [path for path in files(published) if not ignored & {*path.parts}]
    assert present == files(fresh), "run `make release`"
    _, changed, _ = filecmp.cmpfiles(published, fresh, [str(path) for path in present], shallow=False)
    assert not changed, "edited by hand, or solutions/ has changed: run `make release`"


def secret_lines(lesson: Lesson) -> set[str]:
    """Lines of solutions and hidden tests that only an answer contains and the open parts do not show."""
    sources = [cell.source for cell in read(lesson.solution).cells]
    regions = [region for source in sources for _, region in REGION.findall(source)]
    shown = "\n".join(REGION.sub("", source) for source in sources)
    lines = {line.strip() for region in regions for line in region.splitlines()}
    specific = {line for line in lines if len(line) >= 20 and not IDIOM.fullmatch(line)}
    return {line for line in specific if line not in shown}


def test_no_secret_line_is_released(lesson: Lesson):
    released = "\n".join(cell.source for cell in read(lesson.release).cells)
    assert secret_lines(lesson)
    assert not [line for line in sorted(secret_lines(lesson)) if line in released]


def test_no_secret_line_is_in_course_utils(lesson: Lesson):
    package = "\n".join(path.read_text() for path in (COURSE / "course_utils").rglob("*.py"))
    # Shorter lines are idioms (`for batch in loader:`) that unrelated code shares.
    secrets = {line for line in secret_lines(lesson) if len(line) >= 32}
    assert not [line for line in sorted(secrets) if line in package]


def test_no_answer_to_a_question_is_released(lesson: Lesson):
    answers = [cell for cell in read(lesson.solution).cells if "answer" in cell.metadata.get("tags", [])]
    released = {cell.source for cell in read(lesson.release).cells}
    assert not [cell.source for cell in answers if cell.source in released]


def test_no_secret_line_is_in_files_beside_the_notebook(lesson: Lesson):
    beside = lesson.solution.parent.rglob("*")
    text = [path for path in beside if path.suffix in {".py", ".md", ".txt", ".json"}]
    secrets = secret_lines(lesson)
    assert not [path for path in text for line in secrets if line in path.read_text()]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one exercise that has been released once."""
    answer = new_code_cell("### BEGIN SOLUTION\nanswer = 42\n### END SOLUTION")
    answer.metadata.nbgrader = {"grade_id": "answer", "schema_version": 3, "grade": False, "solution": True}
    answer.metadata.nbgrader |= {"locked": False, "task": False}
    lesson = tmp_path / "solutions" / "01_answer"
    lesson.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[answer]), lesson / "01_answer.ipynb")
    shutil.copy(COURSE / "nbgrader_config.py", tmp_path)
    (lesson / "withdrawn.txt").touch()
    generate_release(tmp_path)
    (lesson / "withdrawn.txt").unlink()
    return tmp_path


def test_release_replaces_the_previous_one(course: Path):
    assert Path("01_answer/withdrawn.txt") in files(course / "notebooks")
    generate_release(course)
    assert files(course / "notebooks") == [Path("01_answer/01_answer.ipynb"), Path(SUMS)]
    assert "answer = 42" not in (course / "notebooks/01_answer/01_answer.ipynb").read_text()
    assert sorted(path.name for path in course.iterdir()) == ["nbgrader_config.py", "notebooks", "solutions"]


def test_release_keeps_the_folder_of_own_files(course: Path):
    generate_release(course)
    own = course / "notebooks" / MINE / "train.py"
    own.parent.mkdir()
    own.write_text("mine")
    generate_release(course)
    assert own.read_text() == "mine"
    assert MINE not in (course / "notebooks" / SUMS).read_text()


def test_refused_solution_keeps_the_previous_release(course: Path):
    [notebook] = (course / "solutions").rglob("*.ipynb")
    notebook.write_text(notebook.read_text().replace("### END SOLUTION", ""))
    before = (course / "notebooks" / SUMS).read_text()
    with pytest.raises(NbGraderException):
        generate_release(course)
    assert (course / "notebooks" / SUMS).read_text() == before
    assert not edited(course / "notebooks")


@pytest.mark.parametrize("name", ["01_answer/01_answer.ipynb", "01_answer/mine.zip", "thoughts.txt"])
def test_edited_file_is_overwritten_only_with_force(course: Path, name: str):
    work = course / "notebooks" / name
    work.write_text("hours of work")
    with pytest.raises(EditedError, match=name):
        generate_release(course)
    assert work.read_text() == "hours of work"
    generate_release(course, force=True)
    assert not work.exists() or "hours of work" not in work.read_text()


def test_digests_pass_sha256sum():
    command = ["sha256sum", "--check", "--strict", SUMS]
    done = subprocess.run(command, cwd=COURSE / "notebooks", capture_output=True)
    assert done.returncode == 0, done.stdout
