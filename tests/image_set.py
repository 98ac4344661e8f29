"""A small set of images in the course's three forms, for tests that need real files."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image

from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackInfo, RawLayout

SHAPE = (64, 96, 3)
COUNT = 12


@pytest.fixture(scope="session")
def image_set(tmp_path_factory):
    """A folder with `disk_transformed/`, `zip_encoded/part0.zip` and `zip/part0.zip`: 12 noisy images."""
    top = tmp_path_factory.mktemp("image_set")
    rng = np.random.default_rng(0)
    images = {f"img{i:08d}.JPEG": rng.integers(0, 256, SHAPE, dtype=np.uint8) for i in range(COUNT)}
    jpegs = {name: _jpeg(image) for name, image in images.items()}
    labels = dict(zip(images, range(COUNT), strict=True))
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (top / form).mkdir()
    for name, data in jpegs.items():
        (top / "disk_transformed" / name).write_bytes(data)
    (top / "disk_transformed" / LABELS_NAME).write_text("\n".join(map(str, labels.values())))
    _pack(top / "zip_encoded/part0.zip", jpegs, PackInfo(labels))
    raw = {name: image.tobytes() for name, image in images.items()}
    _pack(top / "zip/part0.zip", raw, PackInfo(labels, RawLayout("HWC", SHAPE)))
    return top


def _jpeg(image):
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def _pack(path, members, info):
    with zipfile.ZipFile(path, "w") as pack:
        for name, data in members.items():
            pack.writestr(name, data)
        pack.writestr(INFO_NAME, info.to_json())
