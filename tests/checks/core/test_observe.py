import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision import tv_tensors

from course_utils.checks.core import MAX_EVENTS, FileEvent, activity_of
from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import attempt, folder_with, ignore_warnings, record_image, value_of


def test_attempt_holds_a_value_or_an_error_in_one_line():
    assert value_of(attempt(lambda: 3)) == 3
    failed = attempt(lambda: [][1])
    assert failed["error"].startswith("IndexError: list index out of range")
    with pytest.raises(Mistake, match="stopped with an error: IndexError"):
        value_of(failed)


def test_error_names_the_line_of_the_student_not_of_a_library():
    failed = attempt(lambda: torch.zeros(2).reshape(3))
    assert "of <lambda>: failed = attempt(lambda: torch" in failed["error"]


@pytest.mark.parametrize("image", [torch.ones(3, 2, 2), np.ones((3, 2, 2))])
def test_image_is_recorded_by_type_and_numbers(image):
    record = record_image(image)
    assert record["kind"] == type(image).__name__
    np.testing.assert_array_equal(record["array"], np.ones((3, 2, 2)))


def test_torchvision_image_counts_as_tensor():
    assert record_image(tv_tensors.Image(torch.zeros(3, 2, 2)))["kind"] == "Tensor"


@pytest.mark.parametrize("image", [None, "text", np.array([None])])
def test_other_objects_are_recorded_without_numbers(image):
    assert record_image(image) == {"kind": type(image).__name__, "array": None}


def test_folder_is_removed_and_working_directory_restored(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with folder_with({"a.txt": b"a", "inner/b.txt": b"b"}) as folder:
        assert (folder / "inner" / "b.txt").read_bytes() == b"b"
        monkeypatch.chdir(folder)
    assert not folder.exists()
    assert Path.cwd() == tmp_path


def test_too_many_events_are_a_mistake():
    with pytest.raises(Mistake, match="endless loop"):
        activity_of([FileEvent(1, "look", "a")] * MAX_EVENTS)


def test_warnings_are_suppressed():
    # pytest turns every warning into an error.
    with ignore_warnings():
        warnings.warn("suppressed", stacklevel=1)


def test_a_subclass_does_not_answer_for_its_tensor():
    class Lying(torch.Tensor):
        def numpy(self):
            return np.ones(2)

        detach = cpu = lambda self: self

    record = record_image(torch.zeros(3).as_subclass(Lying))
    assert record["kind"] == "Tensor"
    assert record["array"].tolist() == [0, 0, 0]
