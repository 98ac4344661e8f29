import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest

from data_setup.cli import main
from tests.data_setup.file_content import files_of

COUNT = 40


def make(out, *options):
    return main(["photos", "--count", str(COUNT), "--out", str(out), "--workers", "1", *options])


@contextmanager
def mounted(folder, megabytes):
    """Mount a small tmpfs on a folder; skip the test without permission to mount."""
    options = f"size={int(megabytes * 1000)}k"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"mounting a small tmpfs needs root: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", folder], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs exists only on Linux")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_command_reports_full_disk_and_resumes_when_there_is_space(photo_set, tmp_path, capsys, workers):
    # Enough space for the raw pixels, so that the command starts, but not for everything.
    with mounted(tmp_path, 8.4):
        assert make(tmp_path, "--workers", workers) == 1
        message = capsys.readouterr().err
        assert "full" in message
        assert "run the same command again to resume" in message
        assert [path.name for path in tmp_path.iterdir()] == [".unfinished"]
        remount(tmp_path, "size=20m")
        assert make(tmp_path, "--workers", workers) == 0
        assert files_of(tmp_path) == files_of(photo_set)


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs exists only on Linux")
def test_too_little_space_is_reported_before_anything_is_made(tmp_path, capsys):
    with mounted(tmp_path, 5):
        assert make(tmp_path / "set") == 1
        assert "needs 8 MB for the raw pixels alone" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="tmpfs exists only on Linux")
def test_read_only_filesystem_is_reported(tmp_path, capsys):
    with mounted(tmp_path, 20):
        (tmp_path / "notes.txt").write_text("mine")
        remount(tmp_path, "ro")
        assert make(tmp_path / "set") == 1
        message = capsys.readouterr().err
        assert "set cannot be written (Read-only file system)" in message
        assert "--out" in message
        assert files_of(tmp_path) == {"notes.txt": b"mine"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_write_permission_is_reported(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert make(tmp_path / "set") == 1
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--seed", "1"], ["--count", "41"], ["--shards", "2"]])
def test_finished_set_with_other_options_is_not_overwritten(photo_set, capsys, options):
    before = files_of(photo_set)
    assert make(photo_set, *options) == 1
    message = capsys.readouterr().err
    assert "photographs (seed 0, count 40, shards 1)" in message
    assert f"{options[0].strip('-')} {options[1]}" in message
    assert files_of(photo_set) == before


def test_finished_set_from_another_source_is_not_overwritten(photo_set, tmp_path, capsys):
    source = photo_set / "disk_transformed"
    labels = source / "validation_labels_10k.txt"
    before = files_of(photo_set)
    assert main(["imagenet", str(source), "--labels", str(labels), "--out", str(photo_set)]) == 1
    message = capsys.readouterr().err
    assert "holds photographs" in message
    assert "you asked for collection" in message
    assert files_of(photo_set) == before


@pytest.mark.parametrize("form", ["disk_transformed", "zip_encoded", "zip"])
def test_files_without_a_manifest_are_not_overwritten(tmp_path, capsys, form):
    (tmp_path / form).mkdir()
    (tmp_path / form / "part0.zip").write_bytes(b"mine")
    assert make(tmp_path) == 1
    assert f"already holds {form} without a manifest.json" in capsys.readouterr().err
    assert files_of(tmp_path) == {f"{form}/part0.zip": b"mine"}


def test_finished_set_is_not_made_again(photo_set, capsys):
    times = {path: path.stat().st_mtime_ns for path in photo_set.rglob("*")}
    assert make(photo_set) == 0
    assert "already holds the set" in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in photo_set.rglob("*")} == times


def test_finding_a_finished_set_loads_nothing_heavy(photo_set):
    """So that `make lab` is quick when the data exists."""
    code = (
        "import sys; from data_setup.cli import main\n"
        f"code = main(['photos', '--count', '40', '--out', {str(photo_set)!r}])\n"
        "print(code, sorted({'numpy', 'PIL', 'torch', 'tqdm', 'skimage'} & set(sys.modules)))"
    )
    message = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert message.splitlines()[-1] == "0 []"


def test_if_missing_accepts_any_data(tmp_path, capsys):
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).mkdir()
        (tmp_path / form / "part0.zip").write_bytes(b"mine")
    assert make(tmp_path, "--if-missing") == 0
    assert "already holds data" in capsys.readouterr().out


def test_invalid_manifest_is_reported(tmp_path, capsys):
    (tmp_path / "manifest.json").write_text("[1, 2")
    assert make(tmp_path) == 1
    assert "is not a manifest of this program" in capsys.readouterr().err


def test_unrelated_files_are_kept(photo_set, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert make(tmp_path) == 0
    assert files_of(tmp_path) == files_of(photo_set) | {"notes.txt": b"mine"}


def test_empty_folders_are_no_set(tmp_path, capsys):
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).mkdir()
    assert make(tmp_path, "--if-missing") == 1
    assert "without a manifest.json" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--if-missing"]])
@pytest.mark.parametrize("name", ["disk_transformed/img00000007.JPEG", "zip/part0.zip"])
def test_set_that_lacks_a_file_is_not_taken_for_finished(photo_set, tmp_path, capsys, options, name):
    out = shutil.copytree(photo_set, tmp_path / "set")
    (out / name).unlink()
    assert make(out, *options) == 1
    assert f"{name} is missing" in capsys.readouterr().err


def test_manifest_with_another_byte_is_reported(photo_set, tmp_path, capsys):
    out = shutil.copytree(photo_set, tmp_path / "set")
    manifest = bytearray((out / "manifest.json").read_bytes())
    manifest[manifest.index(b"img00000007")] = 0xE9
    (out / "manifest.json").write_bytes(manifest)
    assert make(out) == 1
    assert "its content has changed" in capsys.readouterr().err
    assert main(["verify", "--out", str(out)]) == 1
