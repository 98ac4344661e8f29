"""A set with more images than the old zip format allows; only its records are real."""

import json
import tracemalloc
import zipfile

import pytest

from course_utils.data.zips.zip_format import member_span
from data_setup.create.journal import ChunkRecord, ImageRecord, read_images
from data_setup.create.publish import publish_set
from data_setup.create.shard import Shard
from data_setup.create.staging import open_staging
from data_setup.format.layout import RAW_BYTES, image_name
from data_setup.format.manifest import read_files, read_header

RAW_SPAN = member_span(image_name(0), RAW_BYTES)
COUNT, CHUNK, JPEG_BYTES = 66_000, 1000, 20_000  # 13 GB of raw pixels, all of them a hole in a sparse file
MAX_GROWTH = 1.5  # of memory, for eight times as many images


def begin(out, count):
    staging = open_staging(out, {"source": "nobody", "count": count, "shards": 1}, [])
    shard = Shard(staging, 0)
    write_journal(staging, count)
    shard.done = count
    shard.raw.end = count * RAW_SPAN
    shard.encoded.end = count * member_span(image_name(0), JPEG_BYTES)
    return staging, shard


def finish(staging, shard):
    shard.finish()
    shard.close()
    publish_set(staging)


@pytest.fixture(scope="module")
def large_set(tmp_path_factory):
    out = tmp_path_factory.mktemp("large_set")
    finish(*begin(out, COUNT))
    return out


def write_journal(staging, count):
    with staging.journal(0).open("wb") as journal:
        for start in range(0, count, CHUNK):
            entries = [
                ImageRecord(image_name(slot), slot % 1000, JPEG_BYTES, slot, slot, f"{slot:064x}", None, [])
                for slot in range(start, start + CHUNK)
            ]
            journal.write(ChunkRecord(CHUNK, entries).line())


def peak_bytes(function, *arguments):
    """The most memory that Python objects take during a call."""
    tracemalloc.start()
    function(*arguments)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_is_independent_of_the_number_of_images(tmp_path):
    finish(*begin(tmp_path / "first", 1000))  # loads what is loaded only once
    small = peak_bytes(finish, *begin(tmp_path / "small", 1000))
    large = begin(tmp_path / "large", 8000)
    records = peak_bytes(list, read_images(large[0].journal(0)))
    assert peak_bytes(finish, *large) < MAX_GROWTH * small < records


def test_archives_beyond_the_limits_of_the_old_format_are_readable(large_set):
    with zipfile.ZipFile(large_set / "zip" / "part0.zip") as pack:
        members = pack.infolist()
        assert len(members) == COUNT + 1
        assert members[-2].filename == image_name(COUNT - 1)
        assert members[-2].header_offset == (COUNT - 1) * RAW_SPAN > 2**32
        assert members[-2].file_size == RAW_BYTES
        labels = json.loads(pack.read("dataset.json"))["labels"]
    assert len(labels) == COUNT
    assert labels[image_name(65_999)] == 999


def test_manifest_lists_every_file(large_set):
    assert read_header(large_set / "manifest.json")["images"] == COUNT
    paths = [file.path for file in read_files(large_set / "manifest.json")]
    assert len(paths) == COUNT + 3
    assert paths[COUNT - 1] == f"disk_transformed/{image_name(COUNT - 1)}"
