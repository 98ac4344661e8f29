"""Every reader and tool: how it opens, and the facts that it yields: labels and digests of contents."""

import io
import os
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from course_utils.data import (
    IndexedZIPDataset,
    JpegDataset,
    PackedImages,
    VerifiedJpegDataset,
    ZIPDataset,
    ZipIndex,
    index_path,
)
from course_utils.distributed import load_checkpoint
from course_utils.loading import FastLoader
from course_utils.scratch import stage_set, transfer
from data_setup.format.errors import UnreadableError
from data_setup.inspect.adopt import adopt_set
from data_setup.inspect.info import describe_set
from data_setup.inspect.verify import find_problems
from data_setup.sources.collection_source import CollectionSource
from tests.open_files.sets import FORMATS, digest, format_named

Fact = tuple[object, str]
SINGLE_FILES = "a folder of single files has no checksum and is read file by file"
MANIFEST = "manifest.json"
NO_CHECKSUM = "the format has no checksum, or its reader was not asked to compare it"
MAP = "a memory map: where the file ends before it, the kernel ends the process"
HDF5 = "HDF5 follows damaged structures of its own without an end"


class ReportedError(Exception):
    """A tool has said what is wrong with the set."""


class Reader(NamedTuple):
    """Something that reads.

    Attributes:
        path: What it reads, below the set.
        open: Opens the path.
        facts: Yields what it reads, sample by sample.
        silent: Why other content may come in silence; empty if it may not.
        dies: Why the process may end, or never return; empty if it may not.
        pickles: Whether it can be sent to another process.
        renews: Whether opening it again means the set that lies there now.
    """

    path: str
    open: Callable[[Path], Any]
    facts: Callable[[Any], Iterator[Fact]]
    silent: str = ""
    dies: str = ""
    renews: bool = False
    pickles: bool = True


def samples(dataset: Any) -> Iterator[Fact]:
    return (
        (label, digest(image.numpy().tobytes()))
        for image, label in map(dataset.__getitem__, range(len(dataset)))
    )


def packed_images(images: PackedImages) -> Iterator[Fact]:
    import numpy as np

    for i in range(len(images)):
        pixels = np.empty(images.shape, np.uint8)
        images.read_into(i, pixels)
        yield int(images.labels[i]), digest(pixels.tobytes())


def batches(loader: FastLoader) -> Iterator[Fact]:
    for images, labels in loader:
        for image, label in zip(images, labels.tolist(), strict=True):
            yield label, digest(image.contiguous().numpy().tobytes())


def members(index: ZipIndex) -> Iterator[Fact]:
    return ((index.name(i), digest(bytes(index.read(i)))) for i in range(len(index)))


def packed_samples(reader: Any) -> Iterator[Fact]:
    return ((f"{sample.name} {sample.label}", digest(sample.data)) for sample in reader.stream())


def rendered(source: CollectionSource) -> Iterator[Fact]:
    renderer = source.renderer()
    for item in source.items(range(source.count)):
        try:
            yield item.label, digest(renderer.render(item).image.tobytes())
        except UnreadableError as error:  # another image takes its place, and the command says so
            raise ReportedError(f"{renderer.source}: {error}") from error


