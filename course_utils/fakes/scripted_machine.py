"""A machine whose every duration stands in a script: the place to test a stopwatch, since the truth is known.

The host loads batches and queues steps; a GPU does the steps on its own while the host goes on. The first
epoch is slow, as one with a cold page cache, and so is the first step, as one that compiles. No real clock
is looked at.
"""

from collections.abc import Iterator, Sequence

from course_utils.fakes.cuda import FakeCuda

LAUNCH = 1e-5


class ScriptedMachine:
    """A loader, a training step, a clock and a device.

    Args:
        load: Seconds to load each batch of a warm epoch; one epoch has as many batches.
        compute: Seconds that the device needs for a step.
        cold: How many times as long loading takes in the first epoch.
        warm_up: How many times as long the very first step takes.

    Example:
        >>> machine = ScriptedMachine(load=[0.5, 0.5], compute=1.0)
        >>> for batch in machine.loader:
        ...     machine.step(batch)
        >>> machine.clock() < 2                    # the host is done, the device is not
        True
        >>> machine.device.synchronize()
        >>> machine.clock() >= 2
        True
    """

    def __init__(
        self, load: Sequence[float], compute: float, cold: float = 1.0, warm_up: float = 1.0
    ) -> None:
        self._load, self._compute, self._cold, self._warm_up = list(load), compute, cold, warm_up
        self.device = FakeCuda()
        self.epochs, self.steps = 0, 0
        self.loader = _Loader(self)

    def clock(self) -> float:
        """The host's clock, in seconds."""
        return self.device.now

    def step(self, batch: int) -> None:
        """Queue one training step; the host does not wait for it."""
        self.device.host_works(LAUNCH)
        self.device.kernel(self._compute * (self._warm_up if self.steps == 0 else 1))
        self.steps += 1

    def load(self) -> Iterator[int]:
        """One epoch of batches, each after its loading time."""
        factor = self._cold if self.epochs == 0 else 1
        self.epochs += 1
        for number, seconds in enumerate(self._load):
            self.device.host_works(seconds * factor)
            yield number

    def __len__(self) -> int:
        return len(self._load)


class _Loader:
    """Iterates over the machine's batches, again in every epoch."""

    def __init__(self, machine: ScriptedMachine) -> None:
        self._machine = machine

    def __iter__(self) -> Iterator[int]:
        return self._machine.load()

    def __len__(self) -> int:
        return len(self._machine)
