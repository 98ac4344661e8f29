"""A training machine with scripted durations: tests a timer, because the true times are known.

The host loads batches and queues steps; the GPU runs the steps asynchronously. The first epoch is slow, as
with a cold page cache, and so is the first step, as with a compilation. No real clock is read.
"""

from collections.abc import Iterator, Sequence

from course_utils.fakes.cuda import FakeCuda

LAUNCH_SECONDS = 1e-5


class ScriptedMachine:
    """A loader, a training step, a clock and a device.

    Args:
        load: Seconds to load each batch of a warm epoch; its length is the number of batches of an epoch.
        compute: Seconds of device time for a step.
        cold: Factor on the loading times of the first epoch.
        warm_up: Factor on the device time of the very first step.

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
        """Return the time on the host's clock, in seconds."""
        return self.device.now

    def step(self, batch: int) -> None:
        """Queue one training step; the host does not wait for it."""
        self.device.run_host(LAUNCH_SECONDS)
        self.device.kernel(self._compute * (self._warm_up if self.steps == 0 else 1))
        self.steps += 1

    def load(self) -> Iterator[int]:
        """Yield the batches of one epoch, each after its loading time."""
        factor = self._cold if self.epochs == 0 else 1
        self.epochs += 1
        for number, seconds in enumerate(self._load):
            self.device.run_host(seconds * factor)
            yield number

    def __len__(self) -> int:
        return len(self._load)


class _Loader:
    """An iterable over the machine's batches; each iteration is an epoch."""

    def __init__(self, machine: ScriptedMachine) -> None:
        self._machine = machine

    def __iter__(self) -> Iterator[int]:
        return self._machine.load()

    def __len__(self) -> int:
        return len(self._machine)
