"""The world of a check: values that are served on request, and the record of what was asked.

A student's process can forge whatever lives in it: counters, clocks, records. So the items, clocks and
devices of a check live in a `BaseWorld` with the judge, and that process holds a `Handle` that asks for them
one by one. The judge then reads the record in the world.
"""

import hashlib
import inspect
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_type_hints

import msgspec

from course_utils.checks.world.messages import Call, Reply, encode

# Far above what any answer needs; they bound what a flood of calls costs the grader.
MAX_CALLS = 50_000
MAX_TOTAL_BYTES = 2**22
_Function = TypeVar("_Function", bound=Callable[..., object])


def served(function: _Function) -> _Function:
    """Mark a method of a world as one that the student's process may call.

    Its arguments must be annotated with plain types, without defaults: they are hostile until they have been
    decoded into these types. It returns plain data, and raises an exception to refuse a call.
    """
    function.served = True  # type: ignore[attr-defined]  # functions take any attribute
    return function


class Part(NamedTuple):
    """An object in a world, and the names of its methods that are served too."""

    target: object
    served: frozenset[str]


class BaseWorld:
    """What a check keeps with its judge; a check module's `World` derives from it and takes the truth.

    Attributes:
        parts: Objects of which a `Handle.part` calls methods; they are counted from 1.
        caller: Number of the process that calls now, as the kernel of the judge's machine knows it.
        calls: How many calls were made.
        overloaded: Whether there were too many calls, or too many bytes in them; then nothing more is served.
    """

    parts: Sequence[Part] = ()
    caller = 0
    calls = 0
    overloaded = False
    _bytes = 0

    def answer(self, request: bytes, caller: int) -> bytes:
        """Answer one encoded call; whatever is wrong with it becomes an error in the encoded reply."""
        self.calls += 1
        self._bytes += len(request)
        self.overloaded |= self.calls > MAX_CALLS or self._bytes > MAX_TOTAL_BYTES
        if self.overloaded:
            return encode(Reply(error="too many operations"))
        self.caller = caller
        try:
            call = _CALLS.decode(request)
            target, names = self.parts[call.part - 1] if call.part else (self, None)
            cls: Any = type(target)  # mypy holds that classes are not hashable
            method = _methods(cls, names)[call.method]
            return encode(Reply(method.function(target, *method.arguments.decode(call.arguments))))
        except Exception as error:
            return encode(Reply(error=f"{type(error).__name__}: {str(error)[:200]}"))


class Oracle:
    """Numbers that nobody can know who has not asked: drawn from a key by what is asked for.

    Args:
        key: Drawn by the check's `make`, for the truth alone.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def number(self, limit: int, *question: object) -> int:
        """Return a number from 0 to `limit` - 1, always the same for one question."""
        digest = hashlib.blake2b(repr(question).encode(), key=self._key, digest_size=8).digest()
        return int.from_bytes(digest, "little") % limit


class _Method(NamedTuple):
    function: Callable[..., object]
    arguments: msgspec.msgpack.Decoder[tuple[Any, ...]]


_CALLS = msgspec.msgpack.Decoder(Call)


@cache
def _methods(cls: type[Any], names: frozenset[str] | None) -> dict[str, _Method]:
    """Return methods of a class by name, each with the decoder of its arguments.

    Args:
        cls: The class.
        names: Which methods; None for those that are marked as `served`.
    """
    functions = inspect.getmembers(cls, inspect.isfunction)
    return {
        name: _Method(function, _arguments_decoder(function))
        for name, function in functions
        if (getattr(function, "served", False) if names is None else name in names)
    }


def _arguments_decoder(function: Callable[..., object]) -> msgspec.msgpack.Decoder[tuple[Any, ...]]:
    hints = get_type_hints(function)
    names = list(inspect.signature(function).parameters)[1:]
    types = tuple(hints[name] for name in names)
    return msgspec.msgpack.Decoder(tuple[types])  # type: ignore[valid-type]  # known when the class is
