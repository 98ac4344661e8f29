"""The verdict on the samples of a dataset of labelled images: which files, their order, their labels."""

from pathlib import Path
from typing import TypedDict

import numpy as np

from course_utils.checks import core
from course_utils.data import INFO_NAME

mistake = core.Messages(__name__)

FOLDER = "old.JPEG"  # named like a picture
PAIR = "pair"


class LabelledImage(TypedDict):
    """A sample as plain data: `PAIR` or its type; the label is a type where it is not a whole number."""

    sample: str
    image: core.ImageRecord
    label: int | str


class Reading(TypedDict):
    """What a dataset said about its length and returned for each index."""

    length: core.AttemptOf[int]
    samples: list[core.AttemptOf[LabelledImage]]


def expect_reading(truth: core.DrawnFolder, found: Reading) -> None:
    """Check which files were taken for images, then the samples, their order and the labels."""
    attempts: list[core.Attempt] = [found["length"], *found["samples"]]
    _expect_known_files(truth, [attempted["error"] for attempted in attempts if "error" in attempted])
    length = core.value_of(found["length"])
    for attempted in found["samples"]:
        expect_pair(attempted["value"]["sample"] if "value" in attempted else PAIR)
    images = {name: core.decode_rgb(data) for name, data in truth["images"].items()}
    _expect_this_folder(images, found["samples"])
    _expect_file_count(truth, length, found["samples"])
    _expect_all_modes(found["samples"])
    shown = [_name_and_label(images, core.value_of(attempted)) for attempted in found["samples"]]
    names = [name for name, _ in shown]
    if len(set(names)) < len(images):
        raise mistake("same_image")
    if names != sorted(names):
        raise mistake("not_sorted", names=", ".join(names[:2]))
    _expect_labels(truth["labels"], dict(shown))


def expect_pair(sample: str, where: str = "") -> None:
    """Check that a sample is a pair whose second part is no image."""
    if sample != PAIR:
        raise mistake("no_pair", where=where, sample=sample)


def _expect_known_files(truth: core.DrawnFolder, errors: list[str]) -> None:
    said = {error: core.error_in(error) for error in errors}
    for error in errors:
        if truth["inner"][0] in said[error]:
            raise mistake("searches_subfolders", inner=truth["inner"], more=f" The error was: {error}")
    for error in errors:
        _expect_no_stray(said[error], error)
        if any(name in said[error] for name in truth["absent"]):
            raise mistake("counts_labels.absent", error=error)


def _expect_no_stray(said: str, error: str) -> None:
    if FOLDER in said:
        raise mistake("takes_a_folder", error=error)
    names = [Path(stray).name for stray in core.STRAYS]
    for stray in (core.PREVIEW, *names, ".ipynb_checkpoints", INFO_NAME):
        if stray in said and "No such file" not in said:
            raise mistake("stray_file.opened", stray=stray, error=error)


def _expect_this_folder(images: dict[str, np.ndarray], samples: list[core.Attempt]) -> None:
    shape = next(iter(images.values())).shape
    arrays = [attempted["value"]["image"]["array"] for attempted in samples if "value" in attempted]
    if arrays and not any(array is None or set(shape[1:]) <= set(array.shape) for array in arrays):
        core.expect_shape(arrays[0], shape)


def _expect_file_count(truth: core.DrawnFolder, length: int, samples: list[core.Attempt]) -> None:
    images, labels = len(truth["images"]), len(truth["labels"])
    hidden, preview = core.decode_rgb(truth["inner"][1]), core.decode_rgb(truth["preview"])
    mistakes = {
        "counts_labels.files": length == labels,
        "searches_subfolders": length > images and any(_shows(sample, hidden) for sample in samples),
        "stray_file.preview": length > images and any(_shows(sample, preview) for sample in samples),
        "stray_file.others": length > images,
        "missing_images": length < images,
    }
    values = {"length": length, "images": images, "labels": labels, "inner": truth["inner"], "more": ""}
    mistake.raise_first(mistakes, **values)


def _shows(attempted: core.Attempt, image: np.ndarray) -> bool:
    pixels = attempted["value"]["image"]["array"] if "value" in attempted else None
    return pixels is not None and core.look_alike(pixels, image)


def _expect_all_modes(samples: list[core.Attempt]) -> None:
    errors = [attempted["error"] for attempted in samples if "error" in attempted]
    shapes = [np.shape(s["value"]["image"]["array"]) for s in samples if "value" in s]
    odd = [shape for shape in shapes if len(shape) == 2 or {1, 4} & set(shape)]
    if odd or 0 < len(errors) < len(samples) / 2:
        what = f"an image has shape {list(odd[0])}" if odd else f"your code stopped with {errors[0]}"
        raise mistake("no_rgb", what=what)


def _name_and_label(images: dict[str, np.ndarray], sample: LabelledImage) -> tuple[str, int]:
    pixels = core.expect_uint8_tensor(sample["image"])
    core.expect_shape(pixels, next(iter(images.values())).shape)
    name = core.expect_one_of(pixels, images)
    if not isinstance(sample["label"], int):
        raise mistake("label_no_number", name=name, label=sample["label"])
    return name, sample["label"]


def _expect_labels(labels: dict[str, int], shown: dict[str, int]) -> None:
    for name in (name for name in sorted(shown) if shown[name] != labels[name]):
        mistakes = {
            "same_label": len({*shown.values()}) == 1,
            "labels_by_position": {*shown.values()} <= {*labels.values()},
            "wrong_label": True,
        }
        mistake.raise_first(mistakes, name=name, shown=shown[name], label=labels[name])
