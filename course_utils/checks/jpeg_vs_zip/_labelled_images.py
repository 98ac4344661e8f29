"""The verdict on the samples of a dataset of labelled images: which files, their order, their labels."""

from pathlib import Path
from typing import TypedDict

import numpy as np

from course_utils.checks.core import (
    PREVIEW,
    STRAYS,
    SUBFOLDER,
    Attempt,
    AttemptOf,
    DrawnFolder,
    ImageRecord,
    Mistake,
    decode_rgb,
    error_in,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    look_alike,
    value_of,
)
from course_utils.data import INFO_NAME

FOLDER = "old.JPEG"  # named like a picture
PAIR = "pair"


class LabelledImage(TypedDict):
    """A sample as plain data: `PAIR` or its type; the label is a type where it is not a whole number."""

    sample: str
    image: ImageRecord
    label: int | str


class Reading(TypedDict):
    """What a dataset said about its length and returned for each index."""

    length: AttemptOf[int]
    samples: list[AttemptOf[LabelledImage]]


def expect_reading(truth: DrawnFolder, found: Reading) -> None:
    """Check which files were taken for images, then the samples, their order and the labels."""
    attempts: list[Attempt] = [found["length"], *found["samples"]]
    _expect_known_files(truth, [attempted["error"] for attempted in attempts if "error" in attempted])
    length = value_of(found["length"])
    for attempted in found["samples"]:
        expect_pair(attempted["value"]["sample"] if "value" in attempted else PAIR)
    images = {name: decode_rgb(data) for name, data in truth["images"].items()}
    _expect_this_folder(images, found["samples"])
    _expect_file_count(truth, length, found["samples"])
    _expect_all_modes(found["samples"])
    shown = [_name_and_label(images, value_of(attempted)) for attempted in found["samples"]]
    names = [name for name, _ in shown]
    if len(set(names)) < len(images):
        raise Mistake("same_image", "Different indices return the same image; use `index`.")
    if names != sorted(names):
        raise Mistake(
            "not_sorted",
            "The samples are not in the sorted order of their names: they begin with "
            f"{', '.join(names[:2])}. A file system lists files in an order of its own: sort the names.",
        )
    _expect_labels(truth["labels"], dict(shown))


def expect_pair(sample: str, where: str = "") -> None:
    """Check that a sample is a pair whose second part is no image."""
    if sample != PAIR:
        raise Mistake(
            "no_pair",
            f"dataset[i]{where} is {sample}; return the pair (image, label), the image first.",
        )


def _expect_known_files(truth: DrawnFolder, errors: list[str]) -> None:
    said = {error: error_in(error) for error in errors}
    for error in errors:
        if truth["inner"][0] in said[error]:
            raise _found_in_subfolder(truth, f" The error was: {error}")
    for error in errors:
        _expect_no_stray(said[error], error)
        if any(name in said[error] for name in truth["absent"]):
            raise Mistake(
                "counts_labels",
                "Your dataset opens an image that does not exist: dataset.json also has labels of images "
                f"that are not in this folder. Take the names from the folder. The error was: {error}",
            )


def _expect_no_stray(said: str, error: str) -> None:
    if FOLDER in said:
        raise Mistake(
            "takes_a_folder",
            f"Your dataset took {FOLDER} for an image, but that is a folder. Keep only files (`is_file()`). "
            f"The error was: {error}",
        )
    for stray in (PREVIEW, *(Path(stray).name for stray in STRAYS), ".ipynb_checkpoints", INFO_NAME):
        if stray in said and "No such file" not in said:
            raise Mistake(
                "stray_file",
                f"Your dataset took {stray} for an image. Folders collect other files; keep only those whose "
                f"name ends in .JPEG. The error was: {error}",
            )


def _found_in_subfolder(truth: DrawnFolder, more: str = "") -> Mistake:
    return Mistake(
        "searches_subfolders",
        f"Your dataset found {truth['inner'][0]}, which is in a subfolder, {SUBFOLDER}. Take only the files "
        f"directly in the folder (`glob`, not `rglob`).{more}",
    )


def _expect_this_folder(images: dict[str, np.ndarray], samples: list[Attempt]) -> None:
    shape = next(iter(images.values())).shape
    arrays = [attempted["value"]["image"]["array"] for attempted in samples if "value" in attempted]
    if arrays and not any(array is None or set(shape[1:]) <= set(array.shape) for array in arrays):
        expect_shape(arrays[0], shape)


def _expect_file_count(truth: DrawnFolder, length: int, samples: list[Attempt]) -> None:
    images, labels = len(truth["images"]), len(truth["labels"])
    message = f"len() is {length}, but the folder holds {images} images. "
    if length == labels:
        raise Mistake("counts_labels", message + f"{labels} is the number of labels; count the files.")
    if length > images:
        hidden, preview = decode_rgb(truth["inner"][1]), decode_rgb(truth["preview"])
        if any(_shows(attempted, hidden) for attempted in samples):
            raise _found_in_subfolder(truth)
        message += "Count only files whose name ends in .JPEG, "
        if any(_shows(attempted, preview) for attempted in samples):
            raise Mistake("stray_file", message + f"so not {PREVIEW}.")
        others = f"so neither {PREVIEW} nor {STRAYS[0]}, nor the folder {FOLDER}."
        raise Mistake("stray_file", message + others)
    if length < images:
        raise Mistake("missing_images", message + "Count every file whose name ends in .JPEG.")


def _shows(attempted: Attempt, image: np.ndarray) -> bool:
    pixels = attempted["value"]["image"]["array"] if "value" in attempted else None
    return pixels is not None and look_alike(pixels, image)


def _expect_all_modes(samples: list[Attempt]) -> None:
    errors = [attempted["error"] for attempted in samples if "error" in attempted]
    shapes = [np.shape(s["value"]["image"]["array"]) for s in samples if "value" in s]
    odd = [shape for shape in shapes if len(shape) == 2 or {1, 4} & set(shape)]
    if odd or 0 < len(errors) < len(samples) / 2:
        what = f"an image has shape {list(odd[0])}" if odd else f"your code stopped with {errors[0]}"
        raise Mistake(
            "no_rgb",
            f"Not every JPEG is RGB: grayscale files have 1 channel and CMYK files 4, and {what}. "
            "Convert every image to RGB first.",
        )


def _name_and_label(images: dict[str, np.ndarray], sample: LabelledImage) -> tuple[str, int]:
    pixels = expect_uint8_tensor(sample["image"])
    expect_shape(pixels, next(iter(images.values())).shape)
    name = expect_one_of(pixels, images)
    if not isinstance(sample["label"], int):
        message = f"The label of {name} is of type {sample['label']}; it should be a whole number."
        raise Mistake("label_no_number", message)
    return name, sample["label"]


def _expect_labels(labels: dict[str, int], shown: dict[str, int]) -> None:
    wrong = [name for name in sorted(shown) if shown[name] != labels[name]]
    if not wrong:
        return
    if len({*shown.values()}) == 1:
        raise Mistake(
            "same_label",
            f"Every image came with the label {shown[wrong[0]]}, which dataset.json does not say. Does your "
            "code fall back on a default (`get(name, 0)`) because it looks up other keys? Those of "
            f'["labels"] are whole file names, such as {wrong[0]}.',
        )
    name = wrong[0]
    message = f"{name} came with label {shown[name]}, but dataset.json says {labels[name]}. "
    if set(shown.values()) <= set(labels.values()):
        message += "The JSON does not list the labels in the order of the files: look each one up by name."
        raise Mistake("labels_by_position", message)
    raise Mistake("wrong_label", message + "Return the number given in the JSON.")
