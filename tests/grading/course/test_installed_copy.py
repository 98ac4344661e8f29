"""Grading refuses to mix two versions of the course."""

import shutil
from pathlib import Path

import pytest

import course_utils
from grading import cli
from grading.course import installed_copy
from grading.course.installed_copy import MixedVersionsError, require_same_version
from tests.grading.toy_course import make_course, submit


@pytest.fixture
def other(tmp_path, monkeypatch) -> Path:
    """A copy of the course that the environment holds, as on a site."""
    package = tmp_path / "site-packages" / "course_utils"
    here = Path(course_utils.__path__[0])
    shutil.copytree(here / "checks", package / "checks", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(here / "__init__.py", package)
    monkeypatch.setattr(course_utils, "__path__", [str(tmp_path / "clone" / "course_utils")])
    shutil.copytree(package, tmp_path / "clone" / "course_utils")
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r}); {installed_copy.COMMAND}"
    monkeypatch.setattr(installed_copy, "COMMAND", code)
    return package


def test_one_folder_is_one_version():
    require_same_version()


def test_an_equal_copy_is_the_same_version(other):
    require_same_version()


@pytest.mark.parametrize("change", ["edited", "added", "removed"])
def test_a_different_check_is_refused_and_named(other, change):
    path = other / "checks" / "jpeg_vs_zip" / "json_labels.py"
    if change == "edited":
        path.write_text(path.read_text() + "# new\n")
    elif change == "added":
        path = path.with_name("new_check.py")
        path.write_text("")
    else:
        path.unlink()
    with pytest.raises(MixedVersionsError, match=rf"{path.name} is one of 1 files that differ"):
        require_same_version()


def test_a_python_without_the_course_is_refused(monkeypatch):
    monkeypatch.setattr(installed_copy, "COMMAND", "import no_such_package")
    with pytest.raises(MixedVersionsError, match="cannot import"):
        require_same_version()


def test_grading_stops_without_a_mark(tmp_path, other, capsys):
    (other / "checks" / "__init__.py").write_text("# another version\n")
    course = make_course(tmp_path / "course")
    submit(course, "ann")
    assert cli.main(["grade", "--course", str(course.root)]) == 1
    assert "hold different versions" in capsys.readouterr().err
    assert not list(course.results.folder.rglob("*.json"))
