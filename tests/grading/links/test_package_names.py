"""The names that a lesson takes from the package lead to the files that define them."""

import pytest

from grading.links.package_names import PackageNames, Place

CODE = """
from course_utils.checks import jpeg_vs_zip
from course_utils.checks.core import CheckFailed
from course_utils.data import (
    JpegDataset,
    index_path,
    ZipIndex,
)
from course_utils.distributed.batch import PRESETS as SYSTEMS
from course_utils.paths import data_dir
from course_utils.pipeline import simulate

class ZIPDataset:
    pass


make(dataset, data_format=1, index_path=None)
"""
NAMES = PackageNames(CODE)


@pytest.mark.parametrize(
    ("span", "file", "dotted"),
    [
        ("JpegDataset", "course_utils/data/jpeg_dataset.py", "course_utils.data.JpegDataset"),
        ("simulate??", "course_utils/pipeline/model.py", "course_utils.pipeline.simulate"),
        ("data_dir()", "course_utils/paths.py", "course_utils.paths.data_dir"),
        ("ZipIndex", "course_utils/data/zips/zip_index.py", "course_utils.data.ZipIndex"),
        ("PackInfo", "course_utils/data/pack.py", "course_utils.data.PackInfo"),
        ("Recorder??", "course_utils/pipeline/recorder.py", "course_utils.pipeline.Recorder"),
        ("course_utils.formats", "course_utils/formats/__init__.pyi", "course_utils.formats"),
        ("course_utils/formats", "course_utils/formats/__init__.pyi", "course_utils.formats"),
        ("course_utils/storage/shared_fs.py", "course_utils/storage/shared_fs.py", "course_utils.storage"),
        (
            "course_utils.format_trials.share_by_threads",
            "course_utils/format_trials/sharing.py",
            "course_utils.format_trials.share_by_threads",
        ),
    ],
)
def test_name_leads_to_the_file_that_defines_it(span: str, file: str, dotted: str):
    assert NAMES.place(span) == Place(file, dotted)


@pytest.mark.parametrize(
    "span",
    [
        "transform",  # offered beside what is imported, but not imported: here it is a parameter
        "index_path",  # imported, and also a parameter
        "ZIPDataset",  # the lesson's own class
        "SYSTEMS",
        "jpeg_vs_zip",
        "CheckFailed",
        "course_utils",
        "course_utils.checks.core",
        "grading",
        "course_utils.data.no_such_name",
        "course_utils.data import JpegDataset",
        "numpy.array",
        "",
    ],
)
def test_other_code_leads_nowhere(span: str):
    assert NAMES.place(span) is None
