"""Generators of random numbers that a dataset can reach, and hashes of their states."""

import random
import sys
import types
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

MOST_OBJECTS, MOST_ITEMS, DEPTH = 400, 16, 4
KINDS = (np.random.Generator, np.random.RandomState, random.Random, torch.Generator)
PLAIN = (str, bytes, int, float, bool, type(None), np.ndarray, torch.Tensor, types.ModuleType, type)


def find(*roots: object) -> dict[str, object]:
    """Return the generators that objects own, by the path of attributes that leads to them.

    Args:
        roots: The dataset and its collate function; the globals of their modules are searched, too.
    """
    seen: set[int] = set()
    found: dict[str, object] = {}
    for root in roots:
        queue = [(type(root).__name__, root, 0)]
        module = sys.modules.get(getattr(root, "__module__", "") or "")
        if module and _is_users(module):
            queue += [(name, value, DEPTH) for name, value in list(vars(module).items())]
        while queue and len(seen) < MOST_OBJECTS:
            name, value, depth = queue.pop(0)
            if id(value) in seen or isinstance(value, PLAIN):
                continue
            seen.add(id(value))
            if isinstance(value, KINDS):
                found[name] = value
            elif depth < DEPTH:
                queue += [(f"{name}{key}", item, depth + 1) for key, item in _children(value)]
    return found


def _is_users(module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None) or ""
    return bool(file) and "site-packages" not in file and not file.startswith(sys.base_prefix + "/lib")


def _children(value: object) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        yield from ((f"[{i}]", item) for i, item in enumerate(value[:MOST_ITEMS]))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", value[key]) for key in list(value)[:MOST_ITEMS])
    elif isinstance(value, (types.FunctionType, types.MethodType)):
        function = value.__func__ if isinstance(value, types.MethodType) else value
        yield from ((f".{i}", _content(cell)) for i, cell in enumerate(function.__closure__ or ()))
        if isinstance(value, types.MethodType):
            yield ".self", value.__self__
    else:
        yield from ((f".{key}", item) for key, item in list(getattr(value, "__dict__", {}).items()))


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None


def global_states() -> dict[str, int]:
    """Hashes of the generators that everybody shares."""
    numpy_state: Any = np.random.get_state(legacy=True)  # noqa: NPY002 - the one that users share
    return {
        "random": _python_state(random),
        "numpy.random": zlib.crc32(numpy_state[1].tobytes()) ^ int(numpy_state[2]),
        "torch": zlib.crc32(torch.get_rng_state().numpy().tobytes()),
    }


def states(found: dict[str, object]) -> dict[str, int]:
    """Hashes of the generators that were found; looking changes nothing in them."""
    return {name: _state(generator) for name, generator in found.items()}


def _state(generator: Any) -> int:
    if isinstance(generator, np.random.Generator):
        return zlib.crc32(repr(generator.bit_generator.state).encode())
    if isinstance(generator, np.random.RandomState):
        state: Any = generator.get_state(legacy=True)
        return zlib.crc32(state[1].tobytes()) ^ int(state[2])
    if isinstance(generator, random.Random):
        secret = isinstance(generator, random.SystemRandom)
        return id(generator) if secret else _python_state(generator)
    return zlib.crc32(generator.get_state().numpy().tobytes())


def _python_state(generator: Any) -> int:
    """Hash of the state of a `random.Random`, or of the module; that of a subclass may be anything."""
    state = generator.getstate()
    is_plain = generator is random or type(generator) is random.Random
    return hash(state[1]) if is_plain else zlib.crc32(repr(state).encode())
