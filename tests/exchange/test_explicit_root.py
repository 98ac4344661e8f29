"""nbgrader's own exchange commands, with a folder for the exchange and without one."""

import getpass
import os
import shutil
from pathlib import Path

import pytest
from nbgrader.apps import NbGraderAPI, NbGraderApp
from nbgrader.exchange import ExchangeFactory
from traitlets.config import Config

from course_utils.exchange.explicit_root import NO_EXCHANGE, UNSET, ExchangeReleaseAssignment
from grading import cli
from grading.site.templates import student_settings
from tests.lessons.lesson import COURSE

LESSON = "01_lesson"
SYSTEM_FOLDER = Path("/usr/local/share/nbgrader")
COMMANDS = (
    ("release_assignment", LESSON),
    ("fetch_assignment", LESSON),
    ("list",),
    ("list", "--inbound"),
    ("list", "--remove"),
    ("submit", LESSON),
    ("collect", LESSON),
    ("release_feedback", LESSON),
    ("fetch_feedback", LESSON),
)


@pytest.fixture
def course(tmp_path: Path, monkeypatch) -> Path:
    """A folder with this course's configuration; nbgrader's other files of this account are elsewhere."""
    folder = tmp_path / "course"
    for name in ("solutions", "notebooks"):
        (folder / name / LESSON).mkdir(parents=True)
        (folder / name / LESSON / f"{LESSON}.ipynb").write_text("{}")
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("JUPYTER_CONFIG_PATH", raising=False)
    return folder


def set_root(course: Path, root: Path) -> None:
    (course / "term_config.py").write_text(f"get_config().Exchange.root = {str(root)!r}\n")


def nbgrader(folder: Path, monkeypatch, *words: str) -> int:
    """Run one of nbgrader's commands in this process, and return its exit status."""
    monkeypatch.chdir(folder)
    app = NbGraderApp.subcommands[words[0]][0]()
    try:
        app.initialize(list(words[1:]))
        app.start()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        app.reset()
    return 0


def content(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "JUPYTER" not in path.parts[len(folder.parts)]}


def test_every_command_of_the_exchange_is_tried():
    plugins = set(ExchangeFactory.class_trait_names(config=True)) - {"exchange"}
    assert {words[0] for words in COMMANDS} == plugins


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_without_a_root_a_command_says_what_to_set_and_changes_nothing(course, monkeypatch, capfd, words):
    before, system = content(course.parent), SYSTEM_FOLDER.exists()
    assert nbgrader(course, monkeypatch, *words) != 0
    assert content(course.parent) == before
    assert SYSTEM_FOLDER.exists() == system
    said = capfd.readouterr().err.splitlines()
    [first] = [line for line in said if "c.Exchange.root" in line]
    assert NO_EXCHANGE in first
    assert len(said) <= 2  # nbgrader adds that its command failed
    assert not [line for line in said if str(SYSTEM_FOLDER) in line]


def test_with_a_root_a_lesson_is_released_fetched_submitted_and_collected(course, monkeypatch, tmp_path):
    root, student = tmp_path / "exchange", tmp_path / "student"
    set_root(course, root)
    assert nbgrader(course, monkeypatch, "release_assignment", LESSON) == 0
    student.mkdir()
    shutil.copy(course / "nbgrader_config.py", student)
    shutil.copy(course / "term_config.py", student)
    assert nbgrader(student, monkeypatch, "fetch_assignment", LESSON) == 0
    assert nbgrader(student, monkeypatch, "list") == 0
    assert nbgrader(student, monkeypatch, "submit", LESSON) == 0
    assert nbgrader(course, monkeypatch, "collect", LESSON) == 0
    assert (course / "submitted" / getpass.getuser() / LESSON / f"{LESSON}.ipynb").is_file()


def test_a_students_clone_has_the_same_commands(course, monkeypatch, capfd):
    (course / "nbgrader_config.py").write_text(student_settings(COURSE))
    assert nbgrader(course, monkeypatch, "submit", LESSON) != 0
    assert "students hand in as their teacher says" in capfd.readouterr().err


def test_the_formgrader_shows_that_no_folder_is_set(course, monkeypatch):
    monkeypatch.chdir(course)
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course), "toy"
    config.ExchangeFactory.list = "course_utils.exchange.explicit_root.ExchangeList"
    config.ExchangeFactory.release_assignment = ExchangeReleaseAssignment
    api = NbGraderAPI(config=config)
    assert (api.exchange_missing, api.exchange_root) == (True, UNSET)
    result = api.release_assignment(LESSON)
    assert not result["success"]
    assert NO_EXCHANGE in result["log"]


@pytest.mark.parametrize("words", [["collect"], ["feedback", "--release"]], ids=" ".join)
def test_the_teachers_commands_say_it_once(course, capsys, monkeypatch, words):
    monkeypatch.chdir(course)  # the clone may hold a term_config.py of its own
    assert cli.main([*words, "--course", os.fspath(course)]) == 1
    assert capsys.readouterr().err == f"{NO_EXCHANGE}\n"
