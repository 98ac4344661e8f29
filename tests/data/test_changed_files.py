"""Another set in the place of an open one never comes under the labels of the first."""

import errno
import json
import os
import pickle
import shutil
import subprocess
import sys
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader

from course_utils.data import (
    BrokenSampleError,
    ChangedFileError,
    IndexedZIPDataset,
    PackedImages,
    PackError,
    VerifiedJpegDataset,
    ZIPDataset,
    ZipIndex,
    index_path,
)
from course_utils.data.pack import LABELS_NAME, RawLayout
from tests.data.failing_disk import pixels
from tests.image_set import numbered_jpeg, numbered_pack
from tests.whole import few

SHAPE = (16, 24, 3)
RAW = RawLayout("HWC", SHAPE)
COUNT = 8


def write(path, first, raw):
    """A pack and its index; pictures begin with number `first`, labels with 0."""
    if raw:
        rng = np.random.default_rng(first)
        images = [rng.integers(0, 256, SHAPE, np.uint8).tobytes() for _ in range(COUNT)]
    else:
        images = [numbered_jpeg(first + i) for i in range(COUNT)]
    numbered_pack(path, images, layout=RAW if raw else None)
    ZipIndex(path).save()
    return path


@pytest.fixture(params=[False, True], ids=["jpeg", "raw"])
def packs(request, tmp_path):
    """Two packs of the same names and labels, with other pictures."""
    one, other = (tmp_path / name for name in ("one", "other"))
    one.mkdir()
    other.mkdir()
    path = write(one / "part0.zip", 0, request.param)
    os.utime(path, (1, 1))  # so that its times differ from those of what is written next, however quickly
    return path, write(other / "part0.zip", 100, request.param)


def all_of(images):
    return [pixels(images, i) for i in range(len(images))]


def all_of_dataset(dataset):
    return [image.permute(1, 2, 0).tolist() for image, _ in map(dataset.__getitem__, range(len(dataset)))]


def encoded(path):
    return path.read_bytes().count(b"JFIF") > 0


# Opens a pack; the second function reads all images.
READERS = {
    "arrays": (PackedImages, all_of),
    "zipfile": (lambda path: ZIPDataset(path, load_encoded=encoded(path)), all_of_dataset),
    "index": (lambda path: IndexedZIPDataset(path, load_encoded=encoded(path)), all_of_dataset),
}


def copied_over(path, other):
    """As `cp -r` does: the same files get other content, the index first."""
    for file in (index_path, Path):
        file(path).write_bytes(file(other).read_bytes())


def copied_over_with_its_times(path, other):
    copied_over(path, other)
    os.utime(path, (1, 1))


def truncated(path, other):
    os.truncate(path, 100)


def emptied(path, other):
    os.truncate(path, 0)


def overwritten_by_zeros(path, other):
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))


IN_PLACE = [copied_over, copied_over_with_its_times, truncated, emptied, overwritten_by_zeros]


@pytest.mark.parametrize("change", IN_PLACE)
@pytest.mark.parametrize("reader", READERS)
def test_open_pack_whose_file_changes_is_an_error_of_its_own(packs, reader, change):
    path, other = packs
    opened, read = READERS[reader]
    dataset = opened(path)
    change(path, other)
    with pytest.raises(ChangedFileError, match=r"one/part0\.zip.*was changed while it was open"):
        read(dataset)


def replaced(path, other):
    other.replace(path)


def removed(path, other):
    path.unlink()


def extended(path, other):
    with path.open("ab") as file:
        file.write(bytes(99))


def touched(path, other):
    path.touch()


def unreadable(path, other):
    path.chmod(0)


@pytest.mark.parametrize("change", [replaced, removed, extended, touched, unreadable])
@pytest.mark.parametrize("reader", READERS)
def test_open_pack_stays_readable_where_its_content_does(packs, reader, change):
    path, other = packs
    opened, read = READERS[reader]
    dataset = opened(path)
    expected = read(dataset)
    change(path, other)
    assert read(dataset) == expected


