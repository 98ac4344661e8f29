"""Publish a set: write labels and manifest, then give everything its final name, the manifest last."""

import hashlib
from collections import Counter
from collections.abc import Iterable

from course_utils.data import LABELS_NAME
from course_utils.system import sync_folder, write_atomically
from data_setup.create.shard import ShardRecord, read_shard
from data_setup.create.staging import Staging
from data_setup.format.errors import SetupError
from data_setup.format.layout import JPEGS, MANIFEST
from data_setup.format.manifest import (
    FileEntry,
    Header,
    Identity,
    form_sizes,
    library_versions,
    manifest_text,
)


def publish_set(
    staging: Staging, identity: Identity, shards: int, forms: Iterable[str], classes: list[str]
) -> None:
    """Give a set whose shards are all finished its final names; may be repeated after a kill.

    Args:
        staging: Where it was made.
        identity: What determines every byte of it.
        shards: Number of its shards.
        forms: Its forms.
        classes: The name of each label; empty where labels have no names.

    Raises:
        SetupError: No image could be read, or a final name is taken by now.
    """
    manifest = staging.root / MANIFEST
    if not manifest.exists():
        records = [read_shard(staging, number) for number in range(shards)]
        header, files = _content(staging, records, identity, forms, classes)
        write_atomically(manifest, manifest_text(header, files))
    for form in forms:
        made, final = staging.root / form, staging.out / form
        if made.exists():
            if final.exists():
                raise SetupError(f"{final} appeared while the set was made; move it away and run this again")
            made.rename(final)
    sync_folder(staging.out)  # the manifest must not be there before the rest
    manifest.rename(staging.out / MANIFEST)
    sync_folder(staging.out)
    staging.remove()


def _content(
    staging: Staging,
    records: list[ShardRecord],
    identity: Identity,
    forms: Iterable[str],
    classes: list[str],
) -> tuple[Header, list[FileEntry]]:
    images = [image for record in records for image in record.images]
    if not images:
        staging.remove()
        raise SetupError("no image of the source could be read")
    parts = [part for record in records for part in record.parts]
    parts.sort(key=lambda part: part.path.split("/")[0])
    files = parts
    if JPEGS in forms:
        lines = b"".join(b"%d\n" % image.label for image in images)
        write_atomically(staging.jpegs / LABELS_NAME, [lines], scratch=staging.root)
        jpegs = [
            FileEntry(f"{JPEGS}/{image.name}", image.size, image.sha256, image.origin, image.notes)
            for image in images
        ]
        labels = FileEntry(f"{JPEGS}/{LABELS_NAME}", len(lines), hashlib.sha256(lines).hexdigest())
        files = [*jpegs, labels, *parts]
    header: Header = {
        "identity": identity,
        "images": len(images),
        "classes": classes,
        "forms": form_sizes(files, forms),
        "parts": {part.path: part.size for part in parts},
        "handled": dict(sorted(Counter(note for image in images for note in image.notes).items())),
        "oddities": [oddity for record in records for oddity in record.oddities],
        "versions": library_versions(),
    }
    if JPEGS not in forms:
        del header["handled"]
    return header, files
