"""Threads that decode for one iteration, and end with it however it ends.

A finalizer written in Python would swallow a Ctrl-C that arrives while it runs: Python prints the exception
and ignores it. So nothing here runs in a finalizer. When the iteration is gone, the C functions of two weak
references tell the threads, which end by themselves. Other ends wait for them, outside of any finalizer.

For the same reason the threads are those of `_thread`: Ctrl-C while `threading.Thread` starts may become a
RuntimeError, or leave a thread in its list that never runs.
"""

import _thread
import atexit
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Task = Callable[[], None]

# By the lock that each running thread releases in the end, its tasks. Only these threads change it: Ctrl-C is
# raised in the main one.
running: "dict[_thread.LockType, SimpleQueue[Any]]" = {}


class DecoderThreads:
    """Threads that run tasks in order until their owner is gone, or they are stopped.

    Args:
        count: Number of threads.
        owner: The object that needs the results; it is not kept alive.
    """

    def __init__(self, count: int, owner: object) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._stops: list[object] = []  # not empty: stop
        # The later one is called first. The threads hold both, as they must live longer than the owner.
        watches = [weakref.ref(owner, self._tasks.put), weakref.ref(owner, self._stops.append)]
        self._ends: list[_thread.LockType] = []
        for _ in range(count):
            end = _thread.allocate_lock()
            end.acquire()
            _thread.start_new_thread(_run, (self._tasks, self._stops, watches, end))
            self._ends.append(end)

    def submit(self, task: Task) -> None:
        """Let a thread run a task, which raises nothing."""
        self._tasks.put(task)

    @property
    def stopped(self) -> list[object]:
        """A list that is empty until the threads are to stop: a long task looks at it from time to time."""
        return self._stops

    def stop(self) -> None:
        """Discard tasks that have not begun, and wait for the threads."""
        self._stops.append(None)
        self._tasks.put(None)
        while self._ends:  # after a Ctrl-C a second call does not wait for the same one again
            self._ends.pop().acquire()


def _run(
    tasks: "SimpleQueue[Any]", stops: list[object], watches: list[weakref.ref[object]], end: _thread.LockType
) -> None:
    running[end] = tasks
    try:
        while (task := tasks.get()) is not None and not stops:
            task()
    finally:
        tasks.put(None)  # for the next thread
        del running[end]
        end.release()


@atexit.register
def _stop_all() -> None:
    """Stop the threads of iterations that are still open before the modules that they need are unloaded."""
    for end, tasks in list(running.items()):
        tasks.put(None)
        end.acquire()
