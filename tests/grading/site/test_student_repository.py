"""The repository that students clone: complete, without solutions, and updated by `git pull`."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils.grading.site.student_repository import (
    MARK,
    StudentRepositoryError,
    student_lock,
    write_student_repository,
)
from tests.lessons.lesson import COURSE, LESSONS

IDENTITY = {"user.name": "course", "user.email": "course@example.org"}


def git(folder: Path, *arguments: str) -> str:
    options = [word for key, value in IDENTITY.items() for word in ("-c", f"{key}={value}")]
    done = subprocess.run(
        ["git", *options, "-C", folder, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def source(tmp_path: Path, monkeypatch) -> Path:
    """A clone of the course; commits in it and in what is generated have an author."""
    for variable, value in zip(("NAME", "EMAIL"), IDENTITY.values(), strict=True):
        monkeypatch.setenv(f"GIT_AUTHOR_{variable}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{variable}", value)
    clone = tmp_path / "course"
    subprocess.run(["git", "clone", "-q", COURSE, clone], check=True)
    return clone


@pytest.fixture
def repository(source: Path, tmp_path: Path) -> Path:
    write_student_repository(source, tmp_path / "students")
    return tmp_path / "students"


def solution_lines() -> set[str]:
    """The lines of all solutions that a student could not have from elsewhere."""
    lines: set[str] = set()
    for lesson in LESSONS:
        for cell in json.loads(lesson.solution.read_text())["cells"]:
            source = "".join(cell["source"])
            for region in re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source, re.DOTALL):
                lines |= {line.strip() for line in region.splitlines() if len(line.strip()) > 50}
    return lines


def test_it_holds_no_solution_answer_test_or_grading(repository):
    names = git(repository, "ls-files").splitlines()
    assert not [name for name in names if name.startswith(("solutions/", "tests/", "course_utils/grading/"))]
    texts = [
        (repository / name).read_text()
        for name in names
        if name.startswith("notebooks/") and name.endswith("b")
    ]
    lines = solution_lines()
    assert len(lines) > 20
    assert not [line for line in lines for text in texts if json.dumps(line)[1:-1] in text]


def test_every_lesson_and_all_that_it_imports_is_there(repository):
    for lesson in LESSONS:
        assert (repository / "notebooks" / lesson.name / f"{lesson.name}.ipynb").is_file()
    code = (
        "import course_utils.checks.input_pipeline, course_utils.pipeline, course_utils.measure, data_setup"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=repository, check=True, capture_output=True, text=True
    )
    assert done.stderr == ""


def test_its_lock_leaves_out_what_only_tests_need(repository):
    lock = (repository / "requirements.txt").read_text()
    names = {line.partition("==")[0] for line in lock.splitlines()}
    assert {"torch", "torchvision", "jupyterlab", "nbgrader", "h5py"} <= names
    assert not names & {
        "pytest",
        "hypothesis",
        "playwright",
        "jupyterhub",
        "mypy",
        "ruff",
        "nbval",
        "pre-commit",
    }
    assert set(lock.splitlines()) < set((COURSE / "requirements.txt").read_text().splitlines())


def test_packages_for_other_systems_stay_in_the_lock():
    lock = "appnope==0.1.4 ; sys_platform == 'darwin'\npytest==9.2.0\npip-only-elsewhere==1.0\n"
    project = {"dependencies": ["numpy"], "optional-dependencies": {"formats": [], "test": ["pytest"]}}
    assert student_lock(lock, project).split() == lock.replace("pytest==9.2.0\n", "").split()


def test_its_make_offers_what_a_student_does(repository):
    told = subprocess.run(["make", "help"], cwd=repository, check=True, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in told.splitlines()] == ["help", "lab", "data", "clean"]
    refused = subprocess.run(["make", "lab", "PORT=abc"], cwd=repository, capture_output=True, text=True)
    assert "PORT=abc is not a port" in refused.stderr


def test_a_second_call_commits_only_changes(source, repository, tmp_path):
    assert "already" in write_student_repository(source, repository)
    student = tmp_path / "student"
    subprocess.run(["git", "clone", "-q", repository, student], check=True)
    notebook = source / "notebooks" / LESSONS[0].name / f"{LESSONS[0].name}.ipynb"
    notebook.write_text(notebook.read_text().replace("## Summary", "## In short"))
    (source / "course_utils" / "paths.py").unlink()
    git(source, "commit", "-qam", "A newer version")
    write_student_repository(source, repository)
    assert len(git(repository, "log", "--oneline").splitlines()) == 2
    git(student, "pull", "-q")
    assert not (student / "course_utils" / "paths.py").exists()


def test_other_files_are_never_touched(source, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(StudentRepositoryError, match="holds other files"):
        write_student_repository(source, other)
    assert [file.name for file in other.iterdir()] == ["thesis.txt"]


def test_uncommitted_changes_stop_it(source, repository, tmp_path):
    (repository / "README.md").write_text("edited by hand")
    with pytest.raises(StudentRepositoryError, match="commit or remove them"):
        write_student_repository(source, repository)
    (source / "README.md").write_text("edited by hand")
    with pytest.raises(StudentRepositoryError, match="commit them first"):
        write_student_repository(source, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_the_version_is_marked(repository):
    assert (repository / MARK).read_text().strip() in (COURSE / "pyproject.toml").read_text()
