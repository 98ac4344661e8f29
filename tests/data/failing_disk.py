"""A disk whose reads fail, or return fewer bytes than asked for, under every reader of the data."""

import errno
import io
import os
from contextlib import contextmanager

import numpy as np

from course_utils.data import (
    IndexedZIPDataset,
    JpegDataset,
    PackedImages,
    VerifiedJpegDataset,
    ZIPDataset,
)


def pixels_of(path, **options):
    """The images of a pack in the order of their names, and their labels."""
    images = PackedImages(path, **options)
    return lambda: [(pixels(images, i), int(label)) for i, label in enumerate(images.labels)]


def pixels(images, i):
    array = np.empty(images.shape, np.uint8)
    images.read_into(i, array)
    return array.tolist()


def samples_of(dataset):
    return lambda: [
        (image.permute(1, 2, 0).tolist(), label)
        for image, label in map(dataset.__getitem__, range(len(dataset)))
    ]


# Opens a set, given its folder; the result reads all samples.
READERS = {
    "files": lambda top: samples_of(JpegDataset(top / "disk_transformed")),
    "verified files": lambda top: samples_of(VerifiedJpegDataset(top / "disk_transformed")),
    "zipfile": lambda top: samples_of(ZIPDataset(top / "zip_encoded/part0.zip", load_encoded=True)),
    "index": lambda top: samples_of(IndexedZIPDataset(top / "zip_encoded/part0.zip", load_encoded=True)),
    "raw index": lambda top: samples_of(IndexedZIPDataset(top / "zip/part0.zip")),
    "arrays": lambda top: pixels_of(top / "zip_encoded/part0.zip"),
    "raw arrays": lambda top: pixels_of(top / "zip/part0.zip"),
}


class Disk:
    """Replaces the functions that read: `fail(n)` lets the next `n` reads fail, `shorten()` all be short.

    Files that `open` opens read through a raw file of this class, so that their buffers see the same disk.
    """

    def __init__(self, monkeypatch):
        self.failures, self.most, self.code = 0, None, errno.EIO
        self._pread, self._open = os.pread, io.open
        monkeypatch.setattr(os, "pread", lambda fd, size, at: self._pread(fd, self.size(size), at))
        if hasattr(os, "preadv"):
            preadv = os.preadv
            monkeypatch.setattr(
                "course_utils.data.zips.zip_handle._read_vector",
                lambda fd, views, at: preadv(fd, self.shortened(views), at),
            )
        monkeypatch.setattr("builtins.open", self.open)
        monkeypatch.setattr(io, "open", self.open)

    def size(self, size):
        if self.failures:
            self.failures -= 1
            raise OSError(self.code, os.strerror(self.code))
        return size if self.most is None else min(size, self.most)

    def shortened(self, views):
        size = self.size(sum(view.nbytes for view in views))
        parts = []
        for view in views:
            parts.append(memoryview(view).cast("B")[:size])
            size -= len(parts[-1])
        return [part for part in parts if len(part)] or parts[:1]

    def open(self, file, mode="r", *args, **options):
        if mode != "rb":
            return self._open(file, mode, *args, **options)
        raw = Raw(self, file)
        unbuffered = options.get("buffering") == 0
        return raw if unbuffered else io.BufferedReader(raw)


class Raw(io.FileIO):
    """A file on the disk."""

    def __init__(self, disk, file):
        super().__init__(file, "rb")
        self.disk = disk

    def readinto(self, buffer):
        view = memoryview(buffer).cast("B")
        return super().readinto(view[: self.disk.size(len(view))])

    def read(self, size=-1):
        return self.readall() if size < 0 else super().read(self.disk.size(size))

    def readall(self):
        parts = []
        while part := super().read(self.disk.size(1 << 20)):
            parts.append(part)
        return b"".join(parts)


@contextmanager
def replaced(path, content):
    """Put other content in the place of a file, under another inode, and back."""
    kept = path.with_name(f"{path.name}.kept")
    path.rename(kept)
    path.write_bytes(content)
    try:
        yield
    finally:
        kept.replace(path)
