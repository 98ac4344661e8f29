"""A lesson runs on a set of an older version that was adopted."""

import json
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from data_setup.cli import main
from tests.lessons.lesson import COURSE

LESSON = COURSE / "solutions/01_jpeg_vs_zip/01_jpeg_vs_zip.ipynb"


def forget(out):
    """Remove from a set what older versions did not write: the manifest, and the layout of raw pixels."""
    (out / "manifest.json").unlink()
    part = out / "zip/part0.zip"
    with zipfile.ZipFile(part) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members["dataset.json"] = json.dumps({"labels": json.loads(members["dataset.json"])["labels"]}).encode()
    with zipfile.ZipFile(part, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)


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
