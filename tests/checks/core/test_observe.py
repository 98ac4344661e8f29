import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision import tv_tensors

from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import attempt, folder_of, no_warnings, outcome, seen_image


def test_an_attempt_holds_a_value_or_one_line_about_the_error():
    assert outcome(attempt(lambda: 3)) == 3
    failed = attempt(lambda: [][1])
    assert failed["error"].startswith("IndexError: list index out of range")
    with pytest.raises(Mistake, match="stopped with an error: IndexError"):
        outcome(failed)


def test_an_error_points_at_the_students_line_and_not_into_a_library():
    seen = attempt(lambda: torch.zeros(2).reshape(3))
    assert "of <lambda>: seen = attempt(lambda: torch" in seen["error"]


@pytest.mark.parametrize("image", [torch.ones(3, 2, 2), np.ones((3, 2, 2))])
def test_an_image_is_described_by_its_type_and_numbers(image):
    seen = seen_image(image)
    assert seen["kind"] == type(image).__name__
    np.testing.assert_array_equal(seen["array"], np.ones((3, 2, 2)))


def test_an_image_of_torchvision_is_a_tensor():
    assert seen_image(tv_tensors.Image(torch.zeros(3, 2, 2)))["kind"] == "Tensor"


@pytest.mark.parametrize("image", [None, "text", np.array([None])])
def test_what_is_no_image_has_no_numbers(image):
    assert seen_image(image) == {"kind": type(image).__name__, "array": None}


def test_a_folder_holds_its_files_for_a_while_and_keeps_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with folder_of({"a.txt": b"a", "inner/b.txt": b"b"}) as folder:
        assert (folder / "inner" / "b.txt").read_bytes() == b"b"
        monkeypatch.chdir(folder)
    assert not folder.exists()
    assert Path.cwd() == tmp_path


def test_warnings_are_kept_quiet():
    with no_warnings():
        warnings.warn("seen by nobody", stacklevel=1)
