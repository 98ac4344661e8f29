"""The check of a dataset of JPEG files whose labels are in a JSON file."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Seen,
    Truth,
    attempt,
    decoded,
    draw,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    folder_of,
    jpeg,
    kind_of,
    labels,
    names,
    no_warnings,
    outcome,
    seen_image,
)
from course_utils.data import INFO_NAME

STRAYS = (".DS_Store", "Thumbs.db", "notes.txt", "CREDITS.txt", ".ipynb_checkpoints/dataset-checkpoint.json")


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw a folder: pictures in three modes, labels also of pictures that are not there, other files."""
    known = names(rng, 12)
    ghosts = rng.choice(known, 3, replace=False).tolist()
    present = [name for name in known if name not in ghosts]
    modes = rng.permutation(["L", "CMYK"] + ["RGB"] * (len(present) - 2)).tolist()
    files = {name: jpeg(draw(rng), mode) for name, mode in zip(present, modes, strict=True)}
    told = labels(rng, known)
    pictures = {name: decoded(data) for name, data in files.items()}
    strays = {name: b"no picture" for name in STRAYS}
    description = json.dumps({"labels": told}).encode()
    truth = {"pictures": pictures, "labels": told, "ghosts": ghosts}
    return {"files": files | strays | {INFO_NAME: description}}, truth


def probe(inputs: Inputs, dataset_class: Callable[..., object]) -> Evidence:
    """Make the dataset, read all samples, take the JSON away and read one again."""
    with folder_of(inputs["files"]) as folder, no_warnings():
        transformed = attempt(lambda: _use_a_transform(dataset_class, folder))
        made = attempt(lambda: dataset_class(folder))
        if "error" in made:
            return {"length": made, "samples": []}
        data = made["value"]
        length = attempt(lambda: len(data))
        count = min(length.get("value", 0), 2 * len(inputs["files"]))
        samples = [attempt(lambda i=i: _sample(data, i)) for i in range(count)]
        (folder / INFO_NAME).unlink()
        again = attempt(lambda: bool(data[0]))
    return {"length": length, "samples": samples, "again": again, "transformed": transformed}


def _sample(dataset: object, index: int) -> Seen:
    image, label = dataset[index]
    whole = not isinstance(label, bool) and (isinstance(label, int | np.integer) or torch.is_tensor(label))
    return {"image": seen_image(image), "label": int(label) if whole else type(label).__name__}


def _use_a_transform(dataset_class: Callable[..., object], folder: Path) -> Seen:
    kinds: list[str] = []

    def corner(image: object) -> object:
        kinds.append(kind_of(image))
        return image[:, :5, :7] if isinstance(image, torch.Tensor) else image

    dataset = dataset_class(folder, transform=corner)
    kinds.clear()
    images = [dataset[0][0] for _ in range(2)]
    return {"kinds": kinds, "shape": list(np.shape(images[1]))}


def judge(truth: Truth, found: Evidence) -> str:
    """Judge the samples that the probe read."""
    _stumbles_over_no_file(truth, found["length"])
    for seen in found["samples"]:
        _stumbles_over_no_file(truth, seen)
    length = outcome(found["length"])
    _shows_this_folder(truth, found["samples"])
    _counts_the_files(truth, length)
    _converts_all_modes(found["samples"])
    shown = dict(_picture_and_label(truth, outcome(seen)) for seen in found["samples"])
    if len(shown) < len(truth["pictures"]):
        raise Mistake("same_picture", "Different indices return the same picture; use `index`.")
    _labels_belong(truth["labels"], shown)
    _keeps_the_labels(found["again"])
    _transforms_each_time(outcome(found["transformed"]))
    return (
        "Each picture comes once, as uint8 RGB of shape 3×H×W, with the label that dataset.json gives to its "
        "name; other files in the folder do no harm."
    )


