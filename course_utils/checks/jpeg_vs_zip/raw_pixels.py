"""Check that the raw bytes of a pack's member become an image tensor."""

import re
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import (
    Attempt,
    AttemptOf,
    Evidence,
    ImageRecord,
    Inputs,
    Mistake,
    Truth,
    attempt,
    crash_report,
    draw_image,
    error_in,
    evidence,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    ignore_warnings,
    plain_tensor,
    record_image,
    value_of,
)

ORDERS = ("HWC", "CHW", "HCW", "WHC", "CWH", "WCH")
# Other letters; these letters and more; fewer of them; none.
UNKNOWN = ("RGB", "HWCH", "HHW", "")


class Member(TypedDict):
    """A member of a raw pack: its bytes, and the pack's description of them."""

    data: bytes
    info: dict[str, Any]


class TensorRecord(ImageRecord):
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

    known: list[AttemptOf[TensorRecord]]
    unknown: list[Refusal]


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw one image for each order of the axes, all of one size, and one with each unknown layout."""
    height, width = rng.permutation(np.arange(20, 60))[:2].tolist()
    images = [draw_image(rng, height, width) for _ in ORDERS]
    members = [_member(image, order) for image, order in zip(images, ORDERS, strict=True)]
    unknown = [{**members[0], "info": {**members[0]["info"], "layout": layout}} for layout in UNKNOWN]
    truth = {order: image.transpose(2, 0, 1) for order, image in zip(ORDERS, images, strict=True)}
    return {"members": members, "unknown": unknown}, truth


def _member(image: np.ndarray, order: str) -> Member:
    stored = image.transpose(["HWC".index(axis) for axis in order])
    info = {"labels": {"img00000000.JPEG": 1}, "layout": order, "dtype": "uint8", "shape": list(stored.shape)}
    return {"data": stored.tobytes(), "info": info}


def probe(inputs: Inputs, raw_to_tensor: Callable[..., Any]) -> Found:
    """Turn all members into images, look at each image again at the end, and write into it."""
    with ignore_warnings():
        readings = [_Reading(raw_to_tensor, **member) for member in inputs["members"]]
        unknown = [_refusal(raw_to_tensor, **member) for member in inputs["unknown"]]
        return {"known": [reading.record() for reading in readings], "unknown": unknown}


class _Reading:
    """A member that was read: the image, and a copy of what it was at once."""

    def __init__(self, raw_to_tensor: Callable[..., Any], data: bytes, info: dict[str, Any]) -> None:
        self.data = data
        self._read_again: Callable[[], Any] = lambda: raw_to_tensor(data, info)
        self.given = bytes(bytearray(data))  # a copy, because the tensor may share its memory
        self.image = attempt(lambda: plain_tensor(raw_to_tensor(self.given, info)))
        self.at_once = _copied(self.image.get("value"))

    def record(self) -> Attempt:
        """Compare the image with what it was, and write into it."""
        if "error" in self.image:
            return self.image
        image, now = self.image["value"], _copied(self.image["value"])
        kept = evidence.encode(now) == evidence.encode(self.at_once)
        writable = "value" in attempt(lambda: _invert(image))
        leaked = self.given != self.data
        later = attempt(lambda: _copied(plain_tensor(self._read_again()))).get("value")
        remembered = writable and evidence.encode(later) != evidence.encode(self.at_once)
        seen = {"kept": kept, "writable": writable, "leaked": leaked, "remembered": remembered}
        return {"value": {**self.at_once, **seen}}


def _copied(image: object) -> ImageRecord:
    record = record_image(image)
    if record["array"] is not None:
        record["array"] = record["array"].copy()
    return record


def _refusal(raw_to_tensor: Callable[..., Any], data: bytes, info: dict[str, Any]) -> Refusal:
    try:
        raw_to_tensor(data, info)
    except ValueError as error:
        return {"error": crash_report(error), "is_value_error": True}
    except Exception as error:
        return {"error": crash_report(error), "is_value_error": False}
    return {"error": None, "is_value_error": False}


def _invert(image: Any) -> None:  # noqa: ANN401 - the student's image
    image[...] = 255 - image


def judge(truth: Truth, found: Evidence) -> str:
    """Check the pixels of each known layout, that the tensors own their memory, and the unknown layouts."""
    known = found["known"]
    first = truth[ORDERS[0]]
    if re.search(r"\b256\b", error_in(known[0].get("error", ""))):
        raise Mistake(
            "shape_ignored",
            f"Your code stopped at an image of height {first.shape[1]} and width {first.shape[2]}: "
            f"{known[0]['error']}. Take the shape from info['shape'].",
        )
    _expect_image(value_of(known[0]), truth, ORDERS[0])
    for attempted, order in zip(known[1:], ORDERS[1:], strict=True):
        _expect_order(attempted, truth, order)
    for attempted in known:
        _expect_own_memory(attempted["value"])
    for layout, refusal in zip(UNKNOWN, found["unknown"], strict=True):
        _expect_value_error(layout, refusal)
    return (
        "Raw bytes become a uint8 tensor 3×H×W with its own memory, in whatever order of H, W and C the pack "
        "states; an unknown layout is refused."
    )


def _expect_value_error(layout: str, refusal: Refusal) -> None:
    if refusal["error"] is None:
        raise Mistake(
            "guesses_layout",
            f"A pack with layout {layout!r} was read without an error, but the meaning of that layout is "
            "unknown. Raise a ValueError for a layout that is not a permutation of H, W and C, instead of "
            "guessing.",
        )
    if not refusal["is_value_error"]:
        raise Mistake(
            "other_exception",
            f"A pack with layout {layout!r} stopped your code with {refusal['error']}. Raise a ValueError "
            "for a layout that is not a permutation of H, W and C.",
        )


def _expect_image(record: TensorRecord, images: dict[str, np.ndarray], order: str) -> None:
    if record["kind"] == "ndarray":
        kind = "NumPy array" if record["writable"] else "read-only NumPy array"
        name = "no_tensor" if record["writable"] else "read_only"
        raise Mistake(name, f"You returned a {kind}; return a torch.Tensor with its own memory.")
    pixels = expect_uint8_tensor(record)
    expect_shape(pixels, images[order].shape)
    shown = expect_one_of(pixels, images)
    if shown != order:
        raise Mistake(
            "another_image",
            "Your function returned the image of another call: keep nothing from one call to the next.",
        )


def _expect_order(attempted: Attempt, images: dict[str, np.ndarray], order: str) -> None:
    axes = {"H": "rows", "W": "columns", "C": "channels"}
    layout = f"an array of {' × '.join(axes[axis] for axis in order)}"
    message = (
        f"A pack in the order HWC was read correctly, but one in the order {order} was not. Use "
        f"info['layout'] and info['shape']. {order} means: {layout}."
    )
    if "error" in attempted:
        raise Mistake("layout_ignored", f"{message} Your code stopped with an error: {attempted['error']}")
    try:
        _expect_image(attempted["value"], images, order)
    except Mistake as mistake:
        if mistake.name == "another_image":
            raise
        raise Mistake("layout_ignored", f"{message} {mistake.message}") from mistake


def _expect_own_memory(record: TensorRecord) -> None:
    if not record["kept"]:
        raise Mistake(
            "reused_memory",
            "An image that you returned changed when your function read the next one: both are in the same "
            "memory. Make a new tensor in each call.",
        )
    if record["leaked"]:
        raise Mistake(
            "read_only",
            "Writing into your tensor changed the bytes that it was created from: np.frombuffer and "
            "torch.frombuffer do not copy, and bytes are read-only (NumPy raises an error, torch only "
            "warns). Copy once: array.copy(), tensor.clone(), or bytearray(data).",
        )
    if not record["writable"]:
        raise Mistake("read_only", "Your tensor cannot be written to; give it its own memory with clone().")
    if record["remembered"]:
        raise Mistake(
            "reused_memory",
            "After one image had been written into, a later call with the same bytes did not return what the "
            "bytes say: both calls gave the same memory. Make a new tensor in each call; do not cache it.",
        )
