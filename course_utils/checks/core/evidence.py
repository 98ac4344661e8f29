"""Encode plain data as bytes, to pass between a probe in the sandbox and the judge outside it.

The format is a length, a JSON header of that length, and raw bytes that the header points into. Unlike a
pickle, it cannot run code when it is decoded.
"""

import json
import math
from typing import Any

import numpy as np

MAX_BYTES = 256 * 2**20
MAX_HEADER = 16 * 2**20
DTYPES = frozenset({"bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64"})
DTYPES |= {"float16", "float32", "float64"}
_PREFIX = 8


class DamagedEvidenceError(ValueError):
    """The bytes are not evidence: truncated, too large, or not in the format."""


def encode(value: Any) -> bytes:  # noqa: ANN401 - any plain data
    """Encode plain data as bytes.

    Args:
        value: None, bool, int, float, str, bytes, a NumPy array of numbers, or dicts (with string keys),
            lists and tuples of these. Subclasses are reduced to their plain type.

    Raises:
        TypeError: A value is none of these; the message gives its location.
    """
    blob = bytearray()
    header = json.dumps(_flatten(value, blob, "evidence")).encode()
    return len(header).to_bytes(_PREFIX, "little") + header + blob


def decode(data: bytes) -> Any:  # noqa: ANN401 - any plain data
    """Decode the bytes from `encode`; tuples become lists, arrays read-only.

    Raises:
        DamagedEvidenceError: The bytes are malformed or exceed a limit.
    """
    if len(data) > MAX_BYTES:
        raise DamagedEvidenceError(f"{len(data)} bytes of evidence exceed the limit of {MAX_BYTES}")
    size = int.from_bytes(data[:_PREFIX], "little")
    if size > MAX_HEADER:
        raise DamagedEvidenceError(f"a header of {size} bytes exceeds the limit of {MAX_HEADER}")
    blob = memoryview(data)[_PREFIX + size :]
    try:
        return _rebuild(json.loads(data[_PREFIX : _PREFIX + size]), _Blob(blob))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise DamagedEvidenceError(f"unreadable evidence: {error}") from error


def _flatten(value: object, blob: bytearray, where: str) -> object:
    if value is None or isinstance(value, bool):
        return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": _store(bytes(value), blob)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.name not in DTYPES:
            raise TypeError(f"{where} is an array of {array.dtype}, not of numbers")
        part = _store(array.tobytes(), blob)
        return {"array": part, "dtype": array.dtype.name, "shape": list(array.shape)}
    if isinstance(value, dict):
        return {"dict": {str(k): _flatten(v, blob, f"{where}[{k!r}]") for k, v in value.items()}}
    if isinstance(value, list | tuple):
        return [_flatten(v, blob, f"{where}[{i}]") for i, v in enumerate(value)]
    raise TypeError(f"{where} is a {type(value).__name__}, not plain data")


def _store(data: bytes, blob: bytearray) -> list[int]:
    start = len(blob)
    blob += data
    return [start, len(data)]


class _Blob:
    """Raw bytes, each part of which is used at most once, so that decoding cannot amplify a small message."""

    def __init__(self, data: memoryview) -> None:
        self.data, self.left = data, len(data)

    def take(self, start: int, size: int) -> bytes:
        self.left -= size
        if not 0 <= start <= start + size <= len(self.data) or self.left < 0:
            raise ValueError("a part is outside the data, or is used twice")
        return bytes(self.data[start : start + size])


def _rebuild(value: Any, blob: _Blob) -> Any:  # noqa: ANN401 - any plain data
    if isinstance(value, list):
        return [_rebuild(v, blob) for v in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {key: _rebuild(v, blob) for key, v in value["dict"].items()}
    part = blob.take(*(value.get("bytes") or value["array"]))
    return part if "bytes" in value else _array(part, value["dtype"], value["shape"])


def _array(data: bytes, dtype: str, shape: list[int]) -> np.ndarray:
    if dtype not in DTYPES or min(shape, default=0) < 0:
        raise ValueError(f"an array of {dtype} with shape {shape}")
    if math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise ValueError(f"{len(data)} bytes do not fit {dtype} of shape {shape}")
    return np.frombuffer(data, dtype).reshape(shape)
