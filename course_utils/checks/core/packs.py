"""Draw random packs for the checks of lesson 02, and compare the samples read from them."""

import io
from typing import Any

import numpy as np

from course_utils.checks.core import environment, images
from course_utils.checks.core.check import Mistake
from course_utils.checks.core.observe import ImageRecord, record_image
from course_utils.data import INFO_NAME

# Three members are larger than any read buffer, so that reads have to move a shared file position. The
# padding is noise: it cannot be compressed.
_PADDING = 60_000


class SampleRecord(ImageRecord):
    """A sample as plain data: its image and its label."""

    label: int


def draw_members(rng: np.random.Generator, count: int) -> tuple[dict[str, bytes], dict[str, int]]:
    """Draw JPEG members and their labels by name, neither in sorted order; one label is 0."""
    names = images.draw_names(rng, count)
    labels = images.draw_labels(rng, names)
    if 0 not in labels.values():
        labels[names[int(rng.integers(count))]] = 0
    return {name: _draw_member(rng) for name in labels}, labels


def _draw_member(rng: np.random.Generator) -> bytes:
    return images.encode_jpeg(images.draw_image(rng), comment=rng.bytes(_PADDING))


def zip_bytes(members: dict[str, bytes]) -> bytes:
    """Return an uncompressed zip of members, as bytes."""
    file = io.BytesIO()
    with environment.zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def pack_bytes(members: dict[str, bytes], labels: dict[str, int]) -> bytes:
    """Return a pack in the course's format, as bytes."""
    return zip_bytes({**members, INFO_NAME: environment.json.dumps({"labels": labels}).encode()})


def record_samples(dataset: Any, indices: list[int]) -> list[SampleRecord]:  # noqa: ANN401 - the student's
    """Read samples from a student's dataset, and describe them as plain data."""
    samples = [dataset[index] for index in indices]
    return [{**record_image(image), "label": int(label)} for image, label in samples]


def expect_samples(found: list[SampleRecord], indices: list[int], truth: dict[str, Any], where: str) -> None:
    """Compare samples with the pack that they were read from.

    Args:
        found: What `record_samples` returned.
        indices: The indices that were read.
        truth: ``members`` (their bytes by name) and ``labels``.
        where: The process that read them, for the message.

    Raises:
        Mistake: An image or a label differs.
    """
    names = sorted(truth["members"])
    for sample, index in zip(found, indices, strict=True):
        expected = images.decode_rgb(truth["members"][names[index]])
        pixels = images.expect_uint8_tensor(sample)
        images.expect_shape(pixels, expected.shape)
        if not images.look_alike(pixels, expected):
            raise Mistake(
                "other_pixels",
                f"Sample {index}, read in {where}, is not the image {names[index]}. Samples come in the "
                "sorted order of their names.",
            )
        if sample["label"] != truth["labels"][names[index]]:
            raise Mistake(
                "wrong_label",
                f"Sample {index}, read in {where}, has the label of another image. Look labels up by the "
                "name of the image.",
            )
