"""Encode plain data as bytes, to pass between a probe in the sandbox and the judge outside it.

The format is a length, a JSON header of that length, and raw bytes that the header points into. Unlike a
pickle, it cannot run code when it is decoded. Whoever reads bytes from a sandbox names the type that it
expects: `decode` returns that type or raises the one error of this module.
"""

import math
from typing import Any, TypeVar, overload

import msgspec
import numpy as np

MAX_BYTES = 256 * 2**20
# Bounds on what a header can become in memory: an empty list of 3 bytes takes 64.
MAX_HEADER, MAX_ITEMS, MAX_DEPTH = 4 * 2**20, 200_000, 50
MIN_INT, MAX_INT = -(2**63), 2**64 - 1
LONG_TEXT = 256
DTYPES = frozenset({"bool", "uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64"})
DTYPES |= {"float16", "float32", "float64"}
_PREFIX = 8
T = TypeVar("T")


class DamagedEvidenceError(ValueError):
    """The bytes are not evidence: truncated, too large, not in the format, or not of the expected type."""


def encode(value: Any) -> bytes:  # noqa: ANN401 - any plain data
    """Encode plain data as bytes.

    Args:
        value: None, bool, int, float, str, bytes, a NumPy array of numbers, or dicts (with string keys),
            lists, tuples and `msgspec.Struct`s of these. Subclasses are reduced to their plain type, integers
            beyond 64 bits to the nearest that fits, lone surrogates to their escapes.

    Raises:
        TypeError: A value is none of these; the message gives its location.
    """
    blob = bytearray()
    header = msgspec.json.encode(_flatten(value, blob, "evidence"))
    return len(header).to_bytes(_PREFIX, "little") + header + blob


@overload
def decode(data: bytes) -> Any: ...  # noqa: ANN401 - any plain data
@overload
def decode(data: bytes, form: type[T]) -> T: ...
def decode(data: bytes, form: Any = Any) -> Any:
    """Decode the bytes from `encode`; tuples become lists, arrays read-only.

    Args:
        data: The bytes.
        form: The expected type, such as a `TypedDict` or a `msgspec.Struct`; keys that it lacks are dropped.

    Raises:
        DamagedEvidenceError: The bytes are malformed, exceed a limit, or hold another type.
    """
    if len(data) > MAX_BYTES:
        raise DamagedEvidenceError(f"{len(data)} bytes exceed the limit of {MAX_BYTES}")
    size = int.from_bytes(data[:_PREFIX], "little")
    if size > MAX_HEADER:
        raise DamagedEvidenceError(f"a header of {size} bytes exceeds the limit of {MAX_HEADER}")
    reader = _Reader(memoryview(data)[_PREFIX + size :])
    try:
        value = reader.rebuild(msgspec.json.decode(data[_PREFIX : _PREFIX + size]))
        return msgspec.convert(value, form, builtin_types=(bytes,), dec_hook=_array_hook)
    except DamagedEvidenceError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        # msgspec's errors are ValueErrors.
        raise DamagedEvidenceError(f"unreadable data: {error}") from error


def _array_hook(form: type, value: object) -> object:
    if isinstance(value, form):
        return value
    raise TypeError(f"Expected `{form.__name__}`, got `{type(value).__name__}`")


def _flatten(value: object, blob: bytearray, where: str) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return min(max(int(value), MIN_INT), MAX_INT)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, str):
        text = str(value).encode("utf-8", "backslashreplace")
        return {"text": _store(text, blob)} if len(text) > LONG_TEXT else text.decode()
    if isinstance(value, bytes | bytearray | memoryview):
        return {"bytes": _store(bytes(value), blob)}
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype.name not in DTYPES:
            raise TypeError(f"{where} is an array of {array.dtype}, not of numbers")
        part = _store(array.tobytes(), blob)
        return {"array": part, "dtype": array.dtype.name, "shape": list(array.shape)}
    if isinstance(value, msgspec.Struct):
        value = msgspec.structs.asdict(value)
    if isinstance(value, dict):
        return {"dict": {_key(k): _flatten(v, blob, f"{where}[{k!r}]") for k, v in value.items()}}
    if isinstance(value, list | tuple):
        return [_flatten(v, blob, f"{where}[{i}]") for i, v in enumerate(value)]
    raise TypeError(f"{where} is a {type(value).__name__}, not plain data")


def _key(key: object) -> str:
    return str(key).encode("utf-8", "backslashreplace").decode()


def _store(data: bytes, blob: bytearray) -> list[int]:
    start = len(blob)
    blob += data
    return [start, len(data)]


class _Reader:
    """Rebuilds values from a header and raw bytes.

    Each part of the bytes is used at most once, so that decoding cannot amplify a small message.
    """

    def __init__(self, data: memoryview) -> None:
        self.data, self.left, self.items = data, len(data), MAX_ITEMS

    def rebuild(self, value: Any, depth: int = 0) -> Any:  # noqa: ANN401 - any plain data
        self.items -= 1
        if self.items < 0 or depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_ITEMS} items, or nested more than {MAX_DEPTH} deep")
        if isinstance(value, list):
            return [self.rebuild(v, depth + 1) for v in value]
        if isinstance(value, dict):
            return self._rebuild_node(value, depth)
        if isinstance(value, int) and not MIN_INT <= value <= MAX_INT:
            raise ValueError("an integer of more than 64 bits")
        return value

    def _rebuild_node(self, node: dict[str, Any], depth: int) -> Any:  # noqa: ANN401 - any plain data
        match node:
            case {"dict": dict(inner)}:
                return {key: self.rebuild(v, depth + 1) for key, v in inner.items()}
            case {"float": "nan" | "inf" | "-inf" as name}:
                return float(name)
            case {"text": [int(start), int(size)]}:
                return self._take(start, size).decode()
            case {"bytes": [int(start), int(size)]}:
                return self._take(start, size)
            case {"array": [int(start), int(size)], "dtype": str(dtype), "shape": list(shape)}:
                return _array(self._take(start, size), dtype, shape)
        raise ValueError("an object of unknown form")

    def _take(self, start: int, size: int) -> bytes:
        self.left -= size
        if not 0 <= start <= start + size <= len(self.data) or self.left < 0:
            raise ValueError("a part is outside the data, or is used twice")
        return bytes(self.data[start : start + size])


def _array(data: bytes, dtype: str, shape: list[int]) -> np.ndarray:
    if dtype not in DTYPES or min(shape, default=0) < 0 or not all(type(side) is int for side in shape):
        raise ValueError(f"an array of {dtype} with shape {shape}")
    if math.prod(shape) * np.dtype(dtype).itemsize != len(data):
        raise ValueError(f"{len(data)} bytes do not fit {dtype} of shape {shape}")
    return np.frombuffer(data, dtype).reshape(shape)
