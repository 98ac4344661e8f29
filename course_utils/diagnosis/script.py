"""Watch and run a script or a module as `__main__`, as Python itself would."""

import os
import runpy
import signal
import sys
import types
from pathlib import Path

import course_utils
from course_utils.diagnosis.record import iterators, training
from course_utils.diagnosis.record.collector import Hooks
from course_utils.diagnosis.record.imports import after_import

OURS = str(Path(__file__).parent)
RUNNERS = (OURS, "<frozen runpy>", "<frozen importlib")


def prepare(script: str, arguments: list[str], is_module: bool) -> None:
    """Set `sys.argv` and `sys.path` as Python would for this script."""
    root = str(Path(course_utils.__file__).parents[1])
    sys.argv = [script, *arguments]
    path = [entry for entry in sys.path[1:] if entry != root] if not sys.flags.safe_path else sys.path[:]
    if not sys.flags.safe_path:
        folder = os.getcwd() if is_module else os.path.dirname(os.path.realpath(script))  # noqa: PTH109, PTH120
        path.insert(0, folder)
    # Workers that are spawned import this package by the path; it comes last.
    sys.path[:] = path if root in path else [*path, root]


def watch(folder: str, replay: bool = False) -> None:
    """Record into `folder` once the script has imported torch; it may set variables that torch reads then.

    Args:
        folder: Of the records.
        replay: Whether the loaders repeat one cached batch.
    """
    Hooks.folder, Hooks.replay = folder, replay
    after_import({"torch.utils.data.dataloader": iterators.hook, **training.ACTIONS})
    os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    """A forked process starts without the records of its parent."""
    from course_utils.diagnosis.record import worker  # imports torch

    Hooks.collector, worker.Log.spool, worker.Log.latest = None, None, None


def run(script: str, is_module: bool) -> int:
    """Run it to its end.

    Returns:
        0, or 1 after an exception, whose traceback is printed without our frames.

    Raises:
        SystemExit: The script asks for an exit status.
        KeyboardInterrupt: It was interrupted.
    """
    try:
        if is_module:
            runpy.run_module(script, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(script, run_name="__main__")
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        _show(error)
        return 1
    return 0


def _show(error: BaseException) -> None:
    error.__traceback__ = without_ours(error.__traceback__)
    sys.excepthook(type(error), error, error.__traceback__)


def without_ours(traceback: types.TracebackType | None) -> types.TracebackType | None:
    """Leave out the frames of this package and of `runpy`."""
    if traceback is None:
        return None
    rest = without_ours(traceback.tb_next)
    if traceback.tb_frame.f_code.co_filename.startswith(RUNNERS):
        return rest
    return types.TracebackType(rest, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)


def die_of_interrupt(error: KeyboardInterrupt) -> None:
    """End as Python ends after Ctrl-C: a traceback, and the signal."""
    _show(error)
    sys.stderr.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)
