"""Small packs of images, and a set in the course's three forms, for tests that need real files."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackInfo, RawLayout
from course_utils.paths import FORMS

SHAPE = (64, 96, 3)
COUNT = 12


@pytest.fixture(scope="session")
def image_set(tmp_path_factory):
    """Return a folder with 12 noisy images: `disk_transformed/`, `zip_encoded/part0.zip`, `zip/part0.zip`."""
    top = tmp_path_factory.mktemp("image_set")
    rng = np.random.default_rng(0)
    images = {f"img{i:08d}.JPEG": rng.integers(0, 256, SHAPE, dtype=np.uint8) for i in range(COUNT)}
    jpegs = {name: encode_jpeg(image) for name, image in images.items()}
    labels = dict(zip(images, range(COUNT), strict=True))
    for form in FORMS:
        (top / form).mkdir()
    for name, data in jpegs.items():
        (top / "disk_transformed" / name).write_bytes(data)
    (top / "disk_transformed" / LABELS_NAME).write_text("\n".join(map(str, labels.values())))
    write_pack(top / "zip_encoded/part0.zip", jpegs, PackInfo(labels))
    raw = {name: image.tobytes() for name, image in images.items()}
    write_pack(top / "zip/part0.zip", raw, PackInfo(labels, RawLayout("HWC", SHAPE)))
    return top


def encode_jpeg(pixels):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def write_pack(path, members, info):
    with zipfile.ZipFile(path, "w") as pack:
        for name, data in members.items():
            pack.writestr(name, data)
        pack.writestr(INFO_NAME, info.to_json())
    return path


def numbered_jpeg(number, size=(24, 16)):
    """Return a smooth JPEG image, different for each number; `size` is its width and height."""
    small = np.random.default_rng(number).integers(0, 256, (3, 2, 3), np.uint8)
    return encode_jpeg(np.asarray(Image.fromarray(small).resize(size, Image.Resampling.BILINEAR)))


def numbered_pack(path, images, first=0, layout=None):
    """Write a pack; the label of an image is its number, which starts at `first`."""
    names = [f"img{first + i:08d}.JPEG" for i in range(len(images))]
    labels = {name: first + i for i, name in enumerate(names)}
    return write_pack(path, dict(zip(names, images, strict=True)), PackInfo(labels, layout))
