"""A simulated CUDA device that detects races, with the functions and classes of `torch.cuda`.

What happens on it is computed by an `engine.GpuEngine`: in this process, or elsewhere where the code under
test cannot reach it. A tensor's memory is freed with the last reference to it.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from course_utils.fakes.engine import GpuEngine, LogEntry, RaceError
from course_utils.fakes.streams import FakeEvent, FakeStream

__all__ = ["DeviceBatch", "FakeCuda", "HostBatch", "RaceError"]


class FakeCuda:
    """The device, with the functions of `torch.cuda` that a prefetching wrapper needs.

    Args:
        copy_seconds: Duration of one copy from host to device.
        strict: Raise `RaceError` at the first race; otherwise only list it in `races`.
        engine: Has the methods of a `GpuEngine`; a new one by default.
    """

    def __init__(
        self,
        copy_seconds: float = 1.0,
        strict: bool = True,
        engine: Any = None,  # noqa: ANN401 - a GpuEngine, or a handle on one
    ) -> None:
        self._engine = GpuEngine(copy_seconds, strict) if engine is None else engine
        self._freed: deque[int] = deque()

    def call(self, operation: str, *arguments: object) -> Any:  # noqa: ANN401 - its result
        """Call an operation of the engine by name, after freeing what has no references any more."""
        # Tensors are freed here and not when they are collected, which may happen within another call.
        while self._freed:
            self._engine.free(self._freed.popleft())
        return getattr(self._engine, operation)(*arguments)

    def Stream(self, *args: object, **kwargs: object) -> FakeStream:  # noqa: N802 - torch's name
        """Return a new stream."""
        return FakeStream(self.call, self.call("new_stream"))

    def Event(self, *args: object, **kwargs: object) -> FakeEvent:  # noqa: N802 - torch's name
        """Return a new event."""
        return FakeEvent(self.call)

    def current_stream(self, device: object = None) -> FakeStream:
        """Return the stream on which work is queued now."""
        return FakeStream(self.call, self.call("current_stream"))

    def default_stream(self, device: object = None) -> FakeStream:
        """Return the stream on which work is queued unless another was chosen."""
        return FakeStream(self.call, 0)

    @contextmanager
    def stream(self, stream: FakeStream | None) -> Iterator[None]:
        """Queue work on `stream` inside the `with` block."""
        before = self.call("current_stream")
        if stream is not None:
            self.call("set_stream", stream.number)
        try:
            yield
        finally:
            self.call("set_stream", before)

    def synchronize(self, device: object = None) -> None:
        """Block the host until all streams are idle."""
        self.call("synchronize")

    def on_device(self, tensor: int) -> DeviceBatch:
        """Return a tensor of the engine, which is freed with the last reference to it."""
        batch = DeviceBatch(self, tensor)
        weakref.finalize(batch, self._freed.append, tensor).atexit = False
        return batch

    def pinned(self, value: object = None) -> HostBatch:
        """Return a tensor in page-locked memory of the host; `value` stands for its content."""
        return HostBatch(self, value)

    def kernel(self, seconds: float, *batches: DeviceBatch) -> None:
        """Queue a kernel on the current stream.

        Args:
            seconds: Duration of the kernel.
            *batches: The batches that it reads.

        Raises:
            RaceError: A batch is read before its copy is done and the device is strict.
        """
        self.call("kernel", seconds, [batch.number for batch in batches])

    def run_host(self, seconds: float) -> None:
        """Advance the host's clock by other work of the host, such as loading a batch."""
        self.call("run_host", seconds)

    def values_read(self) -> list[list[object]]:
        """Return the values that each use found in memory: without a race, only the value of its batch."""
        values: list[list[object]] = self.call("values_read")
        return values

    @property
    def now(self) -> float:
        """The host's clock, in simulated seconds."""
        return float(self._engine.now)

    @property
    def waits(self) -> int:
        """How often the host waited for the device."""
        return int(self._engine.waits)

    @property
    def races(self) -> list[str]:
        """The kinds of races that happened."""
        return list(self._engine.races)

    @property
    def log(self) -> list[LogEntry]:
        """Every copy, use and free."""
        return list(self._engine.log)


class HostBatch:
    """A tensor in host memory.

    Args:
        gpu: The device that it is copied to.
        value: Stands for its content.
        pinned: Whether it is in page-locked memory.
        number: Number of a host tensor that the engine has already, in place of a new one.
    """

    is_cuda = False

    def __init__(
        self, gpu: FakeCuda, value: object = None, pinned: bool = True, number: int | None = None
    ) -> None:
        self._gpu, self._pinned = gpu, pinned
        self.number: int = gpu.call("host_tensor", value, pinned) if number is None else number

    def is_pinned(self) -> bool:
        """Return whether the tensor is in page-locked memory."""
        return self._pinned

    def pin_memory(self) -> HostBatch:
        """Return a copy in page-locked memory."""
        return HostBatch(self._gpu, number=self._gpu.call("pin", self.number))

    def to(self, device: object = "cuda", non_blocking: bool = False) -> DeviceBatch:
        """Queue a copy to the device on the current stream.

        Returns:
            The batch on the device; the host waits, unless the copy is `non_blocking` from pinned memory.
        """
        return self._gpu.on_device(self._gpu.call("copy", self.number, bool(non_blocking)))

    def fill_(self, value: object) -> HostBatch:
        """Overwrite the content from the host; a copy from it that is not done yet copies the new content.

        Raises:
            RaceError: There is such a copy and the device is strict.
        """
        self._gpu.call("fill", self.number, value)
        return self

    def cuda(self, device: object = None, non_blocking: bool = False) -> DeviceBatch:
        """Do the same as `to`."""
        return self.to(non_blocking=non_blocking)


class DeviceBatch:
    """A tensor in device memory.

    Args:
        gpu: The device.
        number: Number of the tensor there.
    """

    is_cuda = True

    def __init__(self, gpu: FakeCuda, number: int) -> None:
        self._gpu, self.number = gpu, number

    @property
    def value(self) -> object:
        """What was copied into it."""
        return self._gpu.call("value", self.number)

    def record_stream(self, stream: FakeStream) -> None:
        """Tell the allocator that `stream` uses this memory too."""
        self._gpu.call("record_stream", self.number, stream.number)

    def to(self, device: object = "cuda", non_blocking: bool = False) -> DeviceBatch:
        """Return the batch itself: it is on the device already."""
        return self
