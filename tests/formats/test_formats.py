"""Every packed format returns the bytes, names and labels that were written, whatever they are."""

import pickle
import shutil
import string
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from course_utils.data import PackError
from course_utils.formats import Formats, RandomAccess, Sample, find_formats
from tests.formats.format_kinds import FOUND, KINDS, REASONS

LETTERS = string.ascii_letters + string.digits + " -_äß鸡🐔éø'"
NAMES = st.text(LETTERS, min_size=1, max_size=40).filter(lambda name: name.strip() == name)
SAMPLES = st.lists(
    st.builds(
        Sample, NAMES.map("{}.JPEG".format), st.binary(max_size=3000), st.integers(-(2**63), 2**63 - 1)
    ),
    max_size=7,
    unique_by=lambda sample: sample.name,
)
EMPTY = [Sample("empty.JPEG", b"", 0), Sample("ä.b.c.JPEG", b"\0" * 700, -1), Sample("z.JPEG", b"", 7)]


def drawn(count: int, seed: int = 0) -> list[Sample]:
    rng = np.random.default_rng(seed)
    return [
        Sample(f"img{number:08d}.JPEG", rng.bytes(int(rng.integers(0, 5000))), int(rng.integers(1000)))
        for number in range(count)
    ]


@pytest.mark.parametrize("kind", KINDS)
@given(samples=SAMPLES)
@example(samples=[])
@example(samples=EMPTY[:1])
@example(samples=EMPTY)
@settings(max_examples=8, derandomize=True, suppress_health_check=list(HealthCheck))
def test_what_was_written_is_read(kind, samples):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "packed"
        kind.write(path, iter(samples))
        with closing(kind(path)) as reader:
            assert list(reader.stream()) == samples
            assert list(reader.stream()) == samples
            if isinstance(reader, RandomAccess):
                assert len(reader) == len(samples)
                assert [reader.read(i) for i in reversed(range(len(reader)))] == samples[::-1]


@pytest.mark.parametrize("kind", KINDS)
def test_more_samples_than_a_group_of_the_format_holds(kind, tmp_path):
    samples = drawn(123)
    kind.write(tmp_path / "packed", samples)
    with closing(kind(tmp_path / "packed")) as reader:
        assert list(reader.stream()) == samples


@pytest.mark.parametrize("kind", KINDS)
def test_reader_pickles_as_its_path(kind, tmp_path):
    samples = drawn(5)
    kind.write(tmp_path / "packed", samples)
    with closing(kind(tmp_path / "packed")) as reader:
        data = pickle.dumps(reader)
    assert len(data) < 300
    with closing(pickle.loads(data)) as reader:
        assert list(reader.stream()) == samples


@pytest.mark.parametrize("kind", KINDS)
def test_existing_data_set_is_not_overwritten(kind, tmp_path):
    path = tmp_path / "packed"
    kind.write(path, drawn(3))
    before = tree(path)
    with pytest.raises(OSError, match=r"exists|packed"):
        kind.write(path, drawn(4, seed=1))
    assert tree(path) == before


def tree(path: Path) -> dict[str, int]:
    files = [path] if path.is_file() else sorted(path.iterdir())
    return {file.name: zlib.crc32(file.read_bytes()) for file in files}


@pytest.mark.parametrize("name", ["SingleFiles", "StoredZip", "IndexedZip"])
def test_name_that_occurs_twice_is_refused(name, tmp_path):
    twice = [Sample("a.JPEG", b"1", 1), Sample("a.JPEG", b"2", 2)]
    with pytest.raises((PackError, FileExistsError), match=r"named 'a.JPEG'|File exists"):
        FOUND.installed[name].write(tmp_path / "packed", twice)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["dataset.json", "samples.json", "names.json", "000000000.json"])
def test_sample_named_as_an_index_is_refused_or_kept_apart(kind, name, tmp_path):
    samples = [Sample(name, b"[]", 3), Sample("b.JPEG", b"2", 2)]
    try:
        kind.write(tmp_path / "packed", samples)
    except PackError as error:
        assert name in str(error)  # noqa: PT017 - most formats keep it apart
    else:
        with closing(kind(tmp_path / "packed")) as reader:
            assert list(reader.stream()) == samples


@pytest.mark.parametrize("name", ["../outside.JPEG", "folder/a.JPEG", "/tmp/a.JPEG", ".", ".."])
def test_single_file_elsewhere_is_refused(name, tmp_path):
    with pytest.raises(PackError, match="cannot be named"):
        FOUND.installed["SingleFiles"].write(tmp_path / "packed", [Sample(name, b"", 0)])


@pytest.mark.parametrize("kind", KINDS)
def test_position_outside_is_an_index_error(kind, tmp_path):
    kind.write(tmp_path / "packed", drawn(3))
    with closing(kind(tmp_path / "packed")) as reader:
        if isinstance(reader, RandomAccess):
            for index in (-1, 3):
                with pytest.raises(IndexError, match="packed has 3 samples"):
                    reader.read(index)


def test_flipped_byte_of_a_tfrecord_is_noticed(tmp_path):
    kind = FOUND.installed.get("TfRecord") or pytest.skip(REASONS["TfRecord"])
    samples, path = drawn(4), tmp_path / "packed"
    kind.write(path, samples)
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with closing(kind(path)) as reader, pytest.raises(PackError, match=r"packed.* is damaged"):
            list(reader.stream())


def test_missing_libraries_are_named(monkeypatch):
    def without_lmdb(name: str) -> object:
        if name.endswith("lmdb_store"):
            raise ModuleNotFoundError("No module named 'lmdb'", name="lmdb")
        return real(name)

    from course_utils.formats import registry

    real = registry.importlib.import_module
    monkeypatch.setattr(registry.importlib, "import_module", without_lmdb)
    monkeypatch.setattr(registry.shutil, "which", lambda command: None)
    found: Formats = find_formats()
    assert found.missing["Lmdb"] == "no module lmdb: pip install 'feeding-the-gpu[formats]'"
    assert found.missing["Squashfs"] == "install squashfs-tools"
    assert "FlatFile" in found.installed


# webdataset leaves its files to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_webdataset_reads_our_tar(tmp_path):
    webdataset = pytest.importorskip("webdataset", reason="webdataset is not installed")
    samples = drawn(6)
    FOUND.installed["Tar"].write(tmp_path / "part0.tar", samples)
    stream = webdataset.WebDataset(str(tmp_path / "part0.tar"), shardshuffle=False)
    assert [one["jpg"] for one in stream] == [sample.data for sample in samples]


def test_squashfs_commands_exist_where_the_format_is_offered():
    assert ("Squashfs" in FOUND.installed) == (shutil.which("mksquashfs") is not None)
