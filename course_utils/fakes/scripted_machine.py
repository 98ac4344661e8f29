"""A training machine with scripted durations: tests a timer, because the true times are known.

The host loads batches and queues steps; the GPU runs the steps asynchronously. The first epoch is slow, as
with a cold page cache, and so is the first step, as with a compilation. No real clock is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from course_utils.fakes.cuda import FakeCuda
from course_utils.fakes.engine import GpuEngine

LAUNCH_SECONDS = 1e-5


class MachineEngine(GpuEngine):
    """What happens on the machine, in plain numbers.

    Args:
        load: Seconds to load each batch of a warm epoch; its length is the number of batches of an epoch.
        compute: Seconds of device time for a step.
        cold: Factor on the loading times of the first epoch.
        warm_up: Factor on the device time of the very first step.

    Attributes:
        epochs: How many epochs were started.
        steps: How many steps were queued.
    """

    def __init__(
        self, load: Sequence[float], compute: float, cold: float = 1.0, warm_up: float = 1.0
    ) -> None:
        super().__init__()
        self._load, self._compute, self._cold, self._warm_up = list(load), compute, cold, warm_up
        self._given: list[int] = []  # how many batches each epoch has given
        self.steps = 0

    @property
    def epochs(self) -> int:
        """How many epochs were started."""
        return len(self._given)

    def clock(self) -> float:
        """Return the time on the host's clock, in seconds."""
        return self.now

    def batches(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self._load)

    def start_epoch(self) -> int:
        """Start an epoch; return its number."""
        self._given.append(0)
        return self.epochs - 1

    def load(self, epoch: int) -> int | None:
        """Load the next batch of an epoch; return its number, or None after the last one."""
        number = self._given[epoch]
        if number == len(self._load):
            return None
        self._given[epoch] += 1
        self.run_host(self._load[number] * (self._cold if epoch == 0 else 1))
        return number

    def step(self, batch: int) -> None:
        """Queue one training step; the host does not wait for it."""
        self.run_host(LAUNCH_SECONDS)
        self.kernel(self._compute * (self._warm_up if self.steps == 0 else 1))
        self.steps += 1


class ScriptedMachine:
    """A loader, a training step, a clock and a device.

    Args:
        load: Seconds to load each batch of a warm epoch; its length is the number of batches of an epoch.
        compute: Seconds of device time for a step.
        cold: Factor on the loading times of the first epoch.
        warm_up: Factor on the device time of the very first step.
        engine: Has the methods of a `MachineEngine`, in place of the times.

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
        self,
        load: Sequence[float] = (),
        compute: float = 0.0,
        cold: float = 1.0,
        warm_up: float = 1.0,
        engine: Any = None,  # noqa: ANN401 - a MachineEngine, or a handle on one
    ) -> None:
        engine = MachineEngine(load, compute, cold, warm_up) if engine is None else engine
        self.device = FakeCuda(engine=engine)
        self.loader = _Loader(self.device)

    def clock(self) -> float:
        """Return the time on the host's clock, in seconds."""
        return float(self.device.call("clock"))

    def step(self, batch: int) -> None:
        """Queue one training step; the host does not wait for it."""
        self.device.call("step", batch)


class _Loader:
    """An iterable over the machine's batches; each iteration is an epoch."""

    def __init__(self, device: FakeCuda) -> None:
        self._device = device

    def __iter__(self) -> Iterator[int]:
        epoch = self._device.call("start_epoch")
        while (batch := self._device.call("load", epoch)) is not None:
            yield batch

    def __len__(self) -> int:
        return int(self._device.call("batches"))
