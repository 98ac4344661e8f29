"""What cells leave running in a student's process, and how it is stopped before a check or another cell."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
import traceback
import tracemalloc
from time import sleep
from types import FrameType
from typing import Any

_LOOKS, _PAUSE = 100, 0.05  # seconds between two looks at the threads


def stop_timers() -> None:
    """Stop what a cell has set for itself: an alarm would interrupt another cell, or the reply."""
    for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
        signal.setitimer(timer, 0)


def stop_tracing() -> None:
    """Stop tracers and profilers that a cell has left, with which a check takes many times as long."""
    tracemalloc.stop()
    for module in (sys, threading):
        module.settrace(None)
        module.setprofile(None)
    if sys.version_info >= (3, 12):
        for tool in filter(sys.monitoring.get_tool, range(6)):
            sys.monitoring.set_events(tool, 0)


def stop_threads(space: dict[str, Any]) -> None:
    """Stop threads that run code of a cell, such as a training.

    They would draw from the generators that a check watches, and hold locks while it forks. Each gets a
    `SystemExit`, which it sees when the call that it is in returns. A thread that waits for another one
    without a limit stays, as an answer may have work for it.

    Args:
        space: The global variables of the cells.
    """
    for _ in range(_LOOKS):
        frames = sys._current_frames()
        del frames[threading.get_ident()]
        running = [thread for thread, frame in frames.items() if _runs_a_cell(frame, space)]
        if not running:
            return
        for thread in running:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(SystemExit))
        sleep(_PAUSE)


def _runs_a_cell(frame: FrameType, space: dict[str, Any]) -> bool:
    if frame.f_globals is vars(threading) and frame.f_locals.get("timeout", 0) is None:
        return False  # it waits for a lock, a condition or an event, without a limit
    return any(one.f_globals is space for one, _ in traceback.walk_stack(frame))
