"""Run a function in a forked child of this process, as a data loader's worker is one."""

import gc
import multiprocessing
import os
import pickle
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_PATIENCE = 120  # seconds; a child that hangs must not hang its parent


class ChildDiedError(RuntimeError):
    """The forked child ended without an answer."""


def in_child(function: Callable[..., Any], *args: Any) -> Any:  # noqa: ANN401 - whatever the function returns
    """Call ``function(*args)`` in a forked child and return what it returned.

    The child starts as a copy of this process, with this process's open files. It shares them.

    Raises:
        ChildDiedError: The child ended without an answer.
        Exception: What the function raised in the child.
    """
    reader, writer = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reader)
        _answer(writer, function, args)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    if not data:
        raise ChildDiedError("a forked child ended without an answer")
    error, value = pickle.loads(data)
    if error is not None:
        raise error
    return value


@contextmanager
def fork_by_default() -> Iterator[None]:
    """Let data loaders fork their workers meanwhile, and keep quiet about threads and too few cores."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("fork", force=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        multiprocessing.set_start_method(before, force=True)


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns of a fork beside threads; the child below uses none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _answer(writer: int, function: Callable[..., Any], args: tuple) -> None:
    # The parent's thread pools did not come along: one thread, no collector, and no exit handlers.
    try:
        signal.alarm(_PATIENCE)
        gc.disable()
        torch.set_num_threads(1)
        data = _attempt(function, args)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)
    finally:
        os._exit(0)


def _attempt(function: Callable[..., Any], args: tuple) -> bytes:
    try:
        return pickle.dumps((None, function(*args)))
    except Exception as error:
        return pickle.dumps((_portable(error), None))


def _portable(error: Exception) -> Exception:
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
