import shutil

from data_setup.cli import main


def test_it_says_what_is_there_and_what_each_form_costs(photo_set, capsys):
    assert main(["info", "--out", str(photo_set)]) == 0
    said = capsys.readouterr().out
    assert "40 images: photographs (seed 0, count 40, shards 1)" in said
    assert "12 classes: astronaut, cameraman, cat" in said
    rows = {line.split()[0]: line for line in said.splitlines() if "inodes" in line}
    assert "41 files (42 inodes)" in rows["disk_transformed/"]
    assert "median" in rows["disk_transformed/"]
    assert "1 files (2 inodes), 7.9 MB" in rows["zip/"]


def test_a_set_without_manifest_is_described_too(photo_set, tmp_path, capsys):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    (copy / "manifest.json").unlink()
    shutil.rmtree(copy / "zip")
    assert main(["info", "--out", str(copy)]) == 0
    said = capsys.readouterr().out
    assert "adopt" in said
    assert "41 files" in said
    assert "missing" in said


def test_no_data_is_said_to_be_none(tmp_path, capsys):
    assert main(["info", "--out", str(tmp_path)]) == 1
    assert "holds no data" in capsys.readouterr().err


def test_a_manifest_of_a_damaged_set_does_not_hide_what_is_gone(photo_set, tmp_path, capsys):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    (copy / "disk_transformed" / "img00000000.JPEG").unlink()
    assert main(["info", "--out", str(copy)]) == 0
    assert "40 files (41 inodes)" in capsys.readouterr().out
