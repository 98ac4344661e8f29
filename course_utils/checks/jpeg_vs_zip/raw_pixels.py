"""The check of turning a raw member of a pack into a picture."""

from collections.abc import Callable

import numpy as np

from course_utils.checks.core import (
    Evidence,
    Inputs,
    Mistake,
    Seen,
    Truth,
    attempt,
    draw,
    expect_one_of,
    expect_shape,
    expect_uint8_tensor,
    no_warnings,
    outcome,
    seen_image,
)

ORDERS = ("HWC", "CHW", "HCW")


def make(rng: np.random.Generator) -> tuple[Inputs, Truth]:
    """Draw one picture for each order of the axes, and one in an order that nobody knows."""
    height, width = rng.permutation(np.arange(20, 60))[:2].tolist()
    pixels = [draw(rng, height, width) for _ in ORDERS]
    members = [_member(image, order) for image, order in zip(pixels, ORDERS, strict=True)]
    unknown = {**members[0], "info": {**members[0]["info"], "layout": "RGB"}}
    return {"members": [*members, unknown]}, {"pictures": [image.transpose(2, 0, 1) for image in pixels]}


def _member(image: np.ndarray, order: str) -> dict:
    stored = image.transpose(["HWC".index(axis) for axis in order])
    info = {"labels": {"img00000000.JPEG": 1}, "layout": order, "dtype": "uint8", "shape": list(stored.shape)}
    return {"data": stored.tobytes(), "info": info}


def probe(inputs: Inputs, raw_to_tensor: Callable[..., object]) -> Evidence:
    """Turn each member into a picture, and write into the picture."""
    with no_warnings():
        return [attempt(lambda m=member: _read_and_write(raw_to_tensor, **m)) for member in inputs["members"]]


def _read_and_write(raw_to_tensor: Callable[..., object], data: bytes, info: dict) -> Seen:
    own = bytes(bytearray(data))  # the tensor may turn out to share this memory
    image = raw_to_tensor(own, info)
    seen = seen_image(image)
    if isinstance(seen["array"], np.ndarray):
        seen["array"] = seen["array"].copy()
    written = attempt(lambda: _invert(image))
    return {**seen, "writable": "value" in written, "leaked": own != data}


def _invert(image: object) -> None:
    image[...] = 255 - image


def judge(truth: Truth, found: Evidence) -> str:
    """Judge the pictures that came out."""
    *known, unknown = found
    first, *others = truth["pictures"]
    if "256" in known[0].get("error", ""):
        told = f"A picture of {first.shape[1]} rows and {first.shape[2]} columns stopped your code: "
        raise Mistake("shape_ignored", f"{told}{known[0]['error']}. Take the shape from info['shape'].")
    _is_the_picture(outcome(known[0]), first)
    for seen, picture, order in zip(known[1:], others, ORDERS[1:], strict=True):
        _follows_the_order(seen, picture, order)
    for seen in known:
        _has_memory_of_its_own(seen["value"])
    if "error" not in unknown:
        raise Mistake(
            "guesses_layout",
            "A pack that says layout 'RGB' was read without a word. Nobody can know what that means: raise a "
            "ValueError for a layout that is not some order of H, W and C, instead of guessing.",
        )
    return (
        "Raw bytes become a uint8 tensor 3×H×W with memory of its own, in whatever order of H, W and C the "
        "pack says they are; what cannot be known is refused."
    )


def _is_the_picture(seen: Seen, picture: np.ndarray) -> None:
    if seen["kind"] == "ndarray":
        kind = "array" if seen["writable"] else "read-only array"
        name = "no_tensor" if seen["writable"] else "read_only"
        raise Mistake(name, f"You returned a NumPy {kind}; return a torch.Tensor with memory of its own.")
    pixels = expect_uint8_tensor(seen)
    expect_shape(pixels, picture.shape)
    expect_one_of(pixels, {"it": picture})


def _follows_the_order(seen: Seen, picture: np.ndarray, order: str) -> None:
    told = f"A pack in the order HWC was read well, but not one in the order {order}. "
    advice = f"Use info['layout'] and info['shape']. {order} means: "
    advice += {"CHW": "one plane a channel.", "HCW": "in each row, the channels one after another."}[order]
    if "error" in seen:
        raise Mistake("layout_ignored", f"{told}{advice} Your code stopped with: {seen['error']}")
    try:
        _is_the_picture(seen["value"], picture)
    except Mistake as mistake:
        raise Mistake("layout_ignored", f"{told}{advice} {mistake.message}") from mistake


def _has_memory_of_its_own(seen: Seen) -> None:
    if seen["leaked"]:
        raise Mistake(
            "read_only",
            "Writing into your tensor changed the bytes that it was made from: np.frombuffer and "
            "torch.frombuffer do not copy, and bytes are read-only (NumPy says so, torch only warns). "
            "Copy once: array.copy(), tensor.clone(), or bytearray(data).",
        )
    if not seen["writable"]:
        told = "Your tensor cannot be written to; give it memory of its own with clone()."
        raise Mistake("read_only", told)
