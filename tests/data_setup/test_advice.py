"""What `make data` advises: it takes no `--out`, and a folder is chosen by COURSE_DATA."""

import errno
import os
import resource
import subprocess
import sys

import pytest

from data_setup import cli
from data_setup.cli import main
from data_setup.format.layout import FORMS


def test_forms_of_another_origin_lead_to_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    for form in FORMS:
        (tmp_path / form).mkdir()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert main(["photos", "--if-missing"]) == 1
    assert "another folder (COURSE_DATA=FOLDER, or --out)" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_folder_that_cannot_be_written_leads_to_another(number):
    assert "COURSE_DATA=FOLDER" in cli._explain(OSError(number, "refused", "/data"))


def test_a_file_in_the_place_of_the_set_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["photos", "--count", "5", "--out", str(tmp_path / "file")]) == 1
    assert "is a file, not a folder; choose another folder" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["verify", "info"])
def test_a_pipe_in_the_place_of_the_manifest_is_named(command, tmp_path, capsys):
    for form in FORMS:
        (tmp_path / form).mkdir()
    os.mkfifo(tmp_path / "manifest.json")
    assert main([command, "--out", str(tmp_path)]) == 1
    assert "manifest.json is no regular file" in capsys.readouterr().err


def test_a_limit_to_the_size_of_files_is_named(tmp_path):
    command = [sys.executable, "-m", "data_setup", "photos", "--count", "24", "--workers", "1", "--out"]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))  # noqa: E731
    done = subprocess.run([*command, str(tmp_path / "set")], preexec_fn=limit, capture_output=True, text=True)
    assert done.returncode == 1
    assert "ulimit -f" in done.stderr
