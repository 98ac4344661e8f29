"""Draw folders of JPEG files with labels, and with everything else that is found in such folders."""

from typing import TypedDict

import numpy as np

from course_utils.checks.core import environment
from course_utils.checks.core.images import draw_image, draw_labels, draw_names, encode_jpeg
from course_utils.data import INFO_NAME

STRAYS = (
    ".DS_Store",
    "Thumbs.db",
    "notes.txt",
    "CREDITS.txt",
    "about_JPEG.txt",
    "half_copied.JPEG.part",
    ".ipynb_checkpoints/dataset-checkpoint.json",
)
PREVIEW = "preview.jpg"  # a picture, but its name does not end in .JPEG
SUBFOLDER = "discarded"


class DrawnFolder(TypedDict):
    """A folder.

    Args:
        files: All files by name: the images, `dataset.json`, stray files and an image in a subfolder.
        images: The images directly in the folder, encoded.
        labels: Labels by name; one image has the label 0.
        absent: Names that have a label, but no image.
        inner: Name and bytes of the image in the subfolder, which has no label.
        preview: The bytes of `PREVIEW`, which has no label either.
    """

    files: dict[str, bytes]
    images: dict[str, bytes]
    labels: dict[str, int]
    absent: list[str]
    inner: tuple[str, bytes]
    preview: bytes


def draw_folder(rng: np.random.Generator, count: int, absent: int, height: int, width: int) -> DrawnFolder:
    """Draw a folder of images of one size: one grayscale, one CMYK, the others RGB.

    Args:
        rng: Source of all randomness.
        count: Number of images directly in the folder.
        absent: Number of further names that have a label.
        height: Height of each image.
        width: Width of each image.
    """
    inner, *shuffled = rng.permutation(draw_names(rng, 1 + count + absent)).tolist()
    names = sorted(shuffled)
    labels = draw_labels(rng, names)
    zero = next(name for name in names if labels[name] == 0)
    others = rng.permutation([name for name in names if name != zero]).tolist()
    missing, present = others[:absent], [zero, *others[absent:]]
    while present in (sorted(present), sorted(present, reverse=True)):
        rng.shuffle(present)  # some file systems list the files in the order in which they were written
    modes = rng.permutation(["L", "CMYK"] + ["RGB"] * (count - 2)).tolist()
    encoded = [encode_jpeg(draw_image(rng, height, width), mode) for mode in modes]
    hidden, preview = (encode_jpeg(draw_image(rng, height, width)) for _ in range(2))
    images = dict(zip(present, encoded, strict=True))
    files = images | {name: b"not an image" for name in STRAYS} | {f"{SUBFOLDER}/{inner}": hidden}
    files |= {PREVIEW: preview, INFO_NAME: environment.json.dumps({"labels": labels}, indent=2).encode()}
    return {
        "files": files,
        "images": images,
        "labels": labels,
        "absent": missing,
        "inner": (inner, hidden),
        "preview": preview,
    }
