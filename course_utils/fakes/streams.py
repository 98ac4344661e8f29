"""Streams and events of a simulated CUDA device, with the names of those in `torch.cuda`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Call = Callable[..., Any]


class FakeStream:
    """A queue of device work.

    Args:
        call: Calls an operation of the device by name.
        number: Number of the stream on the device.
    """

    def __init__(self, call: Call, number: int) -> None:
        self._call, self.number = call, number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FakeStream) and (self._call, self.number) == (other._call, other.number)

    def __hash__(self) -> int:
        return hash((self._call, self.number))

    def wait_stream(self, other: FakeStream) -> None:
        """Make work queued later on this stream wait for the work that is queued on `other` now."""
        self._call("wait_stream", self.number, other.number)

    def wait_event(self, event: FakeEvent) -> None:
        """Make work queued later on this stream wait for the event."""
        self._call("wait_event", self.number, event.number)

    def record_event(self, event: FakeEvent | None = None) -> FakeEvent:
        """Record an event, or a new one if None, that completes when the work queued here is done."""
        event = FakeEvent(self._call) if event is None else event
        event.record(self)
        return event

    def synchronize(self) -> None:
        """Block the host until all work queued here is done."""
        self._call("synchronize_stream", self.number)

    def query(self) -> bool:
        """Return whether all work queued here is done."""
        return bool(self._call("is_stream_done", self.number))


class FakeEvent:
    """A marker in a stream.

    Args:
        call: Calls an operation of the device by name.
    """

    def __init__(self, call: Call) -> None:
        self._call, self.number = call, call("new_event")

    def record(self, stream: FakeStream | None = None) -> None:
        """Complete when the work queued on `stream`, or on the current stream if None, is done."""
        self._call("record_event", self.number, self._number_of(stream))

    def wait(self, stream: FakeStream | None = None) -> None:
        """Make `stream`, or the current stream if None, wait for this event."""
        self._call("wait_event", self._number_of(stream), self.number)

    def synchronize(self) -> None:
        """Block the host until this event completes."""
        self._call("synchronize_event", self.number)

    def query(self) -> bool:
        """Return whether the event has completed."""
        return bool(self._call("is_event_done", self.number))

    def elapsed_time(self, end: FakeEvent) -> float:
        """Return the milliseconds from this event to `end`."""
        return float(self._call("elapsed_time", self.number, end.number))

    def _number_of(self, stream: FakeStream | None) -> int:
        return int(self._call("current_stream")) if stream is None else stream.number
