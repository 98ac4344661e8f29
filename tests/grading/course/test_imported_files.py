"""A mark depends on what its check imports: all of that, and no more."""

import subprocess
import sys
from pathlib import Path

import pytest

from grading.course.imported_files import imported_files
from tests.lessons.lesson import COURSE, LESSONS, Lesson
from tests.whole import few

LOADED = """
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
    importlib.import_module(module.name)
print(*(module.__file__ for name, module in sys.modules.items() if name.startswith("course_utils.")))
"""


def imported(lesson: str) -> set[str]:
    return {str(path.relative_to(COURSE)) for path in imported_files(f"course_utils.checks.{lesson}")}


def test_marks_depend_on_the_lesson_and_on_what_computes_its_truth():
    found = imported("gpu_pipelining")
    assert "course_utils/pipeline/event_model.py" in found
    assert "course_utils/checks/gpu_pipelining/predicted_throughput.py" in found
    assert "course_utils/checks/core/check.py" in found


def test_marks_do_not_depend_on_other_lessons_or_on_the_rest_of_a_room():
    found = imported("gpu_pipelining")
    assert not [name for name in found if name.startswith("course_utils/checks/input_pipeline")]
    assert "course_utils/pipeline/plot.py" not in found
    assert "course_utils/loading/fast_loader.py" not in found


def test_marks_depend_on_the_messages_of_a_check():
    assert "course_utils/checks/jpeg_vs_zip/messages.toml" in imported("jpeg_vs_zip")


@pytest.mark.parametrize("lesson", few(2, LESSONS, lambda lesson: lesson.name))
def test_everything_that_python_loads_counts(lesson: Lesson):
    package = f"course_utils.checks.{lesson.module_name}"
    done = subprocess.run([sys.executable, "-c", LOADED, package], capture_output=True, text=True, check=True)
    loaded = set(map(Path, done.stdout.split()))
    found = set(imported_files(package))
    parents = {path for path in loaded - found if path.name == "__init__.py"}
    assert found & loaded
    assert not loaded - found - parents


@pytest.mark.parametrize(
    "text", ["from . import near", "from .near import VALUE", "import top.near", "from top import VALUE"]
)
def test_each_way_to_import_is_followed(tmp_path, monkeypatch, text):
    files = {"top/__init__.py": "", "top/__init__.pyi": "from .near import VALUE as VALUE", "top/near.py": ""}
    for name, content in {**files, "top/checks.py": text, "top/far.py": ""}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "top" / "lesson").mkdir()
    (tmp_path / "top" / "lesson" / "one.py").write_text("import top.checks")
    names = {str(path.relative_to(tmp_path)) for path in imported_files("top.lesson")}
    assert names >= {"top/lesson/one.py", "top/checks.py", "top/near.py"}
    assert "top/far.py" not in names


def test_a_lesson_may_be_one_module(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "single").mkdir()
    (tmp_path / "single" / "one.py").write_text("import single.two")
    (tmp_path / "single" / "two.py").touch()
    assert [path.name for path in imported_files("single.one")] == ["one.py", "two.py"]


@pytest.mark.parametrize("name", ["no_such_package", "course_utils.no_such_module"])
def test_what_is_not_there_is_an_error(name):
    with pytest.raises((ModuleNotFoundError, FileNotFoundError)):
        imported_files(name)
