"""The last step: labels and manifest are written, and everything gets its final name."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from course_utils.data import LABELS_NAME
from data_setup.create.journal import read_entries
from data_setup.format import (
    ENCODED,
    FORMS,
    JPEGS,
    MANIFEST,
    RAW,
    FileEntry,
    SetupError,
    Stage,
    exclusive,
    manifest_text,
    part_name,
    versions,
    write_atomically,
)


def publish_set(stage: Stage) -> None:
    """Give a set whose shards are all finished its final names; may be repeated after a kill.

    Raises:
        SetupError: A shard is not finished, or a final name was taken in the meantime.
    """
    with exclusive(stage.lock("publish"), f"the set in {stage.out}"):
        if not stage.manifest.exists():
            _write_manifest(stage)
        for form in FORMS:
            _move(stage, form)
        stage.manifest.rename(stage.out / MANIFEST)
        shutil.rmtree(stage.root)


def _move(stage: Stage, form: str) -> None:
    made, final = stage.root / form, stage.out / form
    if made.exists():
        if final.exists():
            raise SetupError(f"{final} has appeared while the set was made; move it away and run this again")
        made.rename(final)


def _summaries(stage: Stage, shards: int) -> list[dict]:
    missing = [shard for shard in range(shards) if not stage.summary(shard).exists()]
    if missing:
        raise SetupError(
            f"{len(missing)} of {shards} shards are not finished yet: {', '.join(map(str, missing[:20]))}. "
            "Make each with --shard NUMBER and the other options unchanged, then merge."
        )
    return [json.loads(stage.summary(shard).read_text()) for shard in range(shards)]


def _write_manifest(stage: Stage) -> None:
    plan = json.loads(stage.plan.read_text())
    summaries = _summaries(stage, plan["identity"]["shards"])
    labels = _write_labels(stage, len(summaries))
    parts = list(_parts(summaries))
    images = sum(summary["images"] for summary in summaries)
    if not images:
        shutil.rmtree(stage.root)
        raise SetupError("not one image of the source could be read")
    handled = sum((Counter(summary["handled"]) for summary in summaries), Counter())
    header = {
        "identity": plan["identity"],
        "images": images,
        "classes": plan["classes"],
        "forms": _forms(summaries, labels),
        "parts": {part.path: part.size for part in parts},
        "handled": dict(sorted(handled.items())),
        "oddities": [oddity for summary in summaries for oddity in summary["oddities"]],
        "versions": versions(),
    }
    files = chain(_jpegs(stage, len(summaries)), [labels], parts)
    write_atomically(stage.manifest, manifest_text(header, files))


def _write_labels(stage: Stage, shards: int) -> FileEntry:
    sha, size = hashlib.sha256(), 0

    def lines() -> Iterator[bytes]:
        nonlocal size
        for shard in range(shards):
            for entry in read_entries(stage.journal(shard)):
                line = b"%d\n" % entry.label
                sha.update(line)
                size += len(line)
                yield line

    write_atomically(stage.jpegs / LABELS_NAME, lines(), scratch=stage.root)
    return FileEntry(f"{JPEGS}/{LABELS_NAME}", size, sha.hexdigest())


def _jpegs(stage: Stage, shards: int) -> Iterator[FileEntry]:
    for shard in range(shards):
        for entry in read_entries(stage.journal(shard)):
            yield FileEntry(f"{JPEGS}/{entry.name}", entry.size, entry.sha256, entry.origin, entry.notes)


def _parts(summaries: list[dict]) -> Iterator[FileEntry]:
    for form in (RAW, ENCODED):
        for shard, summary in enumerate(summaries):
            part = summary["parts"][form]
            yield FileEntry(f"{form}/{part_name(shard)}", part["bytes"], part["sha256"])


def _forms(summaries: list[dict], labels: FileEntry) -> dict[str, dict[str, int]]:
    images = sum(summary["images"] for summary in summaries)
    jpeg_bytes = sum(summary["jpeg_bytes"] for summary in summaries)
    packed = {
        form: {"files": len(summaries), "bytes": sum(one["parts"][form]["bytes"] for one in summaries)}
        for form in (ENCODED, RAW)
    }
    return {JPEGS: {"files": images + 1, "bytes": jpeg_bytes + labels.size}} | packed
