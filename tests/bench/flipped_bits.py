"""Flip one bit in each of many copies of the same photographs, and count which readers notice.

A reader that raises has noticed; one that returns the same pixels and labels was not harmed; one that returns
others, or fewer images, is wrong in silence. The README links to the result:

    python -m tests.bench.flipped_bits --table FILE    # for the table in tests/bench/flipped_bits.md
"""

import argparse
import hashlib
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from course_utils.data import (
    INFO_NAME,
    LABELS_NAME,
    JpegDataset,
    PackInfo,
    RawLayout,
    VerifiedJpegDataset,
    ZIPDataset,
)
from course_utils.format_trials import Flip, Outcomes, count_flips
from course_utils.loading import FastLoader
from course_utils.paths import FORMS, MANIFEST, data_dir
from course_utils.system import in_child
from data_setup.format.manifest import file_sha256
from tests.bench.recording.environment import environment, where_and_when

IMAGES = 4
Sample = tuple[bytes, int]  # pixels, label


class Reader(NamedTuple):
    """A way to store images and to read them again."""

    write: Callable[[dict[str, bytes], Path], object]
    read: Callable[[Path], Iterator[Sample]]


def pixels_of(jpeg: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(jpeg)) as image:
        return np.asarray(image.convert("RGB"))


def write_files(images: dict[str, bytes], folder: Path) -> None:
    for name, jpeg in images.items():
        (folder / name).write_bytes(jpeg)
    (folder / LABELS_NAME).write_text("\n".join(map(str, range(len(images)))))


def write_files_and_manifest(images: dict[str, bytes], folder: Path) -> None:
    form = folder / FORMS[0]
    form.mkdir()
    write_files(images, form)
    stated = {f"{form.name}/{path.name}": {"sha256": file_sha256(path)} for path in form.iterdir()}
    (folder / MANIFEST).write_text(json.dumps({"files": stated}))


def write_jpeg_zip(images: dict[str, bytes], folder: Path) -> None:
    write_zip(folder, images, None)


def write_raw_zip(images: dict[str, bytes], folder: Path) -> None:
    raw = {name: pixels_of(jpeg) for name, jpeg in images.items()}
    shape = next(iter(raw.values())).shape
    write_zip(folder, {name: one.tobytes() for name, one in raw.items()}, RawLayout("HWC", shape))


def write_zip(folder: Path, members: dict[str, bytes], layout: RawLayout | None) -> None:
    labels = {name: label for label, name in enumerate(members)}
    with zipfile.ZipFile(folder / "part0.zip", "w") as pack:
        for name, data in members.items():
            pack.writestr(name, data)
        pack.writestr(INFO_NAME, PackInfo(labels, layout).to_json())


def write_tar(images: dict[str, bytes], folder: Path) -> None:
    with tarfile.open(folder / "part0.tar", "w") as tar:
        for label, (name, jpeg) in enumerate(images.items()):
            for suffix, data in (("jpg", jpeg), ("cls", b"%d" % label)):
                member = tarfile.TarInfo(f"{Path(name).stem}.{suffix}")
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))


def write_hdf5(images: dict[str, bytes], folder: Path, **options: bool) -> None:
    import h5py

    raw = np.stack([pixels_of(jpeg) for jpeg in images.values()])
    with h5py.File(folder / "images.h5", "w") as file:
        file.create_dataset("images", data=raw, chunks=(1, *raw.shape[1:]), **options)
        file.create_dataset("labels", data=np.arange(len(raw)), chunks=(len(raw),), **options)


def write_checked_hdf5(images: dict[str, bytes], folder: Path) -> None:
    write_hdf5(images, folder, fletcher32=True)


def read_with_pillow(folder: Path) -> Iterator[Sample]:
    labels = (folder / LABELS_NAME).read_text().split()
    for path, label in zip(sorted(folder.glob("*.JPEG")), labels, strict=True):
        yield pixels_of(path.read_bytes()).tobytes(), int(label)


def read_dataset(dataset: JpegDataset | ZIPDataset) -> Iterator[Sample]:
    for image, label in (dataset[number] for number in range(len(dataset))):
        yield image.numpy().tobytes(), label


def read_members_by_stream(folder: Path) -> Iterator[Sample]:
    """Pass the open member to Pillow, which reads only as far as it needs."""
    with zipfile.ZipFile(folder / "part0.zip") as pack:
        labels = PackInfo.from_json(pack.read(INFO_NAME)).labels
        for name in sorted(labels):
            with pack.open(name) as member, Image.open(member) as image:
                yield np.asarray(image.convert("RGB")).tobytes(), labels[name]


