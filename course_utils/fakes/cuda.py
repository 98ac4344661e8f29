"""A make-believe GPU with the streams, events and allocator of `torch.cuda`, on which no race goes unseen.

Time here is a number that only this module moves: the host's clock and the clock of each stream. Copies
and kernels take as long as they were told to, in queue order; one copy engine does all copies. Memory is
handed out as PyTorch's caching allocator does it: a block belongs to the stream that it was allocated on, and
when the last reference to its tensor is gone, that stream may get it again at once, unless `record_stream`
told the allocator of another stream that still uses it. Every copy, use and free is kept in `log`.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from course_utils.fakes.streams import FakeEvent, FakeStream


class RaceError(RuntimeError):
    """A kernel read memory before its copy was done, or after the memory was given to another batch."""


@dataclass
class Block:
    """A piece of device memory: the copies into it, and who else uses it.

    Args:
        number: Its name in the log.
        stream: The stream that it was allocated on.
    """

    number: int
    stream: FakeStream
    writes: list[dict[str, Any]] = field(default_factory=list)
    uses: list[dict[str, Any]] = field(default_factory=list)
    users: set[FakeStream] = field(default_factory=set)
    free_from: float = 0.0

    def seen(self, start: float, end: float) -> list[Any]:
        """The values that were in the block at some moment from `start` to `end`; None before the first."""
        old = [write["value"] for write in self.writes if write["end"] <= start]
        during = [write["value"] for write in self.writes if write["start"] < end and write["end"] > start]
        return [old[-1] if old else None, *during]


class HostBatch:
    """A tensor in host memory; `value` stands for its content."""

    is_cuda = False

    def __init__(self, gpu: "FakeCuda", value: object, pinned: bool = True) -> None:
        self._gpu, self.value, self._pinned = gpu, value, pinned

    def is_pinned(self) -> bool:
        """Whether it is in page-locked memory."""
        return self._pinned

    def pin_memory(self) -> "HostBatch":
        """The same content in page-locked memory."""
        return HostBatch(self._gpu, self.value)

    def to(self, device: object = "cuda", non_blocking: bool = False) -> "DeviceBatch":
        """Queue a copy to the device on the current stream.

        Returns:
            The batch on the device; the host waits, unless the copy is `non_blocking` from pinned memory.
        """
        return self._gpu.copy(self.value, wait=not (non_blocking and self._pinned))

    def cuda(self, device: object = None, non_blocking: bool = False) -> "DeviceBatch":
        """The same as `to`."""
        return self.to(non_blocking=non_blocking)


class DeviceBatch:
    """A tensor in device memory; its block is freed with the last reference to it."""

    is_cuda = True

    def __init__(self, gpu: "FakeCuda", block: Block, copy: dict[str, Any]) -> None:
        self.block, self.copied = block, copy
        weakref.finalize(self, gpu.free, block).atexit = False

    def record_stream(self, stream: FakeStream) -> None:
        """Tell the allocator that `stream` uses this memory too."""
        self.block.users.add(stream)

    def to(self, device: object = "cuda", non_blocking: bool = False) -> "DeviceBatch":
        """Itself: it is there already."""
        return self


class FakeCuda:
    """The device, with the functions of `torch.cuda` that a prefetching wrapper needs.

    Args:
        copy_seconds: Length of one copy from host to device.
        strict: Raise `RaceError` at the first race; otherwise only list it in `races`.
    """

    def __init__(self, copy_seconds: float = 1.0, strict: bool = True) -> None:
        self.copy_seconds, self.strict = copy_seconds, strict
        self.now = 0.0
        self.waits = 0
        self.log: list[dict[str, Any]] = []
        self.races: list[str] = []
        self._default = self._current = FakeStream(self)
        self._streams = [self._default]
        self._copy_engine_free = 0.0
        self._blocks: list[Block] = []
        self._free: list[Block] = []

    def Stream(self, *args: object, **kwargs: object) -> FakeStream:  # noqa: N802 - torch's name
        """A new stream."""
        self._streams.append(FakeStream(self))
        return self._streams[-1]

    def Event(self, *args: object, **kwargs: object) -> FakeEvent:  # noqa: N802 - torch's name
        """A new event."""
        return FakeEvent(self)

    def current_stream(self, device: object = None) -> FakeStream:
        """The stream that work is queued on now."""
        return self._current

    def default_stream(self, device: object = None) -> FakeStream:
        """The stream that work is queued on unless another was chosen."""
        return self._default

    @contextmanager
    def stream(self, stream: FakeStream | None) -> Iterator[None]:
        """Queue work on `stream` inside the block."""
        before, self._current = self._current, stream or self._current
        try:
            yield
        finally:
            self._current = before

    def synchronize(self, device: object = None) -> None:
        """Let the host wait for all streams."""
        self.host_waits(max(stream.busy_until for stream in self._streams))

    def host_waits(self, until: float) -> None:
        """Move the host's clock; a wait that took time is counted."""
        if until > self.now:
            self.waits += 1
            self.now = until

    def host_works(self, seconds: float) -> None:
        """The host does something else, such as loading a batch."""
        self.now += seconds

    def copy(self, value: object, wait: bool) -> DeviceBatch:
        """Queue the copy of a value from the host into a block of the current stream."""
        stream = self._current
        block = self._allocate(stream)
        start = max(self.now, stream.busy_until, self._copy_engine_free)
        stream.busy_until = self._copy_engine_free = end = start + self.copy_seconds
        for use in block.uses:
            if use["end"] > start:
                self._race("reused", f"batch {use['value']} was still in use when {value} was copied over it")
        row = self._note("copy", block, value, start, end)
        block.writes.append(row)
        if wait:
            self.host_waits(end)
        return DeviceBatch(self, block, row)

    def kernel(self, seconds: float, *batches: DeviceBatch) -> None:
        """Queue a kernel that reads some batches, on the current stream."""
        stream = self._current
        start = max(self.now, stream.busy_until)
        stream.busy_until = end = start + seconds
        for batch in batches:
            if start < batch.copied["end"]:
                self._race("too early", f"batch {batch.copied['value']} was used before its copy was done")
            batch.block.uses.append(self._note("use", batch.block, batch.copied["value"], start, end))

    def results(self) -> list[list[Any]]:
        """What each use found in its memory: the batch's own value and nothing else, if there was no race."""
        uses = [row for row in self.log if row["what"] == "use"]
        found = (self._blocks[row["block"]].seen(row["start"], row["end"]) for row in uses)
        return [list(values) for values in found]

    def free(self, block: Block) -> None:
        """The last reference is gone: the block may be handed out again, at once or after its other users."""
        block.free_from = max((stream.busy_until for stream in block.users), default=self.now)
        block.users.clear()
        self._note("free", block, None, self.now, block.free_from)
        self._free.append(block)

    def _allocate(self, stream: FakeStream) -> Block:
        for block in reversed(self._free):
            if block.stream is stream and block.free_from <= self.now:
                self._free.remove(block)
                return block
        self._blocks.append(Block(len(self._blocks), stream))
        return self._blocks[-1]

    def _race(self, kind: str, message: str) -> None:
        self.races.append(kind)
        if self.strict:
            raise RaceError(message)

    def _note(self, what: str, block: Block, value: object, start: float, end: float) -> dict[str, Any]:
        stream = self._streams.index(self._current)
        row = {
            "what": what,
            "block": block.number,
            "stream": stream,
            "value": value,
            "start": start,
            "end": end,
        }
        self.log.append(row)
        return row