def test_damage_in_an_unchanged_file_is_a_broken_sample(packs):
    path, _ = packs
    content = bytearray(path.read_bytes())
    content[300] ^= 1
    path.write_bytes(content)
    for opened, read in READERS.values():
        with pytest.raises(BrokenSampleError, match=r"part0\.zip: img00000000\.JPEG"):
            read(opened(path))


@pytest.mark.parametrize("change", [copied_over, truncated])
def test_without_verification_a_change_is_noticed_at_the_next_batch(packs, change):
    path, other = packs
    images = PackedImages(path, verify=False)
    assert len(list(images.places(np.arange(4)))) == 1
    change(path, other)
    list(images.places(np.arange(4)))
    with pytest.raises(ChangedFileError, match=r"part0\.zip"):
        all_of(images)


def test_without_verification_a_touched_pack_is_read_on(packs):
    images = PackedImages(packs[0], verify=False)
    expected = all_of(images)
    packs[0].touch()
    list(images.places(np.arange(4)))
    assert all_of(images) == expected


READ_AFTER_TRUNCATION = """
import os, sys
import numpy as np
from course_utils.data import PackedImages, index_path
images = PackedImages(sys.argv[1])
os.truncate(index_path(sys.argv[1]), 0)
pixels = np.empty(images.shape, np.uint8)
for i in range(len(images)):
    images.read_into(i, pixels)
print(images.labels.tolist(), images.content)
"""


def test_index_that_is_truncated_while_open_does_not_matter(packs):
    """A page of a memory map behind the end of its file ends the process with SIGBUS."""
    expected = PackedImages(packs[0])
    done = subprocess.run(
        [sys.executable, "-c", READ_AFTER_TRUNCATION, packs[0]], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == f"{expected.labels.tolist()} {expected.content}"


REOPENED = {
    "index": lambda path: IndexedZIPDataset(path, load_encoded=encoded(path)),
    "arrays": PackedImages,
}


def no_zip(path, other):
    path.write_bytes(b"no zip")


def pipe(path, other):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("change", [copied_over, replaced, truncated, extended, no_zip, pipe])
@pytest.mark.parametrize("reader", REOPENED)
def test_pickled_dataset_refuses_another_pack(packs, reader, change):
    path, other = packs
    text = pickle.dumps(REOPENED[reader](path))
    change(path, other)
    dataset = pickle.loads(text)
    assert len(dataset) == COUNT
    with pytest.raises(ChangedFileError, match=r"one/part0\.zip is not the zip that was opened before"):
        READERS[reader][1](dataset)
    with pytest.raises(ChangedFileError):
        READERS[reader][1](pickle.loads(pickle.dumps(dataset)))


@pytest.mark.parametrize("reader", REOPENED)
def test_pickled_dataset_reads_the_same_pack_in_another_file(packs, reader):
    path, other = packs
    dataset = REOPENED[reader](path)
    text, expected = pickle.dumps(dataset), READERS[reader][1](dataset)
    shutil.copy(path, other)
    other.replace(path)
    assert READERS[reader][1](pickle.loads(text)) == expected
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"part0\.zip"):
        READERS[reader][1](pickle.loads(text))


@pytest.mark.parametrize("method", few(1, ["spawn", "forkserver"]))
def test_workers_that_open_another_pack_say_so(tmp_path, method):
    path, other = write(tmp_path / "part0.zip", 0, raw=False), write(tmp_path / "other.zip", 100, raw=False)
    dataset = IndexedZIPDataset(path, load_encoded=True)
    other.replace(path)
    loader = DataLoader(dataset, 4, num_workers=1, multiprocessing_context=method)
    with pytest.raises(ChangedFileError, match="is not the zip that was opened before"):
        list(loader)