def content_of(path: Path) -> bytes:
    """Return the bytes of a file; none of a pipe, which may stand there by now."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        return file.read() or b""


def tree(folder: Path) -> Iterator[Fact]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return (
        (str(path.relative_to(folder)), digest(content_of(path))) for path in files if path.name != MANIFEST
    )


class Source(NamedTuple):
    """What is staged, and its content when that began."""

    path: Path
    way: str
    before: list[Fact]


def content(path: Path, way: str) -> list[Fact]:
    """Return what a staged copy of a source holds, or nothing if the source cannot be read."""
    try:
        if way == "files":
            return list(tree(path))
        if way == "copy":
            return [(path.name, digest(content_of(path)))]
        with tarfile.open(fileobj=io.BytesIO(content_of(path)), mode="r:") as archive:
            files = [member for member in archive if member.isfile()]
            return [(file.name, digest(archive.extractfile(file).read())) for file in files]  # type: ignore[union-attr]
    except (OSError, tarfile.TarError):
        return []


def staged(source: Source) -> Iterator[Fact]:
    """Stage twice: what the first call has left is not taken for the set by the second."""
    transfer.BLOCK = 512
    scratch = source.path.parent / "scratch"
    scratch.mkdir()
    for verify in False, True:
        path = stage_set(source.path, scratch, source.way, verify=verify).path
        found = content(path, "copy" if source.way == "copy" else "files")
        whole = found and found in (source.before, content(source.path, source.way))
        yield "staged", "whole" if whole else "mixed"


def verified(root: Path) -> Iterator[Fact]:
    if problems := list(find_problems(root)) or list(find_problems(root)):
        raise ReportedError(f"{root}: {problems}")
    return iter(list(tree(root)))  # now, not when something has happened to it


def described(root: Path) -> Iterator[Fact]:
    yield "described", str(bool(describe_set(root)))


def adopted(root: Path) -> Iterator[Fact]:
    adopt_set(root)
    if problems := list(find_problems(root)):
        raise ReportedError(f"{root}: {problems}")
    jpegs, packed = JpegDataset(root / "disk_transformed"), zipped(root / "zip_encoded/part0.zip")
    raw = ZIPDataset(root / "zip/part0.zip")
    return iter([fact for form in (jpegs, packed, raw) for fact in samples(form)])  # now, as in `verified`


def checkpoint(path: Path) -> Iterator[Fact]:
    found = load_checkpoint(path)
    yield "state", digest(found["model"]["weight"].numpy().tobytes()) if found else "nothing"


def path_itself(path: Path) -> Path:
    return path


def part(opener: Callable[..., Any], **options: object) -> Callable[[Path], Any]:
    """Return what opens the pack in a folder."""
    return lambda folder: opener(folder / "part0.zip", **options)


def collection(path: Path) -> CollectionSource:
    return CollectionSource(path, None, None, 0)


def to_stage(way: str) -> Callable[[Path], Source]:
    return lambda path: Source(path, way, content(path, way))


def saved_index(folder: Path) -> ZipIndex:
    return ZipIndex(folder / "part0.zip", index_path(folder / "part0.zip"))


ENCODED, RAW, JPEGS = "set/zip_encoded", "set/zip", "set/disk_transformed"
zipped, indexed = partial(ZIPDataset, load_encoded=True), partial(IndexedZIPDataset, load_encoded=True)
loader = partial(FastLoader, batch_size=2, threads=1)
tool = partial(Reader, pickles=False)

READERS: dict[str, Reader] = {
    "JpegDataset": Reader(JPEGS, JpegDataset, samples, silent=SINGLE_FILES),
    "VerifiedJpegDataset": Reader("adopted/disk_transformed", VerifiedJpegDataset, samples),
    "ZIPDataset": tool(ENCODED, part(zipped), samples),
    "ZIPDataset raw": tool(RAW, part(ZIPDataset), samples),
    "IndexedZIPDataset": Reader(ENCODED, part(indexed), samples),
    "IndexedZIPDataset raw": Reader(RAW, part(IndexedZIPDataset), samples),
    "PackedImages": Reader(ENCODED, part(PackedImages), packed_images),
    "PackedImages raw": Reader(RAW, part(PackedImages), packed_images),
    "PackedImages saved index": Reader("indexed", part(PackedImages), packed_images),
    "FastLoader": tool(ENCODED, part(loader), batches),
    "FastLoader saved index": tool("indexed", part(loader), batches),
    "FastLoader skip": tool(ENCODED, part(loader, on_error="skip"), batches),
    "FastLoader skip raw": tool(RAW, part(loader, on_error="skip"), batches),
    "ZipIndex": Reader(ENCODED, part(ZipIndex), members),
    "ZipIndex saved": Reader("indexed", saved_index, members),
    "stage file": tool("set/zip/part0.zip", to_stage("copy"), staged, renews=True),
    "stage folder": tool(JPEGS, to_stage("files"), staged, silent=SINGLE_FILES, renews=True),
    "stage unpack": tool("collection.tar", to_stage("unpack"), staged, renews=True),
    "verify": tool("adopted", path_itself, verified, renews=True),
    "info": tool("adopted", path_itself, described),
    "adopt": tool("set", path_itself, adopted, renews=True),
    "imagenet folder": Reader("collection", collection, rendered, silent=SINGLE_FILES),
    "imagenet tar": Reader("collection.tar", collection, rendered),
    "imagenet zip": Reader("collection.zip", collection, rendered),
    "checkpoint": tool("state.pt", path_itself, checkpoint, renews=True),
}
CHECKED = ("StoredZip", "IndexedZip", "TfRecord", "ArrayRecord")
DIES = {name: MAP for name in ("FlatMap", "Lmdb", "ArrowMap")}
DIES |= {name: HDF5 for name in ("RaggedHdf5", "FlatHdf5", "CheckedHdf5")}
for name in FORMATS:
    READERS[name] = Reader(
        name,
        lambda folder, name=name: format_named(name)(folder / "packed"),
        packed_samples,
        silent="" if name in CHECKED else NO_CHECKSUM,
        dies=DIES.get(name, ""),
        renews=True,
    )
