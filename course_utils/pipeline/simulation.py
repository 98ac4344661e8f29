"""A discrete-event simulation in a page: processes that wait for time or for items of a store.

A process is a generator. It yields a number to let that much time pass, or a `Store` to wait for the
store's next item, which the `yield` then returns. Nothing is random and nothing depends on the machine:
events of the same time happen in the order in which they were scheduled.
"""

import heapq
from collections import deque
from collections.abc import Generator
from itertools import count
from typing import Any

Process = Generator[Any, Any, None]


class Store:
    """A first-in first-out queue without a limit, between processes of one simulation."""

    def __init__(self, simulation: "Simulation") -> None:
        self._simulation = simulation
        self._items: deque[Any] = deque()
        self._waiting: deque[Process] = deque()

    def put(self, item: object = None) -> None:
        """Add an item; the process that has waited longest gets it now."""
        if self._waiting:
            self._simulation.schedule(0, self._waiting.popleft(), item)
        else:
            self._items.append(item)

    def get_for(self, process: Process) -> None:
        """Give the oldest item to `process`, or let it wait for one."""
        if self._items:
            self._simulation.schedule(0, process, self._items.popleft())
        else:
            self._waiting.append(process)


class Simulation:
    """The clock and the agenda.

    Durations may be any numbers that add and compare: floats, or integers and fractions for exact times.
    """

    def __init__(self) -> None:
        self.now: Any = 0
        self._agenda: list[tuple[Any, int, Process, Any]] = []
        self._order = count()

    def schedule(self, delay: object, process: Process, value: object = None) -> None:
        """Resume `process` with `value` after `delay`."""
        heapq.heappush(self._agenda, (self.now + delay, next(self._order), process, value))

    def start(self, *processes: Process) -> None:
        """Let processes begin at the present time."""
        for process in processes:
            self.schedule(0, process)

    def run(self) -> None:
        """Go on until nothing can happen any more."""
        while self._agenda:
            self.now, _, process, value = heapq.heappop(self._agenda)
            try:
                request = process.send(value)
            except StopIteration:
                continue
            if isinstance(request, Store):
                request.get_for(process)
            else:
                self.schedule(request, process)