def test_stale_handle_is_opened_again_only_if_it_is_the_same_zip(packs, monkeypatch):
    path, other = packs
    index, pread, stale = ZipIndex(path), os.pread, []

    def failing(fd, size, offset):
        if stale and fd == index.fileno():
            stale.pop()
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", failing)
    expected = bytes(index.read(3))
    shutil.copy(path, other.with_name("same"))
    other.with_name("same").replace(path)
    stale += [1, 1]
    assert bytes(index.read(3)) == expected
    assert not stale
    assert not os.get_inheritable(index.fileno())
    assert os.fstat(index.fileno()).st_ino == path.stat().st_ino
    other.replace(path)
    stale += [1, 1]
    with pytest.raises(ChangedFileError, match=r"part0\.zip"):
        index.read(3)


@pytest.fixture
def files(image_set, tmp_path):
    folder = shutil.copytree(image_set / "disk_transformed", tmp_path / "disk_transformed")
    hashes = {f"disk_transformed/{path.name}": sha256(path.read_bytes()) for path in folder.iterdir()}
    text = json.dumps({"files": {name: {"sha256": digest.hexdigest()} for name, digest in hashes.items()}})
    (tmp_path / "manifest.json").write_text(text)
    os.utime(tmp_path / "manifest.json", (1, 1))
    return folder


@pytest.mark.parametrize("pickling", [False, True])
def test_another_set_of_files_is_refused(files, pickling):
    dataset = VerifiedJpegDataset(files)
    text = pickle.dumps(dataset)
    (files / dataset.names[3]).write_bytes(numbered_jpeg(3))
    dataset = pickle.loads(text) if pickling else dataset
    with pytest.raises(BrokenSampleError, match=dataset.names[3]):
        dataset[3]
    (files.parent / "manifest.json").write_text("{}")
    with pytest.raises(ChangedFileError, match=r"manifest\.json was changed: this is another set"):
        dataset[3]
    assert torch.is_tensor(dataset[2][0])


@pytest.mark.parametrize("file", ["manifest.json", f"disk_transformed/{LABELS_NAME}"])
def test_pipe_beside_files_is_refused_and_not_waited_for(files, file):
    (files.parent / file).unlink()
    os.mkfifo(files.parent / file)
    with pytest.raises(PackError, match=rf"{Path(file).name} is no regular file"):
        VerifiedJpegDataset(files)


def test_pipe_in_the_place_of_an_index_is_not_waited_for(packs):
    path, _ = packs
    expected = all_of(PackedImages(path))
    index_path(path).unlink()
    os.mkfifo(index_path(path))
    assert all_of(PackedImages(path)) == expected
    assert index_path(path).is_fifo()


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "GIF", "BMP", "TIFF"])
@pytest.mark.parametrize("first", [True, False])
def test_other_format_under_the_name_of_a_jpeg_file_is_named(tmp_path, kind, first):
    buffer = BytesIO()
    Image.open(BytesIO(numbered_jpeg(0))).save(buffer, kind)
    images = [buffer.getvalue(), numbered_jpeg(1)]
    path = numbered_pack(tmp_path / "part0.zip", images[:1] if first else images[::-1])
    with pytest.raises(PackError, match=rf"part0\.zip: img.*: it is a {kind} file .* not a JPEG file"):
        all_of(PackedImages(path))


def test_image_of_another_size_is_not_a_broken_one(tmp_path):
    for sizes in ([(24, 16), (24, 32)], [(24, 16), (24, 8)]):
        images = [numbered_jpeg(i, size) for i, size in enumerate(sizes)]
        with pytest.raises(PackError, match="but other images have 16x24") as caught:
            all_of(PackedImages(numbered_pack(tmp_path / "part0.zip", images)))
        assert type(caught.value) is PackError
    raw = [bytes(SHAPE[0] * SHAPE[1] * 3), bytes(5)]
    with pytest.raises(PackError, match="5 bytes, but") as caught:
        all_of(PackedImages(numbered_pack(tmp_path / "part0.zip", raw, layout=RAW)))
    assert type(caught.value) is PackError
