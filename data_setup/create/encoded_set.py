"""Create a set of one form, packed JPEG files of any sizes: in one go, without resuming.

The lessons need all three forms, with pixels of one size; the benchmark of loaders needs full-size images.
"""

import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Protocol
from zipfile import ZipFile, ZipInfo

from tqdm import tqdm

from course_utils.data import INFO_NAME, PackInfo
from course_utils.system import sync_filesystem, sync_folder, write_atomically
from data_setup.create.staging import is_finished, set_identity
from data_setup.format import (
    ENCODED,
    FORMS,
    MANIFEST,
    FileEntry,
    Header,
    Identity,
    SetupError,
    StagingDirectory,
    exclusive_lock,
    file_sha256,
    image_name,
    library_versions,
    manifest_text,
    part_name,
    read_header,
    shard_slots,
)

AT_A_TIME = 64  # images in memory

Image = tuple[bytes, int]  # JPEG file and label


class ImageSource(Protocol):
    """Makes the JPEG file at each position; any thread may ask it."""

    @property
    def count(self) -> int:
        """The number of images."""

    def identity(self) -> Identity:
        """Return what determines every byte of the images."""

    def classes(self) -> list[str]:
        """Return the name of each label."""

    def render(self, item: int, /) -> Image:
        """Return the JPEG file and the label at a position."""


def create_encoded_set(source: ImageSource, out: Path, shards: int, workers: int) -> None:
    """Create a set that holds only `zip_encoded/`, unless it is there already.

    Args:
        source: Where images come from.
        out: Folder of the set.
        shards: Number of archives.
        workers: Number of threads.

    Raises:
        SetupError: Something else is there, or is being made there.
        OSError: For example, the disk is full.
    """
    staging, identity = StagingDirectory(out), set_identity(source.identity(), shards)
    out.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(staging.lock("set"), f"the set in {out}"):
        if is_finished(out, identity):
            return
        if not _is_packed(staging, identity):
            _refuse_other_sets(staging)
            shutil.rmtree(staging.root, ignore_errors=True)  # of a command that was interrupted
            (staging.root / ENCODED).mkdir(parents=True)
            parts = list(_pack(source, staging, shards, workers))
            write_atomically(staging.manifest, manifest_text(_header(source, identity, parts), parts))
        _publish(staging)


def _is_packed(staging: StagingDirectory, identity: Identity) -> bool:
    """Return whether a command was interrupted when only names were missing."""
    return staging.manifest.exists() and read_header(staging.manifest)["identity"] == identity


def _publish(staging: StagingDirectory) -> None:
    """Give the set its final names, the manifest last; may be repeated."""
    if (staging.root / ENCODED).exists():
        (staging.root / ENCODED).rename(staging.out / ENCODED)
    sync_folder(staging.out)
    staging.manifest.rename(staging.out / MANIFEST)
    sync_folder(staging.out)
    shutil.rmtree(staging.root)


def _refuse_other_sets(staging: StagingDirectory) -> None:
    found = [form for form in FORMS if (staging.out / form).exists()]
    if found or staging.plan.exists():
        held = ", ".join(found) or "an unfinished set"
        raise SetupError(f"{staging.out} already holds {held}; choose another folder with --out")


def _pack(source: ImageSource, staging: StagingDirectory, shards: int, workers: int) -> Iterator[FileEntry]:
    with (
        ThreadPoolExecutor(workers) as threads,
        tqdm(total=source.count, unit=" images", file=sys.stdout, desc=f"Making {staging.out}") as bar,
    ):
        for number in range(shards):
            path = staging.part(ENCODED, number)
            slots, labels = iter(shard_slots(source.count, shards, number)), {}
            with ZipFile(path, "w") as archive:
                while some := list(islice(slots, AT_A_TIME)):
                    for slot, (data, label) in zip(some, threads.map(source.render, some), strict=True):
                        labels[image_name(slot)] = label
                        archive.writestr(ZipInfo(image_name(slot)), data)
                    bar.update(len(some))
                archive.writestr(ZipInfo(INFO_NAME), PackInfo(labels).to_json())
            yield FileEntry(f"{ENCODED}/{part_name(number)}", path.stat().st_size, file_sha256(path))
    sync_filesystem(staging.root)


def _header(source: ImageSource, identity: Identity, parts: list[FileEntry]) -> Header:
    return {
        "identity": identity,
        "images": source.count,
        "classes": source.classes(),
        "forms": {ENCODED: {"files": len(parts), "bytes": sum(part.size for part in parts)}},
        "parts": {part.path: part.size for part in parts},
        "oddities": [],
        "versions": library_versions(),
    }
