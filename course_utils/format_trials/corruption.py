"""Flip single bits of packed files, and count which readers notice.

Disks, networks and memory flip bits now and then. JPEG has no checksum and most flipped bits are valid code
for other pixels, so that only a checksum in the packed format can notice.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from course_utils.format_trials.outcomes import Outcomes, outcome
from course_utils.formats import PackedFormat, RandomAccess, Sample

_T = TypeVar("_T")
WINDOW = 24  # bytes by which a place in a sample is found in a packed file


class Flip(NamedTuple):
    """A bit to flip.

    Attributes:
        path: File.
        position: Offset of the byte in the file.
        bit: Number of the bit in its byte, 0 to 7.
    """

    path: Path
    position: int
    bit: int


def count_flips(read: Callable[[], _T], expected: _T, flips: Iterable[Flip]) -> Outcomes:
    """Flip one bit at a time, read, and flip it back.

    Args:
        read: Opens and reads the damaged file; any exception counts as noticed.
        expected: What it returns from the whole file.
        flips: The bits.
    """
    total = Outcomes()
    for flip in flips:
        with _flipped(flip):
            total += outcome(read, expected)
    return total


def flip_samples(
    kind: type[PackedFormat], samples: Sequence[Sample], flips: int = 20, seed: int = 0
) -> Outcomes:
    """Write samples, flip random bits inside their data, and read the damaged samples.

    Args:
        kind: The format; it stores the data as they are, not compressed.
        samples: What to write, few: their file is written and searched.
        flips: Number of bits, one at a time.
        seed: Of the random places.

    Returns:
        Errors are flips that the reader noticed; wrong ones it passed on in silence.
    """
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packed"
        kind.write(path, samples)
        files = {file: file.read_bytes() for file in Path(folder).rglob("*") if file.is_file()}
        total = Outcomes()
        for index, flip in islice(_places(files, samples, rng), flips):
            total += count_flips(partial(_read, kind, path, index), samples[index], [flip])
    return total


@contextmanager
def _flipped(flip: Flip) -> Iterator[None]:
    _toggle(flip)
    try:
        yield
    finally:
        _toggle(flip)


def _toggle(flip: Flip) -> None:
    with flip.path.open("r+b", buffering=0) as file:
        file.seek(flip.position)
        (byte,) = file.read(1)
        file.seek(flip.position)
        file.write(bytes([byte ^ 1 << flip.bit]))


def _places(
    files: dict[Path, bytes], samples: Sequence[Sample], rng: np.random.Generator
) -> Iterator[tuple[int, Flip]]:
    """Yield random samples and a bit inside their data, found by the bytes that follow it.

    Raises:
        ValueError: The data are not in the files as they are.
    """
    misses = 0
    while misses < len(samples):
        index = int(rng.integers(len(samples)))
        data = samples[index].data
        start = int(rng.integers(max(len(data) - WINDOW, 1)))
        part = data[start : start + WINDOW]
        # A chunk of the format may end within these bytes; and JPEGs share headers, so that what occurs
        # twice may belong to another sample.
        if sum(content.count(part) for content in files.values()) != 1:
            misses += 1
            continue
        misses = 0
        path, position = next(
            (path, content.find(part)) for path, content in files.items() if part in content
        )
        yield index, Flip(path, position, int(rng.integers(8)))
    raise ValueError("the samples are not found in the files: does the format compress them?")


def _read(kind: type[PackedFormat], path: Path, index: int) -> Sample:
    with closing(kind(path)) as reader:
        if isinstance(reader, RandomAccess):
            return reader.read(index)
        return next(islice(reader.stream(), index, None))
