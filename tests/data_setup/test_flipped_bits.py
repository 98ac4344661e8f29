"""A flipped bit anywhere in a made set is an error of each reader, or changes no pixel and no label."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from course_utils.data import IndexedZIPDataset, PackError, VerifiedJpegDataset, ZIPDataset
from course_utils.loading import FastLoader
from tests.conftest import photographs

Sample = tuple[bytes, int]
ENCODED, RAW = "zip_encoded/part0.zip", "zip/part0.zip"


def fast(path: Path) -> Iterator[tuple[object, int]]:
    for images, labels in FastLoader(path, 2, threads=1):
        yield from zip(images, labels.tolist(), strict=True)


# By name: the files of a set that a reader looks at, and the reader.
READERS: dict[str, tuple[list[str], Callable[[Path], object]]] = {
    "files": (
        ["disk_transformed/*", "manifest.json"],
        lambda top: VerifiedJpegDataset(top / "disk_transformed"),
    ),
    "zip of JPEG": ([ENCODED], lambda top: ZIPDataset(top / ENCODED, load_encoded=True)),
    "zip of pixels": ([RAW], lambda top: ZIPDataset(top / RAW)),
    "indexed zip of JPEG": ([ENCODED], lambda top: IndexedZIPDataset(top / ENCODED, load_encoded=True)),
    "indexed zip of pixels": ([RAW], lambda top: IndexedZIPDataset(top / RAW)),
    "fast, JPEG": ([ENCODED], lambda top: fast(top / ENCODED)),
    "fast, pixels": ([RAW], lambda top: fast(top / RAW)),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return photographs(4, tmp_path_factory.mktemp("made"))


def samples(dataset) -> list[Sample]:
    return [(image.contiguous().numpy().tobytes(), label) for image, label in dataset]


def flip(rng: random.Random, whole: bytes) -> bytes:
    """Flip one bit: in a third of the cases near an end, where headers and directories are."""
    size = len(whole)
    near_start, near_end = rng.randrange(min(size, 200)), size - 1 - rng.randrange(min(size, 1000))
    position = rng.choice([near_start, near_end, *(rng.randrange(size) for _ in range(4))])
    return whole[:position] + bytes([whole[position] ^ 1 << rng.randrange(8)]) + whole[position + 1 :]


def flips(made: Path, reader: str, count: int) -> tuple[int, int]:
    """Return how many flips were errors, and how many changed nothing."""
    patterns, read = READERS[reader]
    files = sorted(path for pattern in patterns for path in made.glob(pattern))
    contents = [path.read_bytes() for path in files]
    expected, rng, raised, same = samples(read(made)), random.Random(count), 0, 0
    for _ in range(count):
        number = rng.choices(range(len(files)), map(len, contents))[0]
        files[number].write_bytes(flip(rng, contents[number]))
        try:
            assert samples(read(made)) == expected, files[number]
            same += 1
        except PackError:
            raised += 1
        finally:
            files[number].write_bytes(contents[number])
    return raised, same


@pytest.mark.parametrize("reader", READERS)
def test_flipped_bit_raises_or_changes_nothing(made, reader):
    raised, _ = flips(made, reader, 12)
    assert raised > 6


@pytest.mark.proof
@pytest.mark.parametrize("reader", READERS)
def test_400_flipped_bits_raise_or_change_nothing(made, reader):
    raised, same = flips(made, reader, 400)
    assert raised > 300
    assert raised + same == 400
