"""Check a dataset of JPEG files whose labels are in a JSON file."""

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np
import torch

from course_utils.checks.core import (
    MEASURE,
    STRAYS,
    SUBFOLDER,
    Attempt,
    AttemptOf,
    DrawnFolder,
    Evidence,
    FileActivity,
    ImageRecord,
    Inputs,
    Mistake,
    Truth,
    attempt,
    decode_rgb,
    draw_folder,
    evidence,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    folder_with,
    ignore_warnings,
    look_alike,
    mark,
    record_image,
    type_name,
    value_of,
)
from course_utils.data import INFO_NAME

# More labels than a folder has files, so that counting files is never taken for counting labels.
PRESENT, ABSENT = 8, 20
SIZES = ((48, 64), (40, 72))  # height and width of the images in the first folder and in the second
TRANSFORMED = [3, 5, 7]


ONE, TWO = "one", "two"
AGAIN, READ_AGAIN = f"{MEASURE}again", f"{MEASURE}read-again"
# Whoever reads the labels again, from wherever, reads much more than the images have.
PADDING, MAX_READ = b" " * 2**20, 2**19


class LabelledImage(TypedDict):
    """A sample as plain data; the label is the name of its type where it is not a whole number."""

    image: ImageRecord
    label: int | str


class TransformUse(TypedDict):
    """The types that the transform was called with in two reads, and the shape of the second image."""

    kinds: list[str]
    shape: list[int]


class Reading(TypedDict):
    """What a dataset said about its length and returned for each index."""

    length: AttemptOf[int]
    samples: list[AttemptOf[LabelledImage]]


