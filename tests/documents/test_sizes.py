"""The sizes that documents state are those in the code, and true of this environment and its data."""

import importlib.util
import math
import re
import sys
from pathlib import Path

import pytest

from course_utils.paths import data_dir
from data_setup.cli import PHOTOS_MB
from tests.lessons.lesson import COURSE

README, CONTRIBUTING = COURSE / "README.md", COURSE / "CONTRIBUTING.md"
STUDENT = COURSE / "grading/site/student_readme.md"
TEACHER = COURSE / "book/teachers/pages/before_the_course.md"
ALL, CPU = re.findall(r"size=([\d.]+)", (COURSE / ".make/venv.sh").read_text())
FREE = math.ceil(float(ALL) + PHOTOS_MB / 1000)


@pytest.mark.parametrize(
    ("page", "stated"),
    [
        (README, f"{ALL} GB in `.venv`"),
        (CONTRIBUTING, f"`.venv` ({ALL} GB)"),
        (README, f"{FREE} GB of free space"),
        (STUDENT, f"{FREE} GB of free space"),
        (TEACHER, f"{FREE} GB otherwise"),
        (STUDENT, f"download.pytorch.org: {CPU} GB"),
        (README, f"{PHOTOS_MB} MB in `data/`"),
    ],
)
def test_page_states_the_size_in_the_code(page: Path, stated: str):
    assert stated in " ".join(page.read_text().split())


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


@pytest.mark.slow
@pytest.mark.skipif(
    not importlib.util.find_spec("nvidia") or not (Path(sys.prefix) / ".complete").is_file(),
    reason="not an environment that `make` installed with the libraries of GPUs",
)
def test_environment_takes_the_stated_space():
    assert size(Path(sys.prefix)) / 1e9 == pytest.approx(float(ALL), rel=0.1)


def test_data_take_the_stated_space():
    if len(list((data_dir() / "disk_transformed").iterdir())) not in range(2000, 2003):
        pytest.skip("not the default set")
    assert size(data_dir().resolve()) / 1e6 == pytest.approx(PHOTOS_MB, rel=0.03)
