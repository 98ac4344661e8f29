"""Check a dataset of JPEG files whose labels are in a JSON file."""

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import torch

from course_utils.checks import core
from course_utils.checks.jpeg_vs_zip._labelled_images import (
    FOLDER,
    PAIR,
    LabelledImage,
    Reading,
    expect_pair,
    expect_reading,
)
from course_utils.data import INFO_NAME

mistake = core.Messages(__name__)

# More labels than a folder has files, so that counting files is never taken for counting labels.
PRESENT, ABSENT = 8, 20
SIZES = ((48, 64), (40, 72))  # height and width of the images in the first folder and in the second
GIVEN, TRANSFORMED = [3, 48, 64], [3, 47, 62]  # shapes of an image of the first folder, before and after
ONE, TWO = "one", "two"
AGAIN, READ_AGAIN = "again", "read-again"
# Whoever reads the labels again, from wherever, reads much more than the images have.
PADDING, MAX_READ = 2**20, 2**19


class TransformUse(TypedDict):
    """What the transform was called with in two reads, and the second sample that was read."""

    sample: str
    kinds: list[str]
    given: list[list[int]]
    shape: list[int]


class Found(TypedDict):
    """The readings of two datasets, and what else was tried; a dataset that cannot be created ends it."""

    files: list[core.FileEvent]
    first: Reading
    second: NotRequired[Reading]
    again: NotRequired[list[core.AttemptOf[LabelledImage]]]
    transformed: NotRequired[core.AttemptOf[TransformUse]]


def make(rng: np.random.Generator, padding: int = PADDING) -> tuple[core.Inputs, core.Truth]:
    """Draw two folders, with images of another size in the second and labels that are long to read."""
    first, second = (core.draw_folder(rng, PRESENT, ABSENT, *size) for size in SIZES)
    files = {f"{ONE}/{name}": data for name, data in first["files"].items()}
    files |= {f"{TWO}/{name}": data for name, data in second["files"].items()}
    for folder in (ONE, TWO):
        files[f"{folder}/{INFO_NAME}"] += b" " * padding
        files[f"{folder}/{FOLDER}/notes.txt"] = b"not an image"
    return {"files": files}, [first, second]


def probe(inputs: core.Inputs, dataset_class: Callable[..., Any]) -> Found:
    """Create a dataset with a transform and two without, read them, and the first one again."""
    with (
        core.folder_with(inputs["files"], read_only=True) as folder,
        core.recording(folder) as files,
        core.ignore_warnings(),
    ):
        transformed = core.attempt(lambda: _use_transform(dataset_class, folder / ONE))
        first, data = _read(dataset_class, folder / ONE)
        if data is None:
            return {"files": files.events(), "first": first}
        second, _ = _read(dataset_class, folder / TWO)
        files.mark(AGAIN)
        again = [_attempt_sample(data, index) for index in range(len(first["samples"]))]
        files.mark(READ_AGAIN)
        found: Found = {"files": files.events(), "first": first, "second": second, "again": again}
    return {**found, "transformed": transformed}


def _read(dataset_class: Callable[..., Any], folder: Path) -> tuple[Reading, Any]:
    created = core.attempt(lambda: dataset_class(folder))
    if "error" in created:
        return {"length": created, "samples": []}, None
    data = created["value"]
    length = core.attempt(lambda: operator.index(len(data)))
    count = min(length.get("value", 0), 2 * (PRESENT + ABSENT))
    return {"length": length, "samples": [_attempt_sample(data, i) for i in range(count)]}, data


def _attempt_sample(dataset: Any, index: int) -> core.Attempt:  # noqa: ANN401 - the student's dataset
    return core.attempt(lambda: _sample(dataset, index))


def _sample(dataset: Any, index: int) -> LabelledImage:  # noqa: ANN401 - the student's dataset
    sample = dataset[index]
    image, label = sample if (kind := _kind_of(sample)) == PAIR else (None, None)
    return {"sample": kind, "image": core.record_image(image), "label": _whole_number(label)}


