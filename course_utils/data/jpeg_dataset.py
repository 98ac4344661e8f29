"""Images as single JPEG files: a map-style dataset."""

import io
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch.utils.data import Dataset

from course_utils.data.image_files import decode_rgb
from course_utils.data.pack import LABELS_NAME, BrokenSampleError, PackError, labels_of_lines
from course_utils.data.zips.regular_file import named, read_regular_file
from course_utils.data.zips.zip_file import is_of_content
from course_utils.system import retry_transient

Transform = Callable[[torch.Tensor], torch.Tensor]
Sample = tuple[torch.Tensor, int]


def decode_image(source: str | Path | io.BytesIO, name: str) -> torch.Tensor:
    """Decode an image file into a uint8 RGB tensor (3, H, W), with the same pixels as Pillow's.

    Raises:
        BrokenSampleError: The image cannot be decoded or is damaged, even if Pillow alone would return a
            picture; the message contains `name`.
        OSError: The file is missing, or the disk fails, also when asked again.
    """
    try:
        return torch.from_numpy(retry_transient(partial(decode_rgb, source))).permute(2, 0, 1)
    except Exception as error:  # Pillow raises nearly anything for a damaged file
        if isinstance(error, OSError) and not is_of_content(error):
            raise named(error, name) from error
        raise BrokenSampleError(f"{name} cannot be decoded as an image: {error}") from error


class JpegDataset(Dataset[Sample]):
    """Images as single files, as in an unpacked archive.

    A damaged structure of a file is an error. But JPEG has no checksum: seven of ten flipped bits give other
    pixels without an error, and a file may be replaced while the dataset is open. `VerifiedJpegDataset`
    notices both in a set that has a manifest.

    Args:
        path: Folder with ``*.JPEG`` files and `validation_labels_10k.txt`: one integer per line, in
            the sorted order of the file names.
        transform: Applied to each image, a uint8 RGB tensor (3, H, W).

    Raises:
        OSError: The folder or its labels are missing, or the disk fails.
        PackError: There are no images, a label is not a whole number, or the numbers of images and labels
            differ. Reading a sample raises `BrokenSampleError` for a damaged image.
    """

    def __init__(self, path: Path | str, transform: Transform | None = None) -> None:
        self.path = Path(path)
        self.transform = transform
        with os.scandir(self.path) as entries:
            self.names = sorted(e.name for e in entries if _is_jpeg(e))
        self.labels = _labels(self.path / LABELS_NAME)
        if not self.names or len(self.names) != len(self.labels):
            raise PackError(
                f"{self.path}: {len(self.names)} images and {len(self.labels)} labels in {LABELS_NAME}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, index: int) -> Sample:
        path = os.path.join(self.path, self.names[index])  # a Path per sample costs 5 µs
        image = decode_image(path, path)
        return (self.transform(image) if self.transform else image), self.labels[index]


def _is_jpeg(entry: "os.DirEntry[str]") -> bool:
    """Return whether an entry of a folder is a JPEG file by its name; reading a pipe would never end."""
    return entry.name.lower().endswith((".jpeg", ".jpg")) and entry.is_file()


def _labels(path: Path) -> list[int]:
    try:
        return labels_of_lines(read_regular_file(path, "file of labels").decode())
    except PackError:
        raise
    except ValueError as error:  # includes text that is not UTF-8
        raise PackError(f"{path}: {error}; it should hold one whole number per line") from error
