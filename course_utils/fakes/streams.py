"""Streams and events of the make-believe GPU in `fake_cuda`, with the names of those in `torch.cuda`."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_utils.fakes.cuda import FakeCuda


class FakeStream:
    """A queue of work; `busy_until` is when its last piece is done, in the make-believe seconds."""

    def __init__(self, gpu: "FakeCuda") -> None:
        self._gpu = gpu
        self.busy_until = 0.0

    def wait_stream(self, other: "FakeStream") -> None:
        """Later work here waits for what is queued on `other` now."""
        self.busy_until = max(self.busy_until, other.busy_until)

    def wait_event(self, event: "FakeEvent") -> None:
        """Later work here waits for the event."""
        self.busy_until = max(self.busy_until, event.time)

    def record_event(self, event: "FakeEvent | None" = None) -> "FakeEvent":
        """An event that happens when the work queued here is done."""
        event = FakeEvent(self._gpu) if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Let the host wait for everything queued here."""
        self._gpu.host_waits(self.busy_until)

    def query(self) -> bool:
        """Whether everything queued here is done."""
        return self.busy_until <= self._gpu.now


class FakeEvent:
    """A mark in a stream."""

    def __init__(self, gpu: "FakeCuda") -> None:
        self._gpu = gpu
        self.time = 0.0

    def record(self, stream: FakeStream | None = None) -> None:
        """Happen when the work queued on `stream` is done; on the current stream if None."""
        stream = self._gpu.current_stream() if stream is None else stream
        self.time = max(stream.busy_until, self._gpu.now)

    def wait(self, stream: FakeStream | None = None) -> None:
        """Let `stream` wait for this event."""
        (self._gpu.current_stream() if stream is None else stream).wait_event(self)

    def synchronize(self) -> None:
        """Let the host wait for this event."""
        self._gpu.host_waits(self.time)

    def query(self) -> bool:
        """Whether it has happened."""
        return self.time <= self._gpu.now

    def elapsed_time(self, end: "FakeEvent") -> float:
        """Milliseconds from this event to another."""
        return 1e3 * (end.time - self.time)
