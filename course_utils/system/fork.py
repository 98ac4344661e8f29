"""Run a function in a forked child process, which starts as a data loader's worker does."""

import gc
import multiprocessing
import os
import pickle
import select
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PREFIX = 8  # bytes of a length
_TIMEOUT = 120  # seconds, so that a hanging child does not hang its parent


class ChildDiedError(RuntimeError):
    """The forked child exited without returning a result.

    Attributes:
        signal: What killed it; None if it exited by itself.
    """

    def __init__(self, killed_by: signal.Signals | None = None) -> None:
        self.signal = killed_by
        how = f"was killed by {killed_by.name}" if killed_by else "exited"
        super().__init__(f"the forked child {how} without returning a result")


def in_child(function: Callable[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """Call a function in a forked child and return its result.

    The child starts as a copy-on-write copy of this process and shares its open files.

    Args:
        function: Called in the child; its result must be picklable.
        *args: Arguments of the function.
        **kwargs: Keyword arguments of the function.

    Raises:
        ChildDiedError: The child exited without returning a result, or took longer than two minutes.
        Exception: Whatever the function raised; a RuntimeError that names it where it cannot be pickled.
    """
    reader, writer = os.pipe()
    child = _fork()
    if child == 0:
        os.close(reader)
        _run_and_exit(writer, lambda: function(*args, **kwargs))
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    returned: _R = _result(data, _status(child))
    return returned


@contextmanager
def waiting_child(
    function: Callable[[Callable[[], bytes]], _R], patience: float | None = None
) -> Iterator[Callable[[bytes], _R]]:
    """Fork a child now that gets its data later: it knows nothing of what happens here in between.

    Args:
        function: Called in the child with a function that waits for the data and returns them.
        patience: Seconds after which the context begins although the child does not wait; None for no limit.

    Yields:
        A function to call once with the data, which waits for the child's result, as `in_child` does. The
        context begins when the child waits.
    """
    (data_reader, data_writer), (reader, writer) = os.pipe(), os.pipe()
    child = _fork()
    if child == 0:
        os.close(reader)
        os.close(data_writer)

        def wait() -> bytes:
            os.write(writer, b"!")
            with os.fdopen(data_reader, "rb") as pipe:
                # Not to the end of the pipe: other children may have inherited its other end.
                return pipe.read(int.from_bytes(pipe.read(_PREFIX), "little"))

        _run_and_exit(writer, lambda: function(wait))
    os.close(writer)
    os.close(data_reader)
    with os.fdopen(reader, "rb") as results, os.fdopen(data_writer, "wb") as pipe:
        waits = bool(select.select([results], [], [], patience)[0])
        results.read(1 if waits else 0)

        def send(data: bytes) -> _R:
            with suppress(BrokenPipeError), pipe:  # of a child that has died
                pipe.write(len(data).to_bytes(_PREFIX, "little") + data)
            returned: _R = _result(results.read() if waits else results.read().removeprefix(b"!"))
            return returned

        yield send
    _status(child)


def _status(child: int) -> int:
    try:
        return os.waitpid(child, 0)[1]
    except ChildProcessError:  # where SIGCHLD is ignored, the kernel waits for children itself
        return 0


def _result(data: bytes, status: int = 0) -> Any:  # noqa: ANN401 - what the function returned
    if not data:
        raise ChildDiedError(signal.Signals(os.WTERMSIG(status)) if os.WIFSIGNALED(status) else None)
    error, result = pickle.loads(data)
    if error is not None:
        raise error
    return result


@contextmanager
def fork_by_default() -> Iterator[None]:
    """Make fork the default start method within the context, and suppress all warnings.

    PyTorch warns of more workers than cores, and Python of a fork beside threads.
    """
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


def _run_and_exit(writer: int, function: Callable[[], object]) -> NoReturn:
    # A fork does not copy the parent's thread pools: one thread, no garbage collector, no exit handlers.
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # not a handler of the code that called
        signal.alarm(_TIMEOUT)
        gc.disable()
        if torch := sys.modules.get("torch"):  # not imported for this: a sandbox's fork server has none
            torch.set_num_threads(1)
        data = _pickled_outcome(function)
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(data)
    finally:
        os._exit(0)


def _pickled_outcome(function: Callable[[], object]) -> bytes:
    try:
        return pickle.dumps((None, function()))
    except Exception as error:
        return pickle.dumps((_picklable(error), None))


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
