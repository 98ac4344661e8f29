"""Empty, cut, flipped and missing files, in every format: a clear error that names the file, or its nature.

| format | what it cannot notice, because it has no checksum of it |
|---|---|
| single files, flat file, LMDB, Arrow, squashfs | other bytes anywhere |
| tar | other bytes of pictures and labels; headers have a checksum |
| HDF5, Parquet | other bytes; on request their chunks and pages have a checksum, labels and offsets too |

What a library does with an index of other bytes is its own: these may end the process.
"""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from course_utils.data import PackError
from course_utils.formats import PackedFormat, RandomAccess, Sample
from tests.format_trials.trial_samples import drawn
from tests.formats.format_kinds import KINDS
from tests.open_files.limited_child import outcome_of
from tests.open_files.sets import format_named

SAMPLES = list(drawn(60, 400))
FEW = SAMPLES[:4]  # for a format that starts a program for each sample
CHECKED = {"StoredZip", "IndexedZip", "TfRecord", "ArrayRecord"}
FLIPS = 10
RIGHT, CLEAR, SILENT = "right", "clear error", "other samples in silence"


def read(kind: type[PackedFormat], path: Path) -> str:
    """Read everything; `CLEAR` is an error of ours or of the system that names the data set."""
    try:
        with closing(kind(path)) as reader:
            return RIGHT if list(reader.stream()) == samples_of(kind) else SILENT
    except (PackError, OSError) as error:
        named = str(path) in str(error) or str(path) in str(getattr(error, "filename", ""))
        return CLEAR if named else f"without the path: {error!r}"
    except Exception as error:
        return f"bare error: {error!r}"


def samples_of(kind: type[PackedFormat]) -> list[Sample]:
    return FEW if kind.__name__ == "Squashfs" else SAMPLES


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.parent.rglob("*") if file.is_file() and "lock" not in file.name)


@pytest.fixture
def packed(kind, tmp_path) -> Path:
    kind.write(tmp_path / "packed", samples_of(kind))
    return tmp_path / "packed"


@pytest.mark.parametrize("kind", KINDS)
def test_empty_or_missing_or_irregular_file_is_named(kind, packed):
    for file in files_of(packed)[-4:]:
        whole = file.read_bytes()
        file.write_bytes(b"")
        silent = kind.__name__ in ("SingleFiles",) and file.name != "samples.json"
        assert outcome_of(read, kind, packed) == (SILENT if silent else CLEAR), file
        file.unlink()
        assert outcome_of(read, kind, packed) == CLEAR, file
        os.mkfifo(file)
        assert outcome_of(read, kind, packed) == CLEAR, file
        file.unlink()
        file.mkdir()
        assert outcome_of(read, kind, packed) == CLEAR, file
        file.rmdir()
        file.write_bytes(whole)
    assert outcome_of(read, kind, packed) == RIGHT


@pytest.mark.parametrize("kind", KINDS)
def test_cut_file_is_named(kind, packed):
    # The size of a single file is whatever it is; a tar and an image may end with padding.
    others = {"SingleFiles": SILENT, "Tar": RIGHT, "Squashfs": RIGHT}
    for file, size in cuts(packed):
        whole = file.read_bytes()
        os.truncate(file, size)
        found = outcome_of(read, kind, packed)
        assert found in (CLEAR, others.get(kind.__name__)), (file, size)
        file.write_bytes(whole)


def cuts(path: Path) -> Iterator[tuple[Path, int]]:
    for file in files_of(path)[-4:]:
        size = file.stat().st_size
        yield from ((file, cut) for cut in {1, size // 3, size // 2, size - 1100, size - 1} if 0 < cut < size)


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bit_is_an_error_where_there_is_a_checksum(kind, packed):
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(FLIPS):
        file = files_of(packed)[int(rng.integers(len(files_of(packed))))]
        whole = file.read_bytes()
        place, bit = int(rng.integers(len(whole))), int(rng.integers(8))
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        found.add(outcome_of(read, kind, packed))
        file.write_bytes(whole)
    assert found <= {RIGHT, CLEAR} | ({SILENT} if kind.__name__ not in CHECKED else set())


@pytest.mark.parametrize("name", ["TfRecord", "ArrowMap"])
def test_what_a_killed_writer_has_left_is_recovered_up_to_the_cut(name, tmp_path):
    kind, samples = format_named(name), [Sample(f"{i}.jpg", bytes([i]) * 3000, i) for i in range(120)]
    kind.write(tmp_path / "packed", samples)
    whole = (tmp_path / "packed").stat().st_size
    for cut in range(0, whole, whole // 17):
        os.truncate(tmp_path / "packed", whole - cut)
        found = list(kind.recover(tmp_path / "packed"))
        assert found == samples[: len(found)]
        assert len(found) >= 120 * (whole - cut) // whole - 51  # Arrow's batches have 50


@pytest.mark.parametrize("kind", KINDS)
def test_position_that_is_no_whole_number_is_a_type_error(kind, packed):
    if not issubclass(kind, RandomAccess):
        pytest.skip("read from its start to its end")
    with closing(kind(packed)) as reader, pytest.raises(TypeError):
        reader.read(1.5)