def _stumbles_over_no_file(truth: Truth, seen: Seen) -> None:
    error = seen.get("error", "")
    for stray in (*(Path(stray).name for stray in STRAYS), ".ipynb_checkpoints", INFO_NAME):
        if stray in error and "No such file" not in error:
            raise Mistake(
                "stray_file",
                f"Your dataset took {stray} for a picture. Folders collect other files; keep only those "
                f"whose name ends in .JPEG. The error was: {error}",
            )
    if any(ghost in error for ghost in truth["ghosts"]):
        raise Mistake(
            "counts_labels",
            "Your dataset opens a picture that is not there: dataset.json also holds labels of pictures that "
            f"this folder lacks. Take the names from the folder. The error was: {error}",
        )


def _shows_this_folder(truth: Truth, samples: list[Seen]) -> None:
    shape = next(iter(truth["pictures"].values())).shape
    arrays = [seen["value"]["image"]["array"] for seen in samples if "value" in seen]
    if arrays and not any(array is None or set(shape[1:]) <= set(array.shape) for array in arrays):
        expect_shape(arrays[0], shape)


def _counts_the_files(truth: Truth, length: int) -> None:
    pictures, known = len(truth["pictures"]), len(truth["labels"])
    told = f"len() is {length}, but the folder holds {pictures} pictures. "
    if length == known:
        raise Mistake("counts_labels", told + f"{known} is the number of labels; count the files.")
    if length > pictures:
        raise Mistake("stray_file", told + f"{STRAYS[0]} and {INFO_NAME}, for example, are none.")
    if length < pictures:
        raise Mistake("missing_pictures", told + "Some are left out.")


def _converts_all_modes(samples: list[Seen]) -> None:
    errors = [seen["error"] for seen in samples if "error" in seen]
    shapes = [np.shape(s["value"]["image"]["array"]) for s in samples if "value" in s]
    odd = [shape for shape in shapes if len(shape) == 2 or {1, 4} & set(shape)]
    if odd or 0 < len(errors) < len(samples) / 2:
        what = f"a picture has shape {list(odd[0])}" if odd else f"your code stopped with {errors[0]}"
        raise Mistake(
            "no_rgb",
            f"Not every JPEG is RGB: grayscale files have 1 channel and CMYK files 4, and {what}. "
            "Convert every picture to RGB before anything else.",
        )


def _picture_and_label(truth: Truth, sample: Seen) -> tuple[str, int]:
    pixels = expect_uint8_tensor(sample["image"])
    expect_shape(pixels, next(iter(truth["pictures"].values())).shape)
    name = expect_one_of(pixels, truth["pictures"])
    if not isinstance(sample["label"], int):
        told = f"The label of {name} is a {sample['label']}; it should be one whole number."
        raise Mistake("label_no_number", told)
    return name, sample["label"]


def _labels_belong(told: dict[str, int], shown: dict[str, int]) -> None:
    wrong = [name for name in sorted(shown) if shown[name] != told[name]]
    if not wrong:
        return
    name = wrong[0]
    message = f"{name} came with label {shown[name]}, but dataset.json says {told[name]}. "
    if set(shown.values()) <= set(told.values()):
        message += "The JSON does not list the labels in the order of the files: look each one up by name."
        raise Mistake("labels_by_position", message)
    raise Mistake("wrong_label", message + "Return the number that stands in the JSON.")


def _keeps_the_labels(again: Seen) -> None:
    if "error" in again:
        raise Mistake(
            "labels_read_again",
            f"When {INFO_NAME} was taken away after all samples were read once, the next sample failed: "
            f"{again['error']}. Read the labels once, in __init__, not once for each sample.",
        )


def _transforms_each_time(used: Seen) -> None:
    if not used["kinds"] and used["shape"] != [3, 5, 7]:
        raise Mistake("transform_ignored", "The transform that was given to the dataset was not used.")
    if set(used["kinds"]) - {"Tensor"}:
        raise Mistake("transform_of_no_tensor", f"The transform was given {used['kinds'][0]}, not a tensor.")
    if len(used["kinds"]) != 2 or used["shape"] != [3, 5, 7]:
        raise Mistake(
            "transform_not_each_time",
            "Call the transform each time a sample is read, and return its result: a random transform is to "
            "give another picture in each epoch.",
        )
