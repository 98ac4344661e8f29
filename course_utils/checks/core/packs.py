"""Random packs that the checks of lesson 02 draw, and how their judges compare samples."""

import io
import json
import zipfile
from typing import Any

import numpy as np
from PIL import Image

from course_utils.checks.core import pictures
from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import Seen, seen_image
from course_utils.data import INFO_NAME

# Members that no read buffer holds at once: each read has to move a shared position.
_PADDING = b"." * 60_000
Packed = tuple[dict[str, bytes], dict[str, int]]


def draw_members(rng: np.random.Generator, count: int, padded: bool = True) -> Packed:
    """Draw JPEG members and their labels, both by name."""
    names = pictures.names(rng, count)
    return {name: _jpeg(pictures.draw(rng), padded) for name in names}, pictures.labels(rng, names)


def zipped(members: dict[str, bytes]) -> bytes:
    """A stored zip of members, as bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as pack:
        for name, data in members.items():
            pack.writestr(name, data)
    return file.getvalue()


def pack(members: dict[str, bytes], labels: dict[str, int]) -> bytes:
    """A pack in the course's format, as bytes."""
    return zipped({**members, INFO_NAME: json.dumps({"labels": labels}).encode()})


def _jpeg(pixels: np.ndarray, padded: bool) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90, comment=_PADDING if padded else b"")
    return file.getvalue()


def seen_samples(dataset: Any, indices: list[int]) -> list[Seen]:  # noqa: ANN401 - the student's dataset
    """Ask a dataset for samples, and describe them in plain data."""
    samples = [dataset[index] for index in indices]
    return [{**seen_image(image), "label": int(label)} for image, label in samples]


def expect_samples(found: list[Seen], indices: list[int], truth: dict[str, Any], where: str) -> None:
    """Compare samples with the pack.

    Args:
        found: What `seen_samples` returned.
        indices: What was asked for.
        truth: ``members`` (their bytes by name) and ``labels``.
        where: In which process, for the message.

    Raises:
        Mistake: A picture or a label is another one.
    """
    names = sorted(truth["members"])
    for sample, index in zip(found, indices, strict=True):
        wanted = pictures.decoded(truth["members"][names[index]])
        pixels = pictures.expect_uint8_tensor(sample)
        pictures.expect_shape(pixels, wanted.shape)
        if not pictures.alike(pixels, wanted):
            raise Mistake(
                "other_pixels",
                f"Sample {index}, read in {where}, is not the picture of {names[index]}. Samples come in the "
                "sorted order of their names.",
            )
        if sample["label"] != truth["labels"][names[index]]:
            raise Mistake(
                "wrong_label", f"Sample {index}, read in {where}, has the label of another picture."
            )
