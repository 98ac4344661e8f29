import shutil

from data_setup.cli import main


def test_describes_the_set_and_the_size_of_each_form(photo_set, capsys):
    assert main(["info", "--out", str(photo_set)]) == 0
    text = capsys.readouterr().out
    assert "40 images: photographs (seed 0, count 40, shards 1)" in text
    assert "12 classes: astronaut, cameraman, cat" in text
    rows = {line.split()[0]: line for line in text.splitlines() if "inodes" in line}
    assert "41 files (42 inodes)" in rows["disk_transformed/"]
    assert "median" in rows["disk_transformed/"]
    assert "1 files (2 inodes), 7.9 MB" in rows["zip/"]


def test_describes_a_set_without_manifest(photo_set, tmp_path, capsys):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    (copy / "manifest.json").unlink()
    shutil.rmtree(copy / "zip")
    assert main(["info", "--out", str(copy)]) == 0
    text = capsys.readouterr().out
    assert "adopt" in text
    assert "41 files" in text
    assert "missing" in text


def test_folder_without_data_is_reported(tmp_path, capsys):
    assert main(["info", "--out", str(tmp_path)]) == 1
    assert "holds no data" in capsys.readouterr().err


def test_counts_the_files_that_exist_whatever_the_manifest_says(photo_set, tmp_path, capsys):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    (copy / "disk_transformed" / "img00000000.JPEG").unlink()
    assert main(["info", "--out", str(copy)]) == 0
    assert "40 files (41 inodes)" in capsys.readouterr().out
