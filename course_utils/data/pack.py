"""The course's pack format: a stored zip of images, with a `dataset.json` that describes them."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np

from course_utils.data.zips.errors import BrokenSampleError as BrokenSampleError
from course_utils.data.zips.errors import ChangedFileError as ChangedFileError
from course_utils.data.zips.errors import PackError as PackError

if TYPE_CHECKING:
    import torch

INFO_NAME = "dataset.json"
LABELS_NAME = "validation_labels_10k.txt"

Value = TypeVar("Value")
DECIMAL = re.compile(r"[+-]?[0-9]{1,19}")  # `int` would take 1_0 and the digits of all scripts
MIN, MAX = -(1 << 63), (1 << 63) - 1


def whole_number(label: object) -> int:
    """Return a label as an integer.

    Args:
        label: A number of JSON, or a decimal number as text.

    Raises:
        ValueError: It is something else, or does not fit into 64 bits.
    """
    number = int(label) if isinstance(label, str) and DECIMAL.fullmatch(label) else label
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"the label {str(label)[:40]!r} is not a whole number")
    if not MIN <= number <= MAX:
        raise ValueError(f"the label {str(label)[:40]} does not fit into 64 bits")
    return number


def labels_of_lines(text: str) -> list[int]:
    """Return the labels in a text of one whole number per line; ValueError if there is anything else."""
    lines = text.rstrip("\r\n").split("\n") if text.strip() else []
    return [whole_number(line.strip(" \t\r")) for line in lines]


def unique_fields(pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Return an object of JSON, given as `object_pairs_hook`; the parser alone would take the last value.

    Raises:
        ValueError: A name occurs twice.
    """
    fields = dict(pairs)
    if len(fields) != len(pairs):
        seen: set[str] = set()
        name = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"it has the name {name!r} twice")
    return fields


@dataclass(frozen=True)
class RawLayout:
    """Memory layout of the pixels in a raw member.

    Args:
        order: ``"HWC"`` (rows of pixels) or ``"CHW"`` (one plane per channel).
        shape: The array's shape in that order; three channels.
        dtype: Only ``"uint8"``.
    """

    order: str
    shape: tuple[int, int, int]
    dtype: str = "uint8"

    def __post_init__(self) -> None:
        if self.order not in ("HWC", "CHW"):
            raise PackError(f"layout {self.order!r}: only 'HWC' and 'CHW' are supported")
        if self.dtype != "uint8":
            raise PackError(f"dtype {self.dtype!r}: only uint8 is supported")
        if len(self.shape) != 3 or self.shape[self.order.index("C")] != 3 or min(self.shape) < 1:
            raise PackError(f"shape {list(self.shape)} is not that of an RGB image in the order {self.order}")

    @property
    def nbytes(self) -> int:
        """Size of one image in bytes."""
        return math.prod(self.shape)

    def array(self, data: bytes | bytearray | memoryview) -> np.ndarray:
        """Return a member's bytes, which are not copied, as an array of this shape.

        Raises:
            PackError: The number of bytes does not fit the shape.
        """
        if len(data) != self.nbytes:
            raise PackError(
                f"{len(data)} bytes, but {self.dtype} of shape {list(self.shape)} takes {self.nbytes}"
            )
        return np.frombuffer(data, np.uint8).reshape(self.shape)

    def image(self, data: bytes) -> "torch.Tensor":
        """Copy a member's bytes into a new uint8 tensor (3, H, W).

        Raises:
            PackError: The number of bytes does not fit the shape.
        """
        import torch  # takes seconds, and code that only packs or checks data does not need it

        array = self.array(bytearray(data))
        return torch.from_numpy(array if self.order == "CHW" else array.transpose(2, 0, 1))


@dataclass(frozen=True)
class PackInfo:
    """Content of `dataset.json`: the label of each member and, for raw members, their layout."""

    labels: dict[str, int]
    layout: RawLayout | None = None

    def to_json(self) -> str:
        """Return the text of `dataset.json`."""
        content: dict[str, object] = {"labels": self.labels}
        if self.layout:
            content["layout"] = self.layout.order
            content |= {"dtype": self.layout.dtype, "shape": list(self.layout.shape)}
        return json.dumps(content, indent=0)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Parse the text of a `dataset.json`.

        Raises:
            PackError: It is not a JSON object with labels, names a member twice, has a label that is no whole
                number of 64 bits, or its layout is invalid.
        """
        try:
            content = json.loads(text, object_pairs_hook=unique_fields)
            if not isinstance(content, dict) or not isinstance(content.get("labels"), dict):
                raise TypeError('it must be {"labels": {"the name of a member": a number, ...}}')
            labels = {name: whole_number(label) for name, label in content["labels"].items()}
            stated = content.get("layout")
            layout = RawLayout(stated, tuple(content["shape"]), content["dtype"]) if stated else None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PackError(f"{INFO_NAME} does not describe a pack: {error}") from error
        return cls(labels, layout)
