"""Check that the raw bytes of a pack's member become an image tensor."""

import re
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks import core

mistake = core.Messages(__name__)

ORDERS = ("HWC", "CHW", "HCW", "WHC", "CWH", "WCH")
# Other letters; these letters and more; fewer of them; none.
UNKNOWN = ("RGB", "HWCH", "HHW", "")


class Member(TypedDict):
    """A member of a raw pack: its bytes, and the pack's description of them."""

    data: bytes
    info: dict[str, Any]


class TensorRecord(core.ImageRecord):
    """A returned image, and what happens later.

    Args:
        kept: Whether it is the same after all other members have been read.
        writable: Whether it can be written to.
        leaked: Whether that changes the bytes it came from.
        remembered: Whether it changes what a later call with the same bytes returns.
    """

    kept: bool
    writable: bool
    leaked: bool
    remembered: bool


class Refusal(TypedDict):
    """What a member with an unknown layout led to: an error or none, and whether it was a `ValueError`."""

    error: str | None
    is_value_error: bool


class Found(TypedDict):
    """The image of each member with a known layout, and what the unknown ones led to."""

    known: list[core.AttemptOf[TensorRecord]]
    unknown: list[Refusal]


def make(rng: np.random.Generator) -> tuple[core.Inputs, core.Truth]:
    """Draw one image for each order of the axes, all of one size, and one with each unknown layout."""
    height, width = rng.permutation(np.arange(20, 60))[:2].tolist()
    images = [core.draw_image(rng, height, width) for _ in ORDERS]
    members = [_member(image, order) for image, order in zip(images, ORDERS, strict=True)]
    unknown = [{**members[0], "info": {**members[0]["info"], "layout": layout}} for layout in UNKNOWN]
    truth = {order: image.transpose(2, 0, 1) for order, image in zip(ORDERS, images, strict=True)}
    return {"members": members, "unknown": unknown}, truth


def _member(image: np.ndarray, order: str) -> Member:
    stored = image.transpose(["HWC".index(axis) for axis in order])
    info = {"labels": {"img00000000.JPEG": 1}, "layout": order, "dtype": "uint8", "shape": list(stored.shape)}
    return {"data": stored.tobytes(), "info": info}


def probe(inputs: core.Inputs, raw_to_tensor: Callable[..., Any]) -> Found:
    """Turn all members into images, look at each image again at the end, and write into it."""
    with core.ignore_warnings():
        readings = [_Reading(raw_to_tensor, **member) for member in inputs["members"]]
        unknown = [_refusal(raw_to_tensor, **member) for member in inputs["unknown"]]
        return {"known": [reading.record() for reading in readings], "unknown": unknown}


class _Reading:
    """A member that was read: the image, and a copy of what it was at once."""

    def __init__(self, raw_to_tensor: Callable[..., Any], data: bytes, info: dict[str, Any]) -> None:
        self.data = data
        self._read_again: Callable[[], Any] = lambda: raw_to_tensor(data, info)
        self.given = bytes(bytearray(data))  # a copy, because the tensor may share its memory
        self.image = core.attempt(lambda: core.plain_tensor(raw_to_tensor(self.given, info)))
        self.at_once = _copied(self.image.get("value"))

    def record(self) -> core.Attempt:
        """Compare the image with what it was, and write into it."""
        if "error" in self.image:
            return self.image
        image, now = self.image["value"], _copied(self.image["value"])
        kept = core.evidence.encode(now) == core.evidence.encode(self.at_once)
        writable = "value" in core.attempt(lambda: _invert(image))
        leaked = self.given != self.data
        later = core.attempt(lambda: _copied(core.plain_tensor(self._read_again()))).get("value")
        remembered = writable and core.evidence.encode(later) != core.evidence.encode(self.at_once)
        seen = {"kept": kept, "writable": writable, "leaked": leaked, "remembered": remembered}
        return {"value": {**self.at_once, **seen}}


def _copied(image: object) -> core.ImageRecord:
    record = core.record_image(image)
    if record["array"] is not None:
        record["array"] = record["array"].copy()
    return record


def _refusal(raw_to_tensor: Callable[..., Any], data: bytes, info: dict[str, Any]) -> Refusal:
    try:
        raw_to_tensor(data, info)
    except ValueError as error:
        return {"error": core.crash_report(error), "is_value_error": True}
    except Exception as error:
        return {"error": core.crash_report(error), "is_value_error": False}
    return {"error": None, "is_value_error": False}


def _invert(image: Any) -> None:  # noqa: ANN401 - the student's image
    image[...] = 255 - image


def judge(truth: core.Truth, evidence: core.Evidence) -> str:
    """Check the pixels of each known layout, that the tensors own their memory, and the unknown layouts."""
    known = evidence["known"]
    first = truth[ORDERS[0]]
    if re.search(r"\b256\b", core.error_in(known[0].get("error", ""))):
        raise mistake("shape_ignored", shape=first.shape, error=known[0]["error"])
    _expect_image(core.value_of(known[0]), truth, ORDERS[0])
    for attempted, order in zip(known[1:], ORDERS[1:], strict=True):
        _expect_order(attempted, truth, order)
    for attempted in known:
        _expect_own_memory(attempted["value"])
    for layout, refusal in zip(UNKNOWN, evidence["unknown"], strict=True):
        _expect_value_error(layout, refusal)
    return (
        "Raw bytes become a uint8 tensor 3×H×W with its own memory, in whatever order of H, W and C the pack "
        "states; an unknown layout is refused."
    )


def _expect_value_error(layout: str, refusal: Refusal) -> None:
    error = refusal["error"]
    mistakes = {"guesses_layout": error is None, "other_exception": not refusal["is_value_error"]}
    mistake.raise_first(mistakes, layout=layout, error=error)


def _expect_image(record: TensorRecord, images: dict[str, np.ndarray], order: str) -> None:
    is_array = record["kind"] == "ndarray"
    mistake.raise_first({"no_tensor": is_array and record["writable"], "read_only.array": is_array})
    pixels = core.expect_uint8_tensor(record)
    core.expect_shape(pixels, images[order].shape)
    if core.expect_one_of(pixels, images) != order:
        raise mistake("another_image")


def _expect_order(attempted: core.Attempt, images: dict[str, np.ndarray], order: str) -> None:
    try:
        error = attempted.get("error", "")
        reason = f"Your code stopped with an error: {error}"
        if not error:
            _expect_image(attempted["value"], images, order)
            return
    except core.Mistake as wrong:
        if wrong.name == "another_image":
            raise
        reason = wrong.message
    axes = " × ".join({"H": "rows", "W": "columns", "C": "channels"}[axis] for axis in order)
    raise mistake("layout_ignored", order=order, axes=axes, reason=reason)


def _expect_own_memory(record: TensorRecord) -> None:
    mistake.raise_first(
        {
            "reused_memory.changed": not record["kept"],
            "read_only.leaked": record["leaked"],
            "read_only.tensor": not record["writable"],
            "reused_memory.remembered": record["remembered"],
        }
    )
