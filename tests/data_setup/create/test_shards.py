import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import data_setup
from course_utils.data import JpegDataset, ZIPDataset
from data_setup.cli import main
from tests.data_setup.file_content import files_of
from tests.data_setup.image_collections import as_tar, ground_truth, odd_files

SCRIPT = Path(data_setup.__file__).with_name("pack_array.sh")


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Arguments of a command that packs a tar with unreadable files."""
    folder = tmp_path_factory.mktemp("collection")
    tar = as_tar(folder / "val.tar", odd_files())
    return [
        "imagenet",
        str(tar),
        "--yes",
        "--labels",
        str(ground_truth(folder / "truth.txt")),
        "--count",
        "27",
        "--workers",
        "1",
    ]


@pytest.fixture(scope="module")
def together(collection, tmp_path_factory):
    out = tmp_path_factory.mktemp("together")
    assert main([*collection, "--out", str(out), "--shards", "4"]) == 0
    return out


def test_shards_are_read_as_one_set(together):
    parts = [together / "zip" / f"part{shard}.zip" for shard in range(4)]
    raw, jpeg = ZIPDataset(parts), JpegDataset(together / "disk_transformed")
    encoded = ZIPDataset([together / "zip_encoded" / path.name for path in parts], load_encoded=True)
    assert raw.names == encoded.names == jpeg.names
    for (a, x), (b, y), (c, z) in zip(raw, encoded, jpeg, strict=True):
        assert x == y == z
        assert torch.equal(a, b)
        assert torch.equal(a, c)


def test_shards_made_one_by_one_equal_shards_made_together(collection, together, tmp_path):
    for shard in (2, 0, 3, 1):
        assert main([*collection, "--out", str(tmp_path), "--shards", "4", "--shard", str(shard)]) == 0
        assert not (tmp_path / "zip").exists()
    assert main(["merge", "--out", str(tmp_path)]) == 0
    assert files_of(tmp_path) == files_of(together)


def test_job_array_packs_one_shard_per_task(collection, together, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    tasks = [
        subprocess.Popen(
            ["bash", SCRIPT, *collection, "--out", str(tmp_path)],
            env=os.environ | {"PATH": path, "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_ID": str(task)},
            stdout=subprocess.DEVNULL,
        )
        for task in range(4)
    ]
    assert [task.wait() for task in tasks] == [0, 0, 0, 0]
    assert main(["merge", "--out", str(tmp_path)]) == 0
    assert files_of(tmp_path) == files_of(together)


def test_merge_names_unfinished_shards(collection, tmp_path, capsys):
    for shard in (0, 2):
        assert main([*collection, "--out", str(tmp_path), "--shards", "4", "--shard", str(shard)]) == 0
    assert main(["merge", "--out", str(tmp_path)]) == 1
    assert "2 of 4 shards are not finished yet: 1, 3" in capsys.readouterr().err
    assert not (tmp_path / "manifest.json").exists()


def test_command_for_all_shards_reuses_finished_ones(collection, together, tmp_path):
    assert main([*collection, "--out", str(tmp_path), "--shards", "4", "--shard", "1"]) == 0
    assert main([*collection, "--out", str(tmp_path), "--shards", "4"]) == 0
    assert files_of(tmp_path) == files_of(together)


def test_number_of_shards_changes_only_replacements(collection, together, tmp_path):
    """Which images replace the two unreadable ones depends on the shards."""
    assert main([*collection, "--out", str(tmp_path), "--shards", "2"]) == 0
    one, other = files_of(tmp_path / "disk_transformed"), files_of(together / "disk_transformed")
    changed = [name for name in one.keys() & other.keys() if one[name] != other[name]]
    same = [name for name in one.keys() & other.keys() if one[name] == other[name]]
    assert len([name for name in changed if name.endswith(".JPEG")]) <= 2
    assert len([name for name in same if name.endswith(".JPEG")]) >= 25


@pytest.mark.parametrize("options", [["--shards", "4", "--shard", "4"], ["--shard", "-1"]])
def test_shard_out_of_range_is_refused(collection, tmp_path, options):
    assert main([*collection, "--out", str(tmp_path / "out"), *options]) == 1
    assert not (tmp_path / "out").exists()


def test_merge_without_shards_is_refused(tmp_path, capsys):
    assert main(["merge", "--out", str(tmp_path)]) == 1
    assert "has no shards to merge" in capsys.readouterr().err


def test_merge_may_be_repeated(together):
    before = files_of(together)
    assert main(["merge", "--out", str(together)]) == 0
    assert files_of(together) == before
