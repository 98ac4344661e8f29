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
    labels = ["--labels", str(ground_truth(folder / "truth.txt"))]
    return ["imagenet", str(tar), "--yes", *labels, "--count", "27", "--workers", "1"]


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


def test_job_array_packs_one_shard_per_task_and_a_command_publishes_the_set(collection, together, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    tasks = [
        subprocess.Popen(
            ["bash", SCRIPT, *collection, "--out", str(tmp_path)],
            env=os.environ | {"PATH": path, "SLURM_ARRAY_TASK_COUNT": "4", "SLURM_ARRAY_TASK_ID": task},
            stdout=subprocess.DEVNULL,
        )
        for task in "203"  # the other one was stopped
    ]
    assert [task.wait() for task in tasks] == [0, 0, 0]
    assert not (tmp_path / "zip").exists()
    assert main([*collection, "--out", str(tmp_path), "--shards", "4"]) == 0
    assert files_of(tmp_path) == files_of(together)


def test_number_of_shards_changes_only_replacements(collection, together, tmp_path):
    """Which images replace the two unreadable ones depends on the shards."""
    assert main([*collection, "--out", str(tmp_path), "--shards", "2"]) == 0
    one, other = files_of(tmp_path / "disk_transformed"), files_of(together / "disk_transformed")
    images = [name for name in one.keys() & other.keys() if name.endswith(".JPEG")]
    assert len([name for name in images if one[name] == other[name]]) >= 25


@pytest.mark.parametrize("options", [["--shards", "4", "--shard", "4"], ["--shards", "28"]])
def test_shard_out_of_range_is_refused(collection, tmp_path, capsys, options):
    assert main([*collection, "--out", str(tmp_path / "out"), *options]) == 1
    assert "27 images make at most as many shards" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
