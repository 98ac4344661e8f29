"""JPEG files of a set, compared with its manifest: the format itself has no checksum."""

import errno
import hashlib
import io
import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from course_utils.data.jpeg_dataset import JpegDataset, Sample, Transform, decode_image
from course_utils.data.pack import LABELS_NAME, BrokenSampleError, ChangedFileError, PackError, unique_fields
from course_utils.data.zips.regular_file import FileStatus, named, read_regular_file, without_waiting
from course_utils.paths import MANIFEST
from course_utils.system import retry_transient

SHA256_BYTES = 32


class VerifiedJpegDataset(JpegDataset):
    """A `JpegDataset` that compares each file with its SHA-256 in the manifest of the set, when it is read.

    Args:
        path: `disk_transformed/` of a set; the folder around it holds `manifest.json`.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).

    Raises:
        OSError: The folder, its labels or the manifest is missing, or the disk fails.
        PackError: The labels or the names of the files are not those of the manifest, or it is damaged.
            Reading a sample raises `BrokenSampleError` for a file that has changed in any bit, and
            `ChangedFileError` if the manifest has changed, too: then it is another set.
    """

    def __init__(self, path: Path | str, transform: Transform | None = None) -> None:
        super().__init__(path, transform)
        # An array, because forked workers would copy Python objects by counting references to them.
        folder = self.path.absolute()
        self._manifest = folder.parent / MANIFEST
        self._manifest_status = FileStatus.of(self._manifest)
        self._hashes = _stated_hashes(folder, [*self.names, LABELS_NAME])
        self._read(self.path / LABELS_NAME, -1)

    def __getitem__(self, index: int) -> Sample:
        index = range(len(self))[index]
        path = os.path.join(self.path, self.names[index])  # noqa: PTH118 - as in JpegDataset
        image = decode_image(io.BytesIO(self._read(path, index)), path)
        return (self.transform(image) if self.transform else image), self.labels[index]

    def _read(self, path: str | Path, index: int) -> bytes:
        """Return the content of a file whose hash has this index."""
        try:
            content = retry_transient(partial(_whole, path))
        except OSError as error:
            raise named(error, path) from error
        if hashlib.sha256(content).digest() != self._hashes[index].tobytes():
            self._require_same_manifest()
            raise BrokenSampleError(
                f"{path}: its content has changed (SHA-256 differs); make or copy the set again"
            )
        return content

    def _require_same_manifest(self) -> None:
        if not self._manifest.exists() or FileStatus.of(self._manifest) != self._manifest_status:
            raise ChangedFileError(f"{self._manifest} was changed: this is another set; open it again")


def _whole(path: str | Path) -> bytes:
    with open(path, "rb", buffering=0, opener=without_waiting) as file:
        content = file.readall() or b""
        if len(content) < os.fstat(file.fileno()).st_size:
            raise OSError(errno.EIO, "a read ended early")
        return content


def _stated_hashes(folder: Path, names: Sequence[str]) -> np.ndarray:
    """Return the hash of each file, uint8 (files, 32), from the manifest beside the folder.

    Raises:
        FileNotFoundError: There is no manifest.
        PackError: It is damaged, or lists other files.
    """
    manifest = folder.parent / MANIFEST
    try:
        text = read_regular_file(manifest, "manifest")
        files = json.loads(text, object_pairs_hook=unique_fields)["files"].items()
        paths = [(path.partition("/"), bytes.fromhex(fields["sha256"])) for path, fields in files]
    except PackError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise PackError(f"{manifest} is damaged ({error!r}); make or copy the set again") from error
    stated = {name: digest for (form, _, name), digest in paths if form == folder.name}
    for name in sorted(stated.keys() ^ set(names)):
        state = "missing" if name in stated else "not in the manifest"
        raise PackError(f"{folder / name}: {state}; `python -m data_setup verify` lists all differences")
    if any(len(stated[name]) != SHA256_BYTES for name in names):
        raise PackError(f"{manifest} is damaged (a hash has another length); make or copy the set again")
    return np.frombuffer(b"".join(stated[name] for name in names), np.uint8).reshape(-1, SHA256_BYTES)