def read_fast(folder: Path, verify: bool = True) -> Iterator[Sample]:
    for images, labels in FastLoader(folder / "part0.zip", 4, threads=1, verify=verify):
        yield from zip((image.numpy().tobytes() for image in images), labels.tolist(), strict=True)


def read_webdataset(folder: Path) -> Iterator[Sample]:
    import webdataset

    dataset = webdataset.WebDataset(str(folder / "part0.tar"), shardshuffle=False).to_tuple("jpg", "cls")
    for jpeg, label in dataset:
        yield pixels_of(jpeg).tobytes(), int(label)


def read_hdf5(folder: Path) -> Iterator[Sample]:
    import h5py

    with h5py.File(folder / "images.h5") as file:
        yield from zip((one.tobytes() for one in file["images"]), file["labels"][:].tolist(), strict=True)


READERS = {
    "JPEG files, Pillow": Reader(write_files, read_with_pillow),
    "JPEG files, `JpegDataset`": Reader(write_files, lambda folder: read_dataset(JpegDataset(folder))),
    "JPEG files and a manifest, `VerifiedJpegDataset`": Reader(
        write_files_and_manifest, lambda folder: read_dataset(VerifiedJpegDataset(folder / FORMS[0]))
    ),
    "zip of JPEG, `ZipFile.open` and Pillow": Reader(write_jpeg_zip, read_members_by_stream),
    "zip of JPEG, `ZIPDataset`": Reader(
        write_jpeg_zip, lambda folder: read_dataset(ZIPDataset(folder / "part0.zip", load_encoded=True))
    ),
    "zip of JPEG, `FastLoader`": Reader(write_jpeg_zip, read_fast),
    "zip of JPEG, `FastLoader(verify=False)`": Reader(
        write_jpeg_zip, lambda folder: read_fast(folder, verify=False)
    ),
    "raw zip, `ZIPDataset`": Reader(
        write_raw_zip, lambda folder: read_dataset(ZIPDataset(folder / "part0.zip"))
    ),
    "raw zip, `FastLoader`": Reader(write_raw_zip, read_fast),
    "raw zip, `FastLoader(verify=False)`": Reader(
        write_raw_zip, lambda folder: read_fast(folder, verify=False)
    ),
    "tar of JPEG, webdataset": Reader(write_tar, read_webdataset),
    "HDF5, raw": Reader(write_hdf5, read_hdf5),
    "HDF5, raw, `fletcher32`": Reader(write_checked_hdf5, read_hdf5),
}


def digest(samples: Iterator[Sample]) -> bytes:
    """Hash pixels and labels, in their order."""
    sha = hashlib.sha256()
    for pixels, label in samples:
        sha.update(b"%d %d " % (label, len(pixels)))
        sha.update(pixels)
    return sha.digest()


def count(reader: Reader, images: dict[str, bytes], flips: int) -> Outcomes:
    """Flip random bits in the reader's files, and count what it returns.

    It reads in a process of its own: a damaged HDF5 file may crash it.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reader.write(images, folder)
        expected = digest(reader.read(folder))

        def read() -> bytes:
            return in_child(lambda: digest(reader.read(folder)))

        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return count_flips(read, expected, random_flips(files, flips))


def random_flips(files: list[Path], flips: int) -> Iterator[Flip]:
    rng = np.random.default_rng(0)
    ends = np.cumsum([path.stat().st_size for path in files])
    for position in rng.integers(0, ends[-1], flips):
        number = int(np.searchsorted(ends, position, side="right"))
        start = ends[number] - files[number].stat().st_size
        yield Flip(files[number], int(position - start), int(rng.integers(8)))


def table(flips: int) -> str:
    paths = sorted((data_dir() / "disk_transformed").glob("*.JPEG"))[:IMAGES]
    images = {path.name: path.read_bytes() for path in paths}
    lines = [
        "| reader | noticed | unharmed | wrong in silence |",
        "|---|---|---|---|",
    ]
    for name, reader in READERS.items():
        found = count(reader, images, flips)
        lines.append(f"| {name} | {found.errors} | {found.right} | {found.wrong} |")
        print(lines[-1], flush=True)
    made = where_and_when(environment("pillow", "torch", "h5py", "webdataset"))
    text = f"{flips} flipped bits for each reader, in {IMAGES} photographs of 256x256 ({made}).\n\n"
    return text + "\n".join(lines) + "\n"


def main() -> None:
    """Print the table and, on request, write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--flips", type=int, default=400, help="number for each reader (default: %(default)s)"
    )
    parser.add_argument("--table", type=Path, help="where to write the table (Markdown)")
    options = parser.parse_args()
    text = table(options.flips)
    if options.table:
        options.table.write_text(text)


if __name__ == "__main__":
    main()
