"""Check a dataset of JPEG files whose labels are in a JSON file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import torch

from course_utils.checks.core import (
    Attempt,
    Evidence,
    ImageRecord,
    Inputs,
    Mistake,
    Truth,
    attempt,
    decode_rgb,
    draw_image,
    draw_labels,
    draw_names,
    encode_jpeg,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    folder_with,
    ignore_warnings,
    record_image,
    type_name,
    value_of,
)
from course_utils.data import INFO_NAME

STRAYS = (".DS_Store", "Thumbs.db", "notes.txt", "CREDITS.txt", ".ipynb_checkpoints/dataset-checkpoint.json")


class LabelledImage(TypedDict):
    """A sample as plain data; the label is the name of its type where it is not a whole number."""

    image: ImageRecord
    label: int | str


class TransformUse(TypedDict):
    """The types that the transform was called with, and the shape of the second image."""

    kinds: list[str]
    shape: list[int]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a folder: images in three modes, labels also of absent images, and files that are not images."""
    names = draw_names(rng, 12)
    absent = rng.choice(names, 3, replace=False).tolist()
    present = [name for name in names if name not in absent]
    modes = rng.permutation(["L", "CMYK"] + ["RGB"] * (len(present) - 2)).tolist()
    files = {name: encode_jpeg(draw_image(rng), mode) for name, mode in zip(present, modes, strict=True)}
    labels = draw_labels(rng, names)
    images = {name: decode_rgb(data) for name, data in files.items()}
    strays = {name: b"not an image" for name in STRAYS}
    description = json.dumps({"labels": labels}).encode()
    truth = {"images": images, "labels": labels, "absent": absent}
    return {"files": files | strays | {INFO_NAME: description}}, truth


def probe(inputs: Inputs, dataset_class: Callable[..., Any]) -> Evidence:
    """Create the dataset, read all samples, delete the JSON file and read one sample again."""
    with folder_with(inputs["files"]) as folder, ignore_warnings():
        transformed = attempt(lambda: _use_transform(dataset_class, folder))
        created = attempt(lambda: dataset_class(folder))
        if "error" in created:
            return {"length": created, "samples": []}
        data = created["value"]
        length = attempt(lambda: len(data))
        count = min(length.get("value", 0), 2 * len(inputs["files"]))
        samples = [_attempt_sample(data, i) for i in range(count)]
        (folder / INFO_NAME).unlink()
        again = attempt(lambda: bool(data[0]))
    return {"length": length, "samples": samples, "again": again, "transformed": transformed}


def _attempt_sample(dataset: Any, index: int) -> Attempt:  # noqa: ANN401 - the student's dataset
    return attempt(lambda: _sample(dataset, index))


def _sample(dataset: Any, index: int) -> LabelledImage:  # noqa: ANN401 - the student's dataset
    image, label = dataset[index]
    whole = not isinstance(label, bool) and (isinstance(label, int | np.integer) or torch.is_tensor(label))
    return {"image": record_image(image), "label": int(label) if whole else type(label).__name__}


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
    """Check which files were taken for images, then the samples, the labels and the transform."""
    for attempted in (found["length"], *found["samples"]):
        _expect_known_files(truth, attempted)
    length = value_of(found["length"])
    _expect_this_folder(truth, found["samples"])
    _expect_file_count(truth, length)
    _expect_all_modes(found["samples"])
    shown = dict(_name_and_label(truth, value_of(attempted)) for attempted in found["samples"])
    if len(shown) < len(truth["images"]):
        raise Mistake("same_picture", "Different indices return the same image; use `index`.")
    _expect_labels(truth["labels"], shown)
    _expect_labels_kept(found["again"])
    _expect_transform_each_time(value_of(found["transformed"]))
    return (
        "Each image comes once, as uint8 RGB of shape 3×H×W, with the label that dataset.json gives for its "
        "name; other files in the folder are ignored."
    )


def _expect_known_files(truth: Truth, attempted: Attempt) -> None:
    error = attempted.get("error", "")
    for stray in (*(Path(stray).name for stray in STRAYS), ".ipynb_checkpoints", INFO_NAME):
        if stray in error and "No such file" not in error:
            raise Mistake(
                "stray_file",
                f"Your dataset took {stray} for an image. Folders collect other files; keep only those whose "
                f"name ends in .JPEG. The error was: {error}",
            )
    if any(name in error for name in truth["absent"]):
        raise Mistake(
            "counts_labels",
            "Your dataset opens an image that does not exist: dataset.json also has labels of images that "
            f"are not in this folder. Take the names from the folder. The error was: {error}",
        )


def _expect_this_folder(truth: Truth, samples: list[Attempt]) -> None:
    shape = next(iter(truth["images"].values())).shape
    arrays = [attempted["value"]["image"]["array"] for attempted in samples if "value" in attempted]
    if arrays and not any(array is None or set(shape[1:]) <= set(array.shape) for array in arrays):
        expect_shape(arrays[0], shape)


def _expect_file_count(truth: Truth, length: int) -> None:
    images, labels = len(truth["images"]), len(truth["labels"])
    message = f"len() is {length}, but the folder holds {images} images. "
    if length == labels:
        raise Mistake("counts_labels", message + f"{labels} is the number of labels; count the files.")
    if length > images:
        raise Mistake("stray_file", message + f"{STRAYS[0]} and {INFO_NAME}, for example, are not images.")
    if length < images:
        raise Mistake("missing_pictures", message + "Count every file whose name ends in .JPEG.")


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


def _name_and_label(truth: Truth, sample: LabelledImage) -> tuple[str, int]:
    pixels = expect_uint8_tensor(sample["image"])
    expect_shape(pixels, next(iter(truth["images"].values())).shape)
    name = expect_one_of(pixels, truth["images"])
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


def _expect_labels_kept(again: Attempt) -> None:
    if "error" in again:
        raise Mistake(
            "labels_read_again",
            f"After all samples had been read, {INFO_NAME} was deleted, and the next sample failed: "
            f"{again['error']}. Read the labels once, in __init__, not for each sample.",
        )


def _expect_transform_each_time(used: TransformUse) -> None:
    if not used["kinds"] and used["shape"] != [3, 5, 7]:
        raise Mistake("transform_ignored", "The transform passed to the dataset was not used.")
    if set(used["kinds"]) - {"Tensor"}:
        message = f"The transform was called with an argument of type {used['kinds'][0]}, not with a tensor."
        raise Mistake("transform_of_no_tensor", message)
    if len(used["kinds"]) != 2 or used["shape"] != [3, 5, 7]:
        raise Mistake(
            "transform_not_each_time",
            "Call the transform each time a sample is read, and return its result: a random transform should "
            "give a different image in each epoch.",
        )
