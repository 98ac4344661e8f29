"""Check that the raw bytes of a pack's member become an image tensor."""

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from course_utils.checks.core import (
    Attempt,
    Evidence,
    ImageRecord,
    Inputs,
    Mistake,
    Truth,
    attempt,
    draw_image,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    ignore_warnings,
    record_image,
    value_of,
)

ORDERS = ("HWC", "CHW", "HCW", "WHC", "CWH", "WCH")


class Member(TypedDict):
    """A member of a raw pack: its bytes, and the pack's description of them."""

    data: bytes
    info: dict[str, Any]


class TensorRecord(ImageRecord):
    """A returned image, whether it can be written to, and whether that changes the bytes it came from."""

    writable: bool
    leaked: bool


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw one image for each order of the axes, and one with an unknown layout."""
    height, width = rng.permutation(np.arange(20, 60))[:2].tolist()
    images = [draw_image(rng, height, width) for _ in ORDERS]
    members = [_member(image, order) for image, order in zip(images, ORDERS, strict=True)]
    unknown = {**members[0], "info": {**members[0]["info"], "layout": "RGB"}}
    return {"members": [*members, unknown]}, {"images": [image.transpose(2, 0, 1) for image in images]}


def _member(image: np.ndarray, order: str) -> Member:
    stored = image.transpose(["HWC".index(axis) for axis in order])
    info = {"labels": {"img00000000.JPEG": 1}, "layout": order, "dtype": "uint8", "shape": list(stored.shape)}
    return {"data": stored.tobytes(), "info": info}


def probe(inputs: Inputs, raw_to_tensor: Callable[..., Any]) -> Evidence:
    """Turn each member into an image, and write into the image."""
    with ignore_warnings():
        return [_attempt_member(raw_to_tensor, member) for member in inputs["members"]]


def _attempt_member(raw_to_tensor: Callable[..., Any], member: Member) -> Attempt:
    return attempt(lambda: _read_and_write(raw_to_tensor, **member))


def _read_and_write(raw_to_tensor: Callable[..., Any], data: bytes, info: dict[str, Any]) -> TensorRecord:
    own = bytes(bytearray(data))  # a copy, because the tensor may share its memory
    image = raw_to_tensor(own, info)
    record = record_image(image)
    if record["array"] is not None:
        record["array"] = record["array"].copy()
    written = attempt(lambda: _invert(image))
    return {**record, "writable": "value" in written, "leaked": own != data}


def _invert(image: Any) -> None:  # noqa: ANN401 - the student's image
    image[...] = 255 - image


def judge(truth: Truth, found: Evidence) -> str:
    """Check the pixels of each known layout, that the tensors own their memory, and the unknown layout."""
    *known, unknown = found
    first, *others = truth["images"]
    if "256" in known[0].get("error", ""):
        raise Mistake(
            "shape_ignored",
            f"Your code stopped at an image of height {first.shape[1]} and width {first.shape[2]}: "
            f"{known[0]['error']}. Take the shape from info['shape'].",
        )
    _expect_image(value_of(known[0]), first)
    for attempted, image, order in zip(known[1:], others, ORDERS[1:], strict=True):
        _expect_order(attempted, image, order)
    for attempted in known:
        _expect_own_memory(attempted["value"])
    if not unknown.get("error", "ValueError").startswith("ValueError"):
        raise Mistake(
            "other_exception",
            f"A pack with layout 'RGB' stopped your code with {unknown['error']}. Raise a ValueError for a "
            "layout that is not a permutation of H, W and C.",
        )
    if "error" not in unknown:
        raise Mistake(
            "guesses_layout",
            "A pack with layout 'RGB' was read without an error, but the meaning of that layout is unknown. "
            "Raise a ValueError for a layout that is not a permutation of H, W and C, instead of guessing.",
        )
    return (
        "Raw bytes become a uint8 tensor 3×H×W with its own memory, in whatever order of H, W and C the pack "
        "states; an unknown layout is refused."
    )


def _expect_image(record: TensorRecord, image: np.ndarray) -> None:
    if record["kind"] == "ndarray":
        kind = "array" if record["writable"] else "read-only array"
        name = "no_tensor" if record["writable"] else "read_only"
        raise Mistake(name, f"You returned a NumPy {kind}; return a torch.Tensor with its own memory.")
    pixels = expect_uint8_tensor(record)
    expect_shape(pixels, image.shape)
    expect_one_of(pixels, {"it": image})


def _expect_order(attempted: Attempt, image: np.ndarray, order: str) -> None:
    axes = {"H": "rows", "W": "columns", "C": "channels"}
    layout = f"an array of {' × '.join(axes[axis] for axis in order)}"
    message = (
        f"A pack in the order HWC was read correctly, but one in the order {order} was not. Use "
        f"info['layout'] and info['shape']. {order} means: {layout}."
    )
    if "error" in attempted:
        raise Mistake("layout_ignored", f"{message} Your code stopped with an error: {attempted['error']}")
    try:
        _expect_image(attempted["value"], image)
    except Mistake as mistake:
        raise Mistake("layout_ignored", f"{message} {mistake.message}") from mistake


def _expect_own_memory(record: TensorRecord) -> None:
    if record["leaked"]:
        raise Mistake(
            "read_only",
            "Writing into your tensor changed the bytes that it was created from: np.frombuffer and "
            "torch.frombuffer do not copy, and bytes are read-only (NumPy raises an error, torch only "
            "warns). Copy once: array.copy(), tensor.clone(), or bytearray(data).",
        )
    if not record["writable"]:
        raise Mistake("read_only", "Your tensor cannot be written to; give it its own memory with clone().")
