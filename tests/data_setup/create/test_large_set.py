"""A set of more images than fit the old zip format: only its records are real."""

import json
import tracemalloc
import zipfile

import pytest

from course_utils.data.zip_format import member_span
from data_setup.create.journal import Entry, Record
from data_setup.create.publish import publish_set
from data_setup.create.shard import Shard
from data_setup.create.staging import claim
from data_setup.format.layout import RAW_BYTES, image_name
from data_setup.format.manifest import read_files, read_header

RAW_SPAN = member_span(image_name(0), RAW_BYTES)
COUNT, CHUNK, JPEG_BYTES = 66_000, 1000, 20_000  # 13 GB of raw pixels, all of them a hole in the file


def begin(out, count):
    stage = claim(out, {"source": "nobody", "count": count, "shards": 1}, [])
    shard = Shard(stage, 0)
    write_journal(stage, count)
    shard.raw.end = count * RAW_SPAN
    shard.encoded.end = count * member_span(image_name(0), JPEG_BYTES)
    return stage, shard


def end(stage, shard):
    shard.finish()
    shard.close()
    publish_set(stage)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    out = tmp_path_factory.mktemp("many")
    end(*begin(out, COUNT))
    return out


def write_journal(stage, count):
    with stage.journal(0).open("wb") as journal:
        for start in range(0, count, CHUNK):
            entries = [
                Entry(image_name(slot), slot % 1000, JPEG_BYTES, slot, slot, f"{slot:064x}", None, [])
                for slot in range(start, start + CHUNK)
            ]
            journal.write(Record(CHUNK, entries).line())


def peak_bytes(out, count):
    """The most that Python objects take while a set is finished and published."""
    begun = begin(out, count)
    tracemalloc.start()
    end(*begun)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_number_of_images(tmp_path):
    end(*begin(tmp_path / "first", 1000))  # loads what is loaded once
    small, large = peak_bytes(tmp_path / "small", 1000), peak_bytes(tmp_path / "large", 8000)
    assert large < 1.5 * small


def test_archives_beyond_the_limits_of_the_old_format_are_whole(many):
    with zipfile.ZipFile(many / "zip" / "part0.zip") as pack:
        members = pack.infolist()
        assert len(members) == COUNT + 1
        assert members[-2].filename == image_name(COUNT - 1)
        assert members[-2].header_offset == (COUNT - 1) * RAW_SPAN > 2**32
        assert members[-2].file_size == RAW_BYTES
        labels = json.loads(pack.read("dataset.json"))["labels"]
    assert len(labels) == COUNT
    assert labels[image_name(65_999)] == 999


def test_the_manifest_names_every_file(many):
    assert read_header(many / "manifest.json")["images"] == COUNT
    paths = [file.path for file in read_files(many / "manifest.json")]
    assert len(paths) == COUNT + 3
    assert paths[COUNT - 1] == f"disk_transformed/{image_name(COUNT - 1)}"
