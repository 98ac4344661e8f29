"""Publish a set: write labels and manifest, then give everything its final name."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import cast

from course_utils.data import LABELS_NAME
from course_utils.system import sync_folder, write_atomically
from data_setup.create.shard import ShardSummary, is_shard_finished, read_images, read_summary
from data_setup.create.staging import Plan, is_finished, read_plan, remove_staging
from data_setup.format import (
    ENCODED,
    FORMS,
    JPEGS,
    MANIFEST,
    RAW,
    FileEntry,
    FormSize,
    Header,
    SetupError,
    StagingDirectory,
    exclusive_lock,
    library_versions,
    manifest_text,
    part_name,
    read_header,
)


def merge_shards(out: Path) -> None:
    """Publish a set whose shards were made one by one, after checking the files of each; may be repeated.

    Raises:
        SetupError: There is no unfinished set, a shard is not finished, or a file of it is missing.
    """
    staging = StagingDirectory(out)
    if not staging.plan.exists() and not (out / MANIFEST).exists():
        raise SetupError(f"{out} has no shards to merge")
    with exclusive_lock(staging.lock("set"), f"the set in {out}"):
        plan = read_plan(staging)
        if (out / MANIFEST).exists():  # a command that was killed had nothing left to do but to tidy up
            is_finished(out, plan["identity"] if plan else read_header(out / MANIFEST)["identity"])
            return
        for shard in range(cast(int, plan["identity"]["shards"]) if plan else 0):
            is_shard_finished(staging, shard)  # if not, its record is removed
        publish_set(staging)


def publish_set(staging: StagingDirectory) -> None:
    """Give a set whose shards are all finished its final names; may be repeated after a kill.

    The caller holds the lock of the set exclusively.

    Raises:
        SetupError: There is no unfinished set, a shard is not finished, or a final name is taken by now.
    """
    plan = read_plan(staging)
    if plan is None:
        raise SetupError(f"{staging.out} has no shards to merge")
    if not staging.manifest.exists():
        _write_manifest(staging, plan)
    for form in FORMS:
        _move(staging, form)
    sync_folder(staging.out)  # the manifest must not be there before the rest
    staging.manifest.rename(staging.out / MANIFEST)
    sync_folder(staging.out)
    remove_staging(staging)


def _move(staging: StagingDirectory, form: str) -> None:
    made, final = staging.root / form, staging.out / form
    if made.exists():
        if final.exists():
            raise SetupError(f"{final} appeared while the set was made; move it away and run this again")
        made.rename(final)


def _summaries(staging: StagingDirectory, shards: int) -> list[ShardSummary]:
    missing = [shard for shard in range(shards) if not staging.record(shard).exists()]
    if missing:
        raise SetupError(
            f"{len(missing)} of {shards} shards are not finished yet: {', '.join(map(str, missing[:20]))}. "
            "Make each with --shard NUMBER and the other options unchanged, then merge."
        )
    return [read_summary(staging, shard) for shard in range(shards)]


def _write_manifest(staging: StagingDirectory, plan: Plan) -> None:
    summaries = _summaries(staging, cast(int, plan["identity"]["shards"]))  # as `set_identity` wrote it
    labels = _write_labels(staging, len(summaries))
    parts = list(_parts(summaries))
    images = sum(summary["images"] for summary in summaries)
    if not images:
        remove_staging(staging)
        raise SetupError("no image of the source could be read")
    handled: Counter[str] = sum((Counter(summary["handled"]) for summary in summaries), Counter())
    header: Header = {
        "identity": plan["identity"],
        "images": images,
        "classes": plan["classes"],
        "forms": _forms(summaries, labels),
        "parts": {part.path: part.size for part in parts},
        "handled": dict(sorted(handled.items())),
        "oddities": [oddity for summary in summaries for oddity in summary["oddities"]],
        "versions": library_versions(),
    }
    files = chain(_jpegs(staging, len(summaries)), [labels], parts)
    write_atomically(staging.manifest, manifest_text(header, files))


def _write_labels(staging: StagingDirectory, shards: int) -> FileEntry:
    sha, size = hashlib.sha256(), 0

    def lines() -> Iterator[bytes]:
        nonlocal size
        for shard in range(shards):
            for entry in read_images(staging, shard):
                line = b"%d\n" % entry.label
                sha.update(line)
                size += len(line)
                yield line

    write_atomically(staging.jpegs / LABELS_NAME, lines(), scratch=staging.root)
    return FileEntry(f"{JPEGS}/{LABELS_NAME}", size, sha.hexdigest())


def _jpegs(staging: StagingDirectory, shards: int) -> Iterator[FileEntry]:
    for shard in range(shards):
        for entry in read_images(staging, shard):
            yield FileEntry(f"{JPEGS}/{entry.name}", entry.size, entry.sha256, entry.origin, entry.notes)


def _parts(summaries: list[ShardSummary]) -> Iterator[FileEntry]:
    for form in (RAW, ENCODED):
        for shard, summary in enumerate(summaries):
            part = summary["parts"][form]
            yield FileEntry(f"{form}/{part_name(shard)}", part["bytes"], part["sha256"])


def _forms(summaries: list[ShardSummary], labels: FileEntry) -> dict[str, FormSize]:
    images = sum(summary["images"] for summary in summaries)
    jpeg_bytes = sum(summary["jpeg_bytes"] for summary in summaries)
    forms: dict[str, FormSize] = {JPEGS: {"files": images + 1, "bytes": jpeg_bytes + labels.size}}
    for form in (ENCODED, RAW):
        size = sum(summary["parts"][form]["bytes"] for summary in summaries)
        forms[form] = {"files": len(summaries), "bytes": size}
    return forms
