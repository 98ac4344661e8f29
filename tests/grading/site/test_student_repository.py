"""The repository that students clone: complete, without solutions, and updated by `git pull`."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from grading.site.student_lock import student_lock
from grading.site.student_repository import (
    MARK,
    StudentRepositoryError,
    write_student_repository,
)
from tests.lessons.lesson import COURSE, LESSONS, OPTIONAL

IDENTITY = ("course", "course@example.org")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", folder, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def clone_course(folder: Path) -> Path:
    subprocess.run(["git", "clone", "-q", COURSE, folder], check=True)
    return folder


@pytest.fixture(scope="module", autouse=True)
def author():
    """Whoever commits, in the clones and in what is generated."""
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in zip(("NAME", "EMAIL"), IDENTITY, strict=True):
            patch.setenv(f"GIT_AUTHOR_{variable}", value)
            patch.setenv(f"GIT_COMMITTER_{variable}", value)
        yield


@pytest.fixture(scope="module")
def generated(tmp_path_factory) -> Path:
    """A repository that no test changes."""
    folder = tmp_path_factory.mktemp("generated")
    write_student_repository(clone_course(folder / "course"), folder / "students")
    return folder / "students"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return clone_course(tmp_path / "course")


@pytest.fixture
def repository(source: Path, tmp_path: Path) -> Path:
    write_student_repository(source, tmp_path / "students")
    return tmp_path / "students"


def solution_regions() -> set[str]:
    """The solutions, without white space."""
    found: set[str] = set()
    for lesson in LESSONS:
        for cell in json.loads(lesson.solution.read_text())["cells"]:
            code = "".join(cell["source"])
            regions = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", code, re.DOTALL)
            found |= {text for text in map(flat, regions) if len(text) > 60}
    return found


def flat(text: str) -> str:
    return "".join(text.split())


def test_it_holds_no_solution_answer_test_or_grading(generated):
    names = git(generated, "ls-files").splitlines()
    assert not [name for name in names if name.startswith(("solutions/", "tests/", "grading/"))]
    notebooks = [json.loads((generated / name).read_text()) for name in names if name.endswith(".ipynb")]
    released = [flat("".join("".join(cell["source"]) for cell in one["cells"])) for one in notebooks]
    regions = solution_regions()
    assert len(released) == len([*LESSONS, *OPTIONAL]) + 1  # the start page
    assert len(regions) > 15
    assert not [region for region in regions for text in released if region in text]


def test_every_lesson_and_all_that_it_imports_is_there(generated):
    for lesson in LESSONS:
        assert (generated / "notebooks" / lesson.name / f"{lesson.name}.ipynb").is_file()
    code = "import course_utils, data_setup.cli, course_utils.checks.core; print(course_utils.__path__)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=generated, check=True, capture_output=True, text=True)
    assert done.stdout == f"['{generated}/course_utils']\n"


def test_start_page_is_there_and_leads_to_every_lesson(generated):
    assert "notebooks/index.ipynb" in git(generated, "ls-files").splitlines()
    page = (generated / "notebooks" / "index.ipynb").read_text()
    for lesson in LESSONS:
        assert f"(<{lesson.name}/{lesson.name}.ipynb>)" in page


def test_its_jupyterlab_shows_students_no_tools_of_teachers(generated, tmp_path):
    """As `.make/venv.sh` installs it, and JupyterLab reads it."""
    (tmp_path / "labconfig").mkdir()
    shutil.copy(generated / ".make" / "page_config.json", tmp_path / "labconfig")
    assert "page_config.json" in (generated / ".make" / "venv.sh").read_text()
    code = "from jupyterlab.commands import get_app_info; print(*get_app_info().get('disabled', ()))"
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "JUPYTER_CONFIG_PATH": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    for tool in ("create-assignment", "formgrader", "course-list", "assignment-list"):
        assert f"@jupyter/nbgrader:{tool}" in done.stdout
    assert "@jupyter/nbgrader:validate" not in done.stdout


def test_assistants_are_told_what_exists(generated):
    page = (generated / "AGENTS.md").read_text()
    places = re.findall(r"(?:notebooks|course_utils)/[\w/.]+\w", page)
    places = [place for place in places if "my_files" not in place]  # made by the first lesson
    assert {"notebooks/01_jpeg_vs_zip", "course_utils/checks"} <= set(places)
    assert all((generated / place).exists() for place in places), places
    assert re.search(r"^lab:", (generated / "Makefile").read_text(), re.MULTILINE)


def test_its_lock_leaves_out_what_only_tests_need(generated):
    lock = (generated / "requirements.txt").read_text()
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
        "sphinx",
    }
    assert set(lock.splitlines()) < set((COURSE / "requirements.txt").read_text().splitlines())


def test_packages_for_other_systems_stay_in_the_lock():
    lock = "appnope==0.1.4 ; sys_platform == 'darwin'\npytest==9.2.0\npip-only-elsewhere==1.0\n"
    project = {
        "dependencies": ["numpy"],
        "optional-dependencies": {"formats": [], "tokens": [], "test": ["pytest"]},
    }
    assert student_lock(lock, project).split() == lock.replace("pytest==9.2.0\n", "").split()


def test_its_make_offers_what_a_student_does(generated, monkeypatch):
    for variable in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of the make that runs these tests
        monkeypatch.delenv(variable, raising=False)
    told = subprocess.run(["make", "help"], cwd=generated, check=True, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in told.splitlines()] == [
        "help", "lab", "data", "update", "packages", "clean", "submit", "feedback",
    ]  # fmt: skip
    refused = subprocess.run(["make", "lab", "PORT=abc"], cwd=generated, capture_output=True, text=True)
    assert "PORT=abc is not a port" in refused.stderr


def test_a_second_call_commits_only_changes(source, repository, tmp_path):
    assert "already" in write_student_repository(source, repository)
    student = tmp_path / "student"
    subprocess.run(["git", "clone", "-q", repository, student], check=True)
    notebook = source / "notebooks" / LESSONS[0].name / f"{LESSONS[0].name}.ipynb"
    notebook.write_text(notebook.read_text().replace("## Recap", "## In short"))
    (source / "course_utils" / "paths.py").unlink()
    git(source, "commit", "-qam", "A newer version")
    write_student_repository(source, repository)
    assert len(git(repository, "log", "--oneline").splitlines()) == 2
    git(student, "pull", "-q")
    assert not (student / "course_utils" / "paths.py").exists()


def settings_of(folder: Path) -> Config:
    loader = PyFileConfigLoader("nbgrader_config.py", path=str(folder))
    return loader.load_config()


def test_its_configuration_names_course_exchange_and_folder_and_a_later_call_keeps_them(source, tmp_path):
    repository = tmp_path / "students"
    write_student_repository(source, repository)
    assert "root" not in settings_of(repository).Exchange
    for exchange in ("/shared/o'exchange", ""):
        write_student_repository(source, repository, exchange)
        settings = settings_of(repository)
        assert settings.CourseDirectory.course_id == "feeding-the-gpu"
        assert settings.Exchange.root == "/shared/o'exchange"
        assert settings.Exchange.assignment_dir == str(repository / "notebooks")


def test_a_teacher_who_has_not_told_git_a_name_can_write_it(source, tmp_path, monkeypatch):
    for variable in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_AUTHOR_{variable}")
        monkeypatch.delenv(f"GIT_COMMITTER_{variable}")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    assert "committed version" in write_student_repository(source, tmp_path / "students")
    assert git(tmp_path / "students", "log", "--format=%an") == "course"


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
    for edited in ("README.md", "course_utils/new_module.py"):
        (source / edited).write_text("edited by hand")
        with pytest.raises(StudentRepositoryError, match="commit them first"):
            write_student_repository(source, tmp_path / "again")
        assert not (tmp_path / "again").exists()
        git(source, "stash", "--include-untracked")


def test_files_of_a_term_in_the_clone_do_not_stop_it(source, repository):
    (source / "students.csv").write_text("id\nann\n")
    assert "already" in write_student_repository(source, repository)


def test_the_version_is_marked(generated):
    assert (generated / MARK).read_text().strip() in (COURSE / "pyproject.toml").read_text()
