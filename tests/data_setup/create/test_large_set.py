"""A set with more images than the old zip format allows; its pixels would take 13 GB, so they are tiny."""

import hashlib
import json
import zipfile

import pytest

from data_setup.create.publish import publish_set
from data_setup.create.shard import ImageRecord, Shard
from data_setup.create.staging import open_staging
from data_setup.format.layout import image_name
from data_setup.format.manifest import read_files, read_header

COUNT = 66_000


@pytest.fixture(scope="module")
def large_set(tmp_path_factory):
    out = tmp_path_factory.mktemp("large_set")
    staging = open_staging(out, {"source": "nobody", "count": COUNT, "shards": 1}, [])
    shard = Shard(staging, 0)
    for slot in range(COUNT):
        name, data = image_name(slot), b"%d" % slot
        (staging.jpegs / name).write_bytes(data)
        record = ImageRecord(name, slot % 1000, len(data), hashlib.sha256(data).hexdigest(), None, [])
        shard.add(record, memoryview(data))
    shard.finish()
    publish_set(staging)
    return out


def test_archives_beyond_the_limits_of_the_old_format_are_readable(large_set):
    with zipfile.ZipFile(large_set / "zip" / "part0.zip") as pack:
        members = pack.infolist()
        assert len(members) == COUNT + 1
        assert members[-2].filename == image_name(COUNT - 1)
        assert pack.read(members[-2]) == b"%d" % (COUNT - 1)
        labels = json.loads(pack.read("dataset.json"))["labels"]
    assert len(labels) == COUNT
    assert labels[image_name(65_999)] == 999


def test_manifest_lists_every_file(large_set):
    assert read_header(large_set / "manifest.json")["images"] == COUNT
    paths = [file.path for file in read_files(large_set / "manifest.json")]
    assert len(paths) == COUNT + 3
    assert paths[COUNT - 1] == f"disk_transformed/{image_name(COUNT - 1)}"
