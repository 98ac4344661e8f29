"""Describe a transform with its parameters, as text that is the same in every process.

`repr` is not enough: by default it is an address, torchvision's leaves out functions and dtypes, and that of
PyTorch the values of parameters and most digits of a tensor.
"""

import hashlib
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

import numpy as np
import torch

ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")


def description(value: object) -> str:
    """Return text that tells an object from others: those with other parameters have another one.

    Args:
        value: A function that can be imported, an object with a `__repr__` of its own, a dataclass, a module
            of PyTorch, an array, or `functools.partial`s, methods, tuples, lists, sets and dicts of these.

    Raises:
        ValueError: There is no such text, as of a lambda.
    """
    try:
        return _text(value)
    except RecursionError:
        raise ValueError(f"{type(value).__qualname__} refers to itself, so no text can describe it") from None


def _text(value: object) -> str:
    match value:
        case np.generic():
            return repr(value.item())
        case torch.Tensor():
            data = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
            return _digest(value.dtype, value.shape, data)
        case np.ndarray() if value.dtype != object:
            return _digest(value.dtype, value.shape, value)
        case np.ndarray():
            return f"array({value.shape}, {_text(value.tolist())})"
        case partial():
            keywords = (f"{key}={_text(one)}" for key, one in value.keywords.items())
            return f"partial({', '.join([_text(value.func), *map(_text, value.args), *keywords])})"
        case MethodType():
            return f"{_text(value.__self__)}.{value.__name__}"
        case BuiltinFunctionType() if value.__self__ is None or isinstance(value.__self__, ModuleType):
            return f"{value.__module__}.{value.__qualname__}"
        case BuiltinFunctionType():
            return f"{_text(value.__self__)}.{value.__name__}"
        case torch.nn.Module():
            return _attributes(value, _settings(value))
        case list() | tuple() | set() | frozenset() | dict():
            return _container(value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _attributes(
                value, {each.name: getattr(value, each.name) for each in fields(value) if each.repr}
            )
        case _:
            return _importable_name(value) or _own_text(value)


def _digest(dtype: object, shape: Iterable[int], data: np.ndarray) -> str:
    return f"array({dtype}, {tuple(shape)}, {hashlib.sha256(data.tobytes()).hexdigest()[:16]})"


def _container(value: Collection[object]) -> str:
    kind = type(value)
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{_text(key)}: {_text(one)}" for key, one in value.items()) + "}"
    elif isinstance(value, set | frozenset):
        text = "{" + ", ".join(sorted(map(_text, value))) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(map(_text, value)) + "]"
    else:
        text = "(" + ", ".join(map(_text, value)) + (",)" if len(value) == 1 else ")")
    return text if kind in (dict, set, list, tuple) else f"{kind.__qualname__}({text})"


def _attributes(value: object, attributes: dict[str, object]) -> str:
    inside = (f"{name}={_text(one)}" for name, one in attributes.items())
    return f"{type(value).__qualname__}({', '.join(inside)})"


def _settings(module: torch.nn.Module) -> dict[str, object]:
    """Return parameters, children and settings of a module, without what every empty module has."""
    usual = vars(torch.nn.Module())
    return {name: one for name, one in vars(module).items() if name not in usual or one}


def _importable_name(value: object) -> str | None:
    """Return the name of a function or class under which others can import the very same one."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    there: object = sys.modules.get(module)
    for part in name.split("."):
        there = getattr(there, part, None)
    return f"{module}.{name}" if there is value else None


def _own_text(value: object) -> str:
    """Return what an object's own `__repr__` says, and which functions it holds in public."""
    if isinstance(value, FunctionType | type):
        raise ValueError(
            f"{value.__qualname__} cannot be told from others, as it is a lambda, a local function or class, "
            "or defined again since: use one at the top level of a module, with functools.partial for its "
            "parameters, or a dataclass with a __call__"
        )
    text = repr(value)
    if type(value).__repr__ is object.__repr__ or ADDRESS.search(text):
        raise ValueError(
            f"{type(value).__qualname__} cannot be told from one with other parameters, as its repr is "
            f"{text:.200}: make the class a dataclass, or give it a __repr__ that names all its parameters"
        )
    public = [one for name, one in getattr(value, "__dict__", {}).items() if not name.startswith("_")]
    held = [_text(one) for one in _callables(public)]
    return f"{text} with {', '.join(held)}" if held else text


def _callables(values: Iterable[object]) -> Iterator[object]:
    for value in values:
        if isinstance(value, dict):
            yield from _callables(value.values())
        elif isinstance(value, list | tuple | set | frozenset):
            yield from _callables(value)
        elif callable(value):
            yield value