def _kind_of(sample: object) -> str:
    """Return what a sample consists of: the types of the parts of a tuple or list, or its own type."""
    if not isinstance(sample, tuple | list):
        return core.type_name(sample)
    is_pair = len(sample) == 2 and not (core.type_name(sample[1]) == "Tensor" and np.ndim(sample[1]) > 1)
    return PAIR if is_pair else f"({', '.join(map(core.type_name, sample))})"[:200]


def _whole_number(label: Any) -> int | str:  # noqa: ANN401 - the student's label
    if isinstance(label, torch.Tensor | np.ndarray) and label.ndim == 0:
        label = label.item()
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    return core.type_name(label) + (f" and shape {list(np.shape(label))}" if np.ndim(label) else "")


def _use_transform(dataset_class: Callable[..., Any], folder: Path) -> TransformUse:
    inputs: list[object] = []

    def crop(image: object) -> object:
        inputs.append(image)
        return image[:, 1:, 2:] if isinstance(image, torch.Tensor) else image

    dataset = dataset_class(folder, transform=crop)
    inputs.clear()
    samples = [dataset[0] for _ in range(2)]
    kind = _kind_of(samples[1])
    return {
        "sample": kind,
        "kinds": [core.type_name(image) for image in inputs],
        "given": [list(np.shape(image)) for image in inputs if isinstance(image, torch.Tensor)],
        "shape": list(np.shape(samples[1][0])) if kind == PAIR else [],
    }


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check the samples of one dataset, of a second one, then when labels are read and the transform."""
    one, other = truth
    expect_reading(one, evidence["first"])
    _expect_second(other, evidence["second"])
    _expect_same_again(evidence["first"]["samples"], evidence["again"])
    _expect_transform_each_time(core.value_of(evidence["transformed"]))
    _judge_files(core.activity_of(evidence["files"]))
    return (
        "Each image comes once, in the sorted order of the names, as uint8 RGB of shape 3×H×W, with the "
        "label that dataset.json gives for its name; other files in the folder are ignored."
    )


def _expect_second(truth: core.DrawnFolder, found: Reading) -> None:
    try:
        expect_reading(truth, found)
    except core.Mistake as wrong:
        raise mistake("second_dataset", message=wrong.message) from wrong


def _expect_same_again(first: list[core.Attempt], again: list[core.Attempt]) -> None:
    if core.evidence.encode(first) != core.evidence.encode(again):
        raise mistake("shared_by_datasets")


def _expect_transform_each_time(used: TransformUse) -> None:
    expect_pair(used["sample"], " with a transform")
    calls, returned = len(used["kinds"]), used["shape"] == TRANSFORMED
    overwritten = [shape for shape in used["given"] if shape != GIVEN]
    others = [kind for kind in used["kinds"] if kind != "Tensor"]
    mistakes = {
        "transform_of_no_tensor": others,
        "transforms_again": overwritten and calls <= 2,
        "transform_ignored": not calls and not returned,
        "transform_twice": calls > 2,
        "transform_not_each_time": calls < 2,
        "transform_result_ignored": not returned,
    }
    often = {0: "not at all", 1: "once"}.get(calls, f"{calls} times")
    mistake.raise_first(mistakes, kinds=others, overwritten=overwritten, given=GIVEN, often=often)


def _judge_files(activity: core.FileActivity) -> None:
    """Check that reading samples again reads no labels, neither from their file nor from a copy of it."""
    again = activity.after(AGAIN).before(READ_AGAIN)
    touched = again.count("open", "read", "pread")[f"{ONE}/{INFO_NAME}"]
    used = activity.used_between(AGAIN, READ_AGAIN)
    if touched or again.count("run") or (used is not None and used.read > MAX_READ):
        raise mistake("labels_read_again")
