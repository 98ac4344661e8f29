import zipfile

import numpy as np
import pytest
import torch

from course_utils.data.pack import INFO_NAME, PackError, PackInfo, RawLayout
from course_utils.data.pack_access import open_pack


@pytest.mark.parametrize("order", ["HWC", "CHW"])
def test_both_layouts_return_the_same_image(order):
    hwc = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)
    array = hwc if order == "HWC" else hwc.transpose(2, 0, 1)
    image = RawLayout(order, array.shape).image(array.tobytes())
    assert torch.equal(image, torch.from_numpy(hwc).permute(2, 0, 1))


def test_image_is_writable():
    image = RawLayout("HWC", (2, 2, 3)).image(bytes(12))
    image += 1
    assert image.sum() == 12


@pytest.mark.parametrize(
    ("order", "shape", "dtype"),
    [
        ("WHC", (4, 4, 3), "uint8"),
        ("HWC", (3, 4, 4), "uint8"),
        ("CHW", (3, 4, 4), "float32"),
        ("HWC", (4, 3), "uint8"),
    ],
)
def test_layout_that_is_not_rgb_is_rejected(order, shape, dtype):
    with pytest.raises(PackError):
        RawLayout(order, shape, dtype)


@pytest.mark.parametrize("layout", [None, RawLayout("CHW", (3, 8, 9))])
def test_pack_info_json_round_trip(layout):
    info = PackInfo({"a.JPEG": 3}, layout)
    assert PackInfo.from_json(info.to_json()) == info


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"labels": 3}', '{"labels": {"a": "x"}}', '{"labels": {}, "layout": "HWC"}']
)
def test_invalid_dataset_json_is_rejected(text):
    with pytest.raises(PackError, match=INFO_NAME):
        PackInfo.from_json(text)


def test_error_names_truncated_zip(tmp_path):
    path = tmp_path / "part0.zip"
    with zipfile.ZipFile(path, "w") as pack:
        pack.writestr(INFO_NAME, PackInfo({}).to_json())
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(PackError, match=r"part0\.zip is not a complete zip"):
        open_pack(path)


def test_error_names_zip_without_dataset_json(tmp_path):
    zipfile.ZipFile(tmp_path / "part0.zip", "w").close()
    with pytest.raises(PackError, match=r"part0\.zip: it has no dataset\.json"):
        open_pack(tmp_path / "part0.zip")
