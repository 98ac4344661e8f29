"""All versions of `train.py` train alike: same samples in the same order, same network at the end."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from course_utils.train_script.diff import changed
from course_utils.train_script.versions import LESSONS, change, source, write

RESULT = re.compile(r"(\d+% right, samples [0-9a-f]{8})$", re.MULTILINE)


def test_the_script_is_short():
    assert source().count("\n") <= 90
    assert all(source(after).count("\n") <= 125 for after in LESSONS)


def test_there_is_a_change_for_each_lesson():
    assert len({source(), *map(source, LESSONS)}) == len(LESSONS) + 1
    assert changed(source("03"), change("05"), "05 without the elective 04")
    with pytest.raises(ValueError, match="choose one of 00, 01"):
        change("07")


def test_a_script_that_is_there_is_kept(tmp_path):
    path = write(tmp_path / "my_files")
    path.write_text("mine")
    assert write(tmp_path / "my_files") == path
    assert path.read_text() == "mine"
    assert write(tmp_path / "my_files", after="01").read_text() == source("01")


@pytest.mark.proof
def test_each_version_sees_the_same_samples_and_learns_the_same(tmp_path, lesson_data, monkeypatch, capsys):
    """The given script draws its order from the global generator, so that its samples are others."""
    monkeypatch.chdir(tmp_path)
    options = [str(lesson_data), "--images", "40", "--epochs", "2"]
    results = {}
    for after in LESSONS:
        train = load(write(tmp_path, after))
        monkeypatch.setattr(train, "WORKERS", {}, raising=False)
        monkeypatch.setattr(sys, "argv", ["train.py", *options])
        train.main()
        (tmp_path / "checkpoint.pt").unlink()
        results[after] = RESULT.findall(capsys.readouterr().out)
    for after in ("02", "05"):  # with workers
        command = [sys.executable, write(tmp_path, after), *options]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        (tmp_path / "checkpoint.pt").unlink()
        results[f"{after}, with workers"] = RESULT.findall(done.stdout)
    assert len(results["00"]) == 2
    assert all(found == results["00"] for found in results.values()), results


def load(script: Path) -> ModuleType:
    """Return the script as a module, without running it."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
