"""The classes that lesson 01 shows in full deliver what those of the package deliver."""

import types
from pathlib import Path
from typing import Any

import pytest
import torch

from course_utils import data
from course_utils.storage import count_epoch
from tests.lessons.lesson import LESSONS, code_cells, read

SHOWN = ("jpeg-dataset", "time-epoch", "zip-dataset")
IMPORTS = """
import io, json, zipfile
from pathlib import Path
from time import perf_counter
import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms.v2.functional import pil_to_tensor
"""


@pytest.fixture(scope="module")
def page() -> types.ModuleType:
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == "jpeg_vs_zip"]
    module = types.ModuleType("page")
    exec(IMPORTS, module.__dict__)
    for cell in code_cells(read(lesson.solution)):
        if cell.id in SHOWN:
            exec(cell.source, module.__dict__)
    return module


@pytest.mark.parametrize(
    ("name", "form", "options"),
    [
        ("JpegDataset", "disk_transformed", {}),
        ("ZIPDataset", "zip_encoded/part0.zip", {"load_encoded": True}),
        ("ZIPDataset", "zip/part0.zip", {}),
    ],
)
def test_page_and_package_deliver_and_ask_for_the_same(
    page: types.ModuleType, photo_set: Path, name: str, form: str, options: dict[str, Any]
):
    def shown():
        return getattr(page, name)(photo_set / form, **options)

    def packaged():
        return getattr(data, name)(photo_set / form, **options)

    assert len(shown()) == len(packaged())
    for (image, label), (other, its_label) in zip(shown(), packaged(), strict=False):
        assert torch.equal(image, other)
        assert label == its_label
    assert count_epoch(shown, shuffle=True).epoch == count_epoch(packaged, shuffle=True).epoch


def test_benchmark_of_the_page_leaves_out_the_first_epoch_on_request(page: types.ModuleType, photo_set: Path):
    photos = page.JpegDataset(photo_set / "disk_transformed")
    assert len(page.benchmark(photos, epochs=2, batch_size=16)) == 2
    assert len(page.benchmark(photos, epochs=2, batch_size=16, warm_start=True)) == 1
