"""A lesson runs on a set of an older version that was adopted."""

import os
import shutil
import subprocess
import sys

import pytest

from data_setup.cli import main
from tests.data_setup.faults.scenarios import forget
from tests.lessons.lesson import COURSE

LESSON = COURSE / "solutions/01_jpeg_vs_zip/01_jpeg_vs_zip.ipynb"


@pytest.mark.proof
def test_lesson_runs_on_an_adopted_set(lesson_data, tmp_path):
    out = shutil.copytree(lesson_data, tmp_path / "set")
    forget(out)
    assert main(["adopt", "--out", str(out)]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval-lax", "-m", "", LESSON],
        cwd=COURSE,
        env={**os.environ, "COURSE_DATA": str(out)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
