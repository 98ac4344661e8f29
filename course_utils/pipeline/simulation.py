"""A discrete-event simulation engine: processes that wait for time to pass or for items of a store.

A process is a generator. It yields a number to let that much time pass, or a `Store` to wait for the store's
next item, which the `yield` then returns. The result is deterministic: events at the same time happen in the
order in which they were scheduled. It is our own code rather than a library such as SimPy because the model
needs only one page of it, which students can read and need not install.
"""

import heapq
from collections import deque
from collections.abc import Generator
from itertools import count
from typing import Any, TypeAlias

# What a process receives from a `yield` is an item of a store: any value.
Process: TypeAlias = Generator["float | Store", Any, None]


class Store:
    """An unbounded first-in first-out queue between processes of one simulation."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._items: deque[object] = deque()
        self._waiting: deque[Process] = deque()

    def put(self, item: object = None) -> None:
        """Add an item, or hand it to the process that has waited longest."""
        if self._waiting:
            self._simulation.schedule(0, self._waiting.popleft(), item)
        else:
            self._items.append(item)

    def get_for(self, process: Process) -> None:
        """Resume `process` with the oldest item, now or as soon as there is one."""
        if self._items:
            self._simulation.schedule(0, process, self._items.popleft())
        else:
            self._waiting.append(process)


class Simulation:
    """The clock and the event queue.

    Durations are numbers: floats, or integers for exact times.
    """

    def __init__(self) -> None:
        self.now: float = 0
        self._events: list[tuple[float, int, Process, object]] = []
        self._order = count()

    def schedule(self, delay: float, process: Process, value: object = None) -> None:
        """Resume `process` with `value` after `delay`."""
        heapq.heappush(self._events, (self.now + delay, next(self._order), process, value))

    def start(self, *processes: Process) -> None:
        """Start processes at the current time."""
        for process in processes:
            self.schedule(0, process)

    def run(self) -> None:
        """Run until no event is left; processes that still wait for a store are abandoned."""
        while self._events:
            self.now, _, process, value = heapq.heappop(self._events)
            try:
                request = process.send(value)
            except StopIteration:
                continue
            if isinstance(request, Store):
                request.get_for(process)
            else:
                self.schedule(request, process)
