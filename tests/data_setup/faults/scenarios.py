"""The commands that faults are injected into, and how a folder is prepared for each."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from data_setup.cli import main
from data_setup.format.layout import StagingDirectory
from tests.data_setup.file_content import files_of
from tests.data_setup.image_collections import as_tar, ground_truth, odd_files

SMALL = ("--count", "6", "--workers", "1")

Command = list[str]


class Scenario(NamedTuple):
    """A command that changes a folder.

    Args:
        command: Its arguments without `--out`.
        prepare: Makes the folder.
        made: Returns what must be equal after each run that succeeds.
    """

    command: Command
    prepare: Callable[[Path], object]
    made: Callable[[Path], object]


def photos(inputs: Path) -> Scenario:
    return Scenario(["photos", *SMALL], Path.mkdir, everything)


def imagenet(inputs: Path) -> Scenario:
    """Some files are odd, and one is unreadable and replaced."""
    tar = as_tar(inputs / "images.tar", dict(list(odd_files(9).items())[2:]))
    truth = ground_truth(inputs / "labels.txt", 7)
    options = ["--labels", str(truth), "--count", "4", "--workers", "1", "--yes"]
    return Scenario(["imagenet", str(tar), *options], Path.mkdir, everything)


def full_size(inputs: Path) -> Scenario:
    return Scenario(["full_size", "--count", "2", "--workers", "1"], Path.mkdir, everything)


def resume(inputs: Path) -> Scenario:
    """An unfinished set with one finished shard, and one that was interrupted."""
    begin(inputs / "begun", *SMALL)
    return Scenario(["photos", *SMALL, "--shards", "2"], copy_of(inputs / "begun"), everything)


def begin(out: Path, *options: str) -> None:
    """Make a set of two shards that was interrupted in its second one."""
    for shard in "01":
        quietly(["photos", *options, "--shards", "2", "--shard", shard, "--out", str(out)])
    staging = StagingDirectory(out)
    staging.record(1).unlink()
    os.truncate(staging.part("zip", 1), 1000)


def merge(inputs: Path) -> Scenario:
    for shard in "01":
        quietly(["photos", *SMALL, "--shards", "2", "--shard", shard, "--out", str(inputs / "shards")])
    return Scenario(["merge"], copy_of(inputs / "shards"), everything)


def adopt(inputs: Path) -> Scenario:
    """A set as older versions made it: without a manifest, and without a layout in the raw archive."""
    out = inputs / "old"
    quietly(["photos", *SMALL, "--out", str(out)])
    forget(out)
    return Scenario(["adopt"], copy_of(out), adopted)


def forget(out: Path) -> None:
    """Remove from a set what older versions did not write: the manifest, and the layout of raw pixels."""
    (out / "manifest.json").unlink()
    part = out / "zip/part0.zip"
    with zipfile.ZipFile(part) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    members["dataset.json"] = json.dumps({"labels": json.loads(members["dataset.json"])["labels"]}).encode()
    with zipfile.ZipFile(part, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data)


SCENARIOS = {scenario.__name__: scenario for scenario in (photos, full_size, imagenet, resume, merge, adopt)}


def quietly(command: Command) -> None:
    assert main(command) == 0, command


def copy_of(folder: Path) -> Callable[[Path], object]:
    return lambda out: shutil.copytree(folder, out)


def everything(out: Path) -> dict[str, bytes]:
    """All files but lock files, which another command may be using."""
    return {name: data for name, data in files_of(out).items() if not name.endswith(".lock")}


def adopted(out: Path) -> object:
    """All files; of the manifest what does not tell whether the layout was added in this run."""
    files = everything(out)
    manifest = json.loads(files.pop("manifest.json"))
    quietly(["verify", "--out", os.fspath(out)])
    return files, manifest | {"oddities": None, "sha256_of_the_lines_above": None}
