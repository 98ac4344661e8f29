"""Write a pack whose labels are the numbers of its images, so that labels tell which ones were delivered."""

import io
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from course_utils.data import INFO_NAME, PackInfo


def write_numbered_pack(path: Path, images: int = 203, size: int = 32) -> Path:
    """Write small JPEG images of random colours; the label of each is its number.

    Args:
        path: The pack.
        images: Number of images.
        size: Height and width in pixels.

    Returns:
        The path.
    """
    colours = np.random.default_rng(0).integers(0, 256, (images, 3, 3, 3), np.uint8)
    names = [f"img{number:08d}.JPEG" for number in range(images)]
    with zipfile.ZipFile(path, "w") as pack:
        for name, colour in zip(names, colours, strict=True):
            data = io.BytesIO()
            Image.fromarray(colour).resize((size, size)).save(data, "JPEG")
            pack.writestr(name, data.getvalue())
        pack.writestr(INFO_NAME, PackInfo({name: number for number, name in enumerate(names)}).to_json())
    return path