class Found(TypedDict):
    """The readings of two datasets, and what else was tried; a dataset that cannot be created ends it."""

    first: Reading
    second: NotRequired[Reading]
    again: NotRequired[list[AttemptOf[LabelledImage]]]
    transformed: NotRequired[AttemptOf[TransformUse]]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw two folders, with images of another size in the second."""
    first, second = (draw_folder(rng, PRESENT, ABSENT, *size) for size in SIZES)
    files = {f"{ONE}/{name}": data for name, data in first["files"].items()}
    files |= {f"{TWO}/{name}": data for name, data in second["files"].items()}
    for folder in (ONE, TWO):
        files[f"{folder}/{INFO_NAME}"] += PADDING
    return {"files": files}, [first, second]


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Found:
    """Create a dataset with a transform and two without, read them, and the first one again."""
    with folder_with(inputs["files"], read_only=True) as folder, ignore_warnings():
        transformed = attempt(lambda: _use_transform(dataset_class, folder / ONE))
        first, data = _read(dataset_class, folder / ONE)
        if data is None:
            return {"first": first}
        second, _ = _read(dataset_class, folder / TWO)
        mark(folder, AGAIN)
        again = [_attempt_sample(data, index) for index in range(len(first["samples"]))]
        mark(folder, READ_AGAIN)
    return {
        "first": first,
        "second": second,
        "again": again,
        "transformed": transformed,
    }


def _read(dataset_class: Callable[..., Any], folder: Path) -> tuple[Reading, Any]:
    created = attempt(lambda: dataset_class(folder))
    if "error" in created:
        return {"length": created, "samples": []}, None
    data = created["value"]
    length = attempt(lambda: operator.index(len(data)))
    count = min(length.get("value", 0), 2 * (PRESENT + ABSENT))
    return {"length": length, "samples": [_attempt_sample(data, i) for i in range(count)]}, data


def _attempt_sample(dataset: Any, index: int) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: _sample(dataset, index))


def _sample(dataset: Any, index: int) -> LabelledImage:  # noqa: ANN401 - the student's dataset
    image, label = dataset[index]
    return {"image": record_image(image), "label": _whole_number(label)}


def _whole_number(label: Any) -> int | str:  # noqa: ANN401 - the student's label
    if isinstance(label, torch.Tensor | np.ndarray) and label.ndim == 0:
        label = label.item()
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    return type_name(label) + (f" and shape {list(np.shape(label))}" if np.ndim(label) else "")


def _use_transform(dataset_class: Callable[..., Any], folder: Path) -> TransformUse:
    kinds: list[str] = []

    def corner(image: object) -> object:
        kinds.append(type_name(image))
        return image[:, :5, :7] if isinstance(image, torch.Tensor) else image

    dataset = dataset_class(folder, transform=corner)
    kinds.clear()
    images = [dataset[0][0] for _ in range(2)]
    return {"kinds": kinds, "shape": list(np.shape(images[1]))}


def judge(truth: Truth, found: Evidence) -> str:
    """Check the samples of one dataset, of a second one, then when labels are read and the transform."""
    one, other = truth
    _expect_reading(one, found["first"])
    _expect_second(other, found["second"])
    _expect_same_again(found["first"]["samples"], found["again"])
    _expect_transform_each_time(value_of(found["transformed"]))
    return (
        "Each image comes once, in the sorted order of the names, as uint8 RGB of shape 3×H×W, with the "
        "label that dataset.json gives for its name; other files in the folder are ignored."
    )


def _expect_reading(truth: DrawnFolder, found: Reading) -> None:
    """Check which files were taken for images, then the samples, their order and the labels."""
    attempts: list[Attempt] = [found["length"], *found["samples"]]
    for attempted in attempts:
        _expect_known_files(truth, attempted)
    length = value_of(found["length"])
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


def _expect_second(truth: DrawnFolder, found: Reading) -> None:
    try:
        _expect_reading(truth, found)
    except Mistake as mistake:
        raise Mistake(
            "second_dataset",
            "The first dataset was right; a second one, of another folder, is not. If your class keeps "
            f"something outside of `self`, both datasets share it. {mistake.message}",
        ) from mistake


def _expect_same_again(first: list[Attempt], again: list[Attempt]) -> None:
    if evidence.encode(first) != evidence.encode(again):
        raise Mistake(
            "shared_by_datasets",
            "The first dataset returned other samples after a second one had been made and read: they share "
            "something. Keep names, labels and images on `self`, not on the class or in the module.",
        )


def _expect_known_files(truth: DrawnFolder, attempted: Attempt) -> None:
    error = attempted.get("error", "")
    for stray in (*(Path(stray).name for stray in STRAYS), ".ipynb_checkpoints", INFO_NAME):
        if stray in error and "No such file" not in error:
            raise Mistake(
                "stray_file",
                f"Your dataset took {stray} for an image. Folders collect other files; keep only those whose "
                f"name ends in .JPEG. The error was: {error}",
            )
    if truth["inner"][0] in error:
        raise _found_in_subfolder(truth, f" The error was: {error}")
    if any(name in error for name in truth["absent"]):
        raise Mistake(
            "counts_labels",
            "Your dataset opens an image that does not exist: dataset.json also has labels of images that "
            f"are not in this folder. Take the names from the folder. The error was: {error}",
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
        hidden = decode_rgb(truth["inner"][1])
        if any(_shows(attempted, hidden) for attempted in samples):
            raise _found_in_subfolder(truth)
        raise Mistake("stray_file", message + f"{STRAYS[0]} and {INFO_NAME}, for example, are not images.")
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
    name = wrong[0]
    message = f"{name} came with label {shown[name]}, but dataset.json says {labels[name]}. "
    if set(shown.values()) <= set(labels.values()):
        message += "The JSON does not list the labels in the order of the files: look each one up by name."
        raise Mistake("labels_by_position", message)
    raise Mistake("wrong_label", message + "Return the number given in the JSON.")


def _expect_transform_each_time(used: TransformUse) -> None:
    calls, returned = len(used["kinds"]), used["shape"] == TRANSFORMED
    message = f"A sample was read twice, and the number of calls of the transform was {calls}. "
    if set(used["kinds"]) - {"Tensor"}:
        kind = next(kind for kind in used["kinds"] if kind != "Tensor")
        what = f"The transform was called with an argument of type {kind}, not with a tensor."
        raise Mistake("transform_of_no_tensor", what)
    if not calls and not returned:
        raise Mistake("transform_ignored", "The transform passed to the dataset was not used.")
    if calls > 2:
        raise Mistake("transform_twice", message + "Call it once for each read.")
    if calls < 2:
        raise Mistake(
            "transform_not_each_time",
            message + "Call it each time: a random transform should give a different image in each epoch.",
        )
    if not returned:
        raise Mistake(
            "transform_result_ignored",
            "The transform was called, but the image is not what it returned: return its result.",
        )


def outside(truth: Truth, activity: FileActivity) -> None:
    """Check that reading samples again reads no labels, neither from their file nor from a copy of it."""
    again = activity.after(AGAIN).before(READ_AGAIN)
    touched = again.count("open", "read", "pread")[f"{ONE}/{INFO_NAME}"]
    used = activity.used_between(AGAIN, READ_AGAIN)
    if touched or again.count("run") or (used is not None and used.read > MAX_READ):
        raise Mistake(
            "labels_read_again",
            f"When samples were read, the labels in {INFO_NAME} were read again. Read them once, in "
            "__init__, not for each sample.",
        )
