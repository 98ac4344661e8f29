"""The photographs that the loaders get: those of a data set, a pack, shards, or a folder of files."""

import hashlib
import io
import sys
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from PIL import Image, UnidentifiedImageError
from tqdm import tqdm

from course_utils.paths import data_dir

SUFFIXES = (".jpg", ".jpeg")
IMAGENET_BYTES = 115_000  # ILSVRC2012_img_train.tar has 147.9 GB for 1,281,167 files
IMAGENET_SIZES = "around 500x375, saved again with as many bytes as ImageNet's on average,"


def default_data(crops: bool) -> Path:
    """Return the course's data set, or the one of full-size photographs."""
    data = data_dir()
    if crops:
        data = data.with_name(f"{data.name}_full_size")
        if not data.exists():
            sys.exit(f"{data} is missing: make it with `python -m data_setup full_size`")
    return data


def unpack(source: Path, folder: Path, count: int | None) -> tuple[int, str]:
    """Write the first photographs of a source as files whose names have their order.

    Left out are files that some loader cannot read: those in grey or CMYK, and those of other formats.

    Args:
        source: A data set, a zip of JPEG files, or a folder with zips or with JPEG files at any depth.
        folder: A new folder.
        count: How many; None for all.

    Returns:
        Their number, and a hash of their bytes.
    """
    folder.mkdir()
    digest, number = hashlib.sha256(), 0
    for number, data in enumerate(islice(filter(_is_rgb_jpeg, _files(source)), count), 1):
        (folder / f"img{number - 1:08d}.JPEG").write_bytes(data)
        digest.update(data)
    if not number:
        sys.exit(f"{source}: no colour JPEG files found, neither in zips nor as files")
    return number, digest.hexdigest()[:16]


def resave(folder: Path) -> str:
    """Save photographs again in the quality that gives as many bytes as ImageNet's have on average.

    Returns:
        A hash of their bytes.
    """
    files, digest = sorted(folder.iterdir()), hashlib.sha256()
    some = files[:: max(1, len(files) // 40)]
    wanted = IMAGENET_BYTES * len(some)
    quality = min(range(70, 101), key=lambda q: abs(sum(len(_saved(path, q)) for path in some) - wanted))
    for path in tqdm(files, f"saving in quality {quality}", file=sys.stdout):
        data = _saved(path, quality)
        path.write_bytes(data)
        digest.update(data)
    return digest.hexdigest()[:16]


def _saved(path: Path, quality: int) -> bytes:
    encoded = io.BytesIO()
    with Image.open(path) as image:
        image.save(encoded, "JPEG", quality=quality)
    return encoded.getvalue()


def _files(source: Path) -> Iterator[bytes]:
    """Yield the JPEG files of a source in the order of their names."""
    encoded = source / "zip_encoded"
    zips = [source] if source.is_file() else sorted((encoded if encoded.is_dir() else source).rglob("*.zip"))
    for path in zips:
        with zipfile.ZipFile(path) as zipped:
            yield from (zipped.read(name) for name in sorted(filter(_is_jpeg_name, zipped.namelist())))
    if not zips:
        yield from (path.read_bytes() for path in sorted(source.rglob("*")) if _is_jpeg_name(path.name))


def _is_jpeg_name(name: str) -> bool:
    return name.lower().endswith(SUFFIXES)


def _is_rgb_jpeg(data: bytes) -> bool:
    try:
        with Image.open(io.BytesIO(data)) as image:
            return (image.format, image.mode) == ("JPEG", "RGB")
    except UnidentifiedImageError:
        return False
