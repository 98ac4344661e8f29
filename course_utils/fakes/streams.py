"""Streams and events of the simulated CUDA device in `cuda`, with the names of those in `torch.cuda`."""

from typing import Protocol


class Device(Protocol):
    """The part of a device that its streams and events use.

    Args:
        now: The host's clock, in simulated seconds.
    """

    now: float

    def current_stream(self) -> "FakeStream":
        """Return the stream on which work is queued now."""

    def block_host(self, until: float) -> None:
        """Advance the host's clock to `until`, in simulated seconds."""


class FakeStream:
    """A queue of device work; `busy_until` is when its last item is done, in simulated seconds."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.busy_until = 0.0

    def wait_stream(self, other: "FakeStream") -> None:
        """Make work queued later on this stream wait for the work that is queued on `other` now."""
        self.busy_until = max(self.busy_until, other.busy_until)

    def wait_event(self, event: "FakeEvent") -> None:
        """Make work queued later on this stream wait for the event."""
        self.busy_until = max(self.busy_until, event.time)

    def record_event(self, event: "FakeEvent | None" = None) -> "FakeEvent":
        """Record an event, or a new one if None, that completes when the work queued here is done."""
        event = FakeEvent(self._device) if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Block the host until all work queued here is done."""
        self._device.block_host(self.busy_until)

    def query(self) -> bool:
        """Return whether all work queued here is done."""
        return self.busy_until <= self._device.now


class FakeEvent:
    """A marker in a stream; `time` is the simulated second at which it completes."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self.time = 0.0

    def record(self, stream: FakeStream | None = None) -> None:
        """Complete when the work queued on `stream`, or on the current stream if None, is done."""
        stream = self._device.current_stream() if stream is None else stream
        self.time = max(stream.busy_until, self._device.now)

    def wait(self, stream: FakeStream | None = None) -> None:
        """Make `stream`, or the current stream if None, wait for this event."""
        (self._device.current_stream() if stream is None else stream).wait_event(self)

    def synchronize(self) -> None:
        """Block the host until this event completes."""
        self._device.block_host(self.time)

    def query(self) -> bool:
        """Return whether the event has completed."""
        return self.time <= self._device.now

    def elapsed_time(self, end: "FakeEvent") -> float:
        """Return the milliseconds from this event to `end`."""
        return 1e3 * (end.time - self.time)
