"""Threads that decode for one iteration, and end with it however it ends.

A finalizer written in Python would swallow a Ctrl-C that arrives while it runs: Python prints the exception
and ignores it. So nothing here runs in a finalizer. When the iteration is gone, the C functions of two weak
references tell the threads, which end by themselves. Other ends wait for them, outside of any finalizer.

For the same reason the threads are those of `_thread`: Ctrl-C while `threading.Thread` starts may become a
RuntimeError, or leave a thread in its list that never runs. Nor is there a lock that a Ctrl-C could leave
locked.
"""

import _thread
import atexit
import os
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

Task = Callable[[], None]

POLL = 0.05  # seconds, for the second of two threads that wait for the same end

# By the lock that each running thread releases at its end, what stops it. Only these threads change it, as
# Ctrl-C is raised in the main one.
running: "dict[_thread.LockType, tuple[list[object], SimpleQueue[Any]]]" = {}
if hasattr(os, "register_at_fork"):  # a forked child has none of these threads
    os.register_at_fork(after_in_child=running.clear)


class StoppedError(Exception):
    """The threads have been stopped: the result that this thread waits for will not come."""


class DecoderThreads:
    """Threads that run tasks in order until their owner is gone, or they are stopped.

    Args:
        count: Number of threads.
        owner: The object that needs the results; it is not kept alive.

    Raises:
        RuntimeError: The system refuses to start as many threads; none is left.
    """

    def __init__(self, count: int, owner: object) -> None:
        self._tasks: SimpleQueue[Any] = SimpleQueue()
        self._stops: list[object] = []  # not empty: stop
        # The later one is called first. The threads hold both, as they must live longer than the owner.
        watches = [weakref.ref(owner, self._tasks.put), weakref.ref(owner, self._stops.append)]
        self._ends: list[_thread.LockType] = []
        self._ended: list[_thread.LockType] = []
        for number in range(count):
            end = _thread.allocate_lock()
            end.acquire()
            try:
                _thread.start_new_thread(_run, (self._tasks, self._stops, watches, end, self._ended))
            except RuntimeError as error:
                self.stop()
                raise RuntimeError(
                    f"the system started only {number} of {count} decoding threads: pass a smaller threads=, "
                    "or raise its limit (`ulimit -u`, or the number of tasks that the job or container may "
                    "have)"
                ) from error
            self._ends.append(end)

    def submit(self, task: Task) -> None:
        """Let a thread run a task, which raises nothing, and returns at once when the threads are to stop."""
        self._tasks.put(task)
        if self._stops:  # no thread may be left: the task itself tells whoever waits for its result
            task()

    @property
    def stopped(self) -> list[object]:
        """A list that is empty until the threads are to stop: a long task looks at it from time to time."""
        return self._stops

    def stop(self) -> None:
        """Let all tasks return, and wait for the threads; several threads may call this, repeatedly."""
        self._stops.append(None)
        self._tasks.put(None)
        for end in self._ends:  # of two threads that wait for a lock, only one acquires it
            while end not in self._ended and not end.acquire(timeout=POLL):
                pass


def _run(
    tasks: "SimpleQueue[Any]",
    stops: list[object],
    watches: list[weakref.ref[object]],
    end: _thread.LockType,
    ended: list[_thread.LockType],
) -> None:
    running[end] = stops, tasks
    try:
        while not isinstance(task := tasks.get(), weakref.ref | None):
            task()
    finally:
        tasks.put(None)  # for the next thread
        running.pop(end, None)
        ended.append(end)
        end.release()


@atexit.register
def _stop_all() -> None:
    """Stop the threads of iterations that are still open before the modules that they need are unloaded."""
    left = list(running.items())
    for _, (stops, tasks) in left:
        stops.append(None)
        tasks.put(None)
    for end, _ in left:
        while end in running and not end.acquire(timeout=POLL):
            pass
