"""A simulated CUDA device that detects races, with the streams, events and allocator of `torch.cuda`.

Time is a number that only this module advances: the host's clock and the clock of each stream. Copies and
kernels take as long as they are told to, in queue order; one copy engine does all copies. Memory is handed
out as by PyTorch's caching allocator: a block belongs to the stream on which it was allocated, and as soon as
the last reference to its tensor is gone, that stream may reuse it, unless `record_stream` told the allocator
of another stream that still uses it. Every copy, use and free is kept in `log`.
"""

import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from course_utils.fakes.streams import FakeEvent, FakeStream

Operation = Literal["copy", "use", "free"]


class RaceError(RuntimeError):
    """Memory was read before its copy was done, or overwritten while it was still in use or being copied."""


class LogEntry(NamedTuple):
    """One operation on the device.

    Args:
        kind: A copy into a block, its use by a kernel, or its release to the allocator.
        block: Number of the block.
        stream: Number of the stream that was current.
        value: Content of the batch; None for a free.
        start: When it starts, in simulated seconds.
        end: When it ends; for a free, when the block may be reused.
    """

    kind: Operation
    block: int
    stream: int
    value: object
    start: float
    end: float


@dataclass
class Block:
    """A block of device memory.

    Args:
        number: Its number in the log.
        stream: The stream on which it was allocated.
        copies: The copies into it.
        uses: The kernels' reads of it.
        other_streams: Streams that `record_stream` named since it was allocated.
        free_at: When it may be reused, in simulated seconds.
    """

    number: int
    stream: FakeStream
    copies: list[LogEntry] = field(default_factory=list)
    uses: list[LogEntry] = field(default_factory=list)
    other_streams: set[FakeStream] = field(default_factory=set)
    free_at: float = 0.0

    def values_between(self, start: float, end: float) -> list[object]:
        """Return all values that the block held between `start` and `end`; None before its first copy."""
        old = [copy.value for copy in self.copies if copy.end <= start]
        during = [copy.value for copy in self.copies if copy.start < end and copy.end > start]
        return [old[-1] if old else None, *during]


class HostBatch:
    """A tensor in host memory; `value` stands for its content."""

    is_cuda = False

    def __init__(self, gpu: "FakeCuda", value: object, pinned: bool = True) -> None:
        self._gpu, self.value, self._pinned = gpu, value, pinned
        self._copies: list[tuple[Block, int]] = []  # block, index in its `copies`

    def is_pinned(self) -> bool:
        """Return whether the tensor is in page-locked memory."""
        return self._pinned

    def pin_memory(self) -> "HostBatch":
        """Return a copy in page-locked memory."""
        return HostBatch(self._gpu, self.value)

    def to(self, device: object = "cuda", non_blocking: bool = False) -> "DeviceBatch":
        """Queue a copy to the device on the current stream.

        Returns:
            The batch on the device; the host waits, unless the copy is `non_blocking` from pinned memory.
        """
        batch = self._gpu.copy(self.value, wait=not (non_blocking and self._pinned))
        self._copies.append((batch.block, len(batch.block.copies) - 1))
        return batch

    def fill_(self, value: object) -> "HostBatch":
        """Overwrite the content from the host; a copy from it that is not done yet copies the new content.

        Raises:
            RaceError: There is such a copy and the device is strict.
        """
        self.value = value
        self._gpu.overwrite_sources(self._copies, value)
        return self

    def cuda(self, device: object = None, non_blocking: bool = False) -> "DeviceBatch":
        """Do the same as `to`."""
        return self.to(non_blocking=non_blocking)


class DeviceBatch:
    """A tensor in device memory; its block is freed with the last reference to it.

    Args:
        gpu: The device.
        block: Its memory.
        copy: The copy that filled it.
    """

    is_cuda = True

    def __init__(self, gpu: "FakeCuda", block: Block, copy: LogEntry) -> None:
        self.block, self.value, self.ready_at = block, copy.value, copy.end
        weakref.finalize(self, gpu.free, block).atexit = False

    def record_stream(self, stream: FakeStream) -> None:
        """Tell the allocator that `stream` uses this memory too."""
        self.block.other_streams.add(stream)

    def to(self, device: object = "cuda", non_blocking: bool = False) -> "DeviceBatch":
        """Return the batch itself: it is on the device already."""
        return self


class FakeCuda:
    """The device, with the functions of `torch.cuda` that a prefetching wrapper needs.

    Args:
        copy_seconds: Duration of one copy from host to device.
        strict: Raise `RaceError` at the first race; otherwise only list it in `races`.
    """

    def __init__(self, copy_seconds: float = 1.0, strict: bool = True) -> None:
        self.copy_seconds, self.strict = copy_seconds, strict
        self.now = 0.0
        self.waits = 0
        self.log: list[LogEntry] = []
        self.races: list[str] = []
        self._default = self._current = FakeStream(self)
        self._streams = [self._default]
        self._copy_engine_busy_until = 0.0
        self._blocks: list[Block] = []
        self._free: list[Block] = []

    def Stream(self, *args: object, **kwargs: object) -> FakeStream:  # noqa: N802 - torch's name
        """Return a new stream."""
        self._streams.append(FakeStream(self))
        return self._streams[-1]

    def Event(self, *args: object, **kwargs: object) -> FakeEvent:  # noqa: N802 - torch's name
        """Return a new event."""
        return FakeEvent(self)

    def current_stream(self, device: object = None) -> FakeStream:
        """Return the stream on which work is queued now."""
        return self._current

    def default_stream(self, device: object = None) -> FakeStream:
        """Return the stream on which work is queued unless another was chosen."""
        return self._default

    @contextmanager
    def stream(self, stream: FakeStream | None) -> Iterator[None]:
        """Queue work on `stream` inside the `with` block."""
        before, self._current = self._current, stream or self._current
        try:
            yield
        finally:
            self._current = before

    def synchronize(self, device: object = None) -> None:
        """Block the host until all streams are idle."""
        self.block_host(max(stream.busy_until for stream in self._streams))

    def block_host(self, until: float) -> None:
        """Advance the host's clock to `until`; count the wait in `waits` if it takes any time."""
        if until > self.now:
            self.waits += 1
            self.now = until

    def run_host(self, seconds: float) -> None:
        """Advance the host's clock by other work of the host, such as loading a batch."""
        self.now += seconds

    def copy(self, value: object, wait: bool) -> DeviceBatch:
        """Queue a copy from the host into a block of the current stream.

        Args:
            value: Content of the batch.
            wait: Block the host until the copy is done.

        Returns:
            The batch on the device.

        Raises:
            RaceError: The block is still in use and the device is strict.
        """
        stream = self._current
        block = self._allocate(stream)
        start = max(self.now, stream.busy_until, self._copy_engine_busy_until)
        stream.busy_until = self._copy_engine_busy_until = end = start + self.copy_seconds
        for use in block.uses:
            if use.end > start:
                self._report_race(
                    "reused", f"batch {use.value} was still in use when {value} was copied over it"
                )
        entry = self._append_log("copy", block, value, start, end)
        block.copies.append(entry)
        if wait:
            self.block_host(end)
        return DeviceBatch(self, block, entry)

    def overwrite_sources(self, copies: Sequence[tuple[Block, int]], value: object) -> None:
        """Let those copies that are not done yet transfer `value` instead.

        Args:
            copies: The copies from one host batch, as block and index in its `copies`.
            value: The new content of the host batch.

        Raises:
            RaceError: There is such a copy and the device is strict.
        """
        for block, index in copies:
            entry = block.copies[index]
            if entry.end > self.now:
                block.copies[index] = entry._replace(value=value)
                self._report_race(
                    "overwritten", f"batch {entry.value} was overwritten by {value} before its copy was done"
                )

    def kernel(self, seconds: float, *batches: DeviceBatch) -> None:
        """Queue a kernel on the current stream.

        Args:
            seconds: Duration of the kernel.
            *batches: The batches that it reads.

        Raises:
            RaceError: A batch is read before its copy is done and the device is strict.
        """
        stream = self._current
        start = max(self.now, stream.busy_until)
        stream.busy_until = end = start + seconds
        for batch in batches:
            if start < batch.ready_at:
                self._report_race("too early", f"batch {batch.value} was used before its copy was done")
            batch.block.uses.append(self._append_log("use", batch.block, batch.value, start, end))

    def values_read(self) -> list[list[object]]:
        """Return the values that each use found in memory: without a race, only the value of its batch."""
        uses = [entry for entry in self.log if entry.kind == "use"]
        return [self._blocks[use.block].values_between(use.start, use.end) for use in uses]

    def free(self, block: Block) -> None:
        """Return a block without references to the allocator, for reuse once its other streams are done."""
        block.free_at = max((stream.busy_until for stream in block.other_streams), default=self.now)
        block.other_streams.clear()
        self._append_log("free", block, None, self.now, block.free_at)
        self._free.append(block)

    def _allocate(self, stream: FakeStream) -> Block:
        for block in reversed(self._free):
            if block.stream is stream and block.free_at <= self.now:
                self._free.remove(block)
                return block
        self._blocks.append(Block(len(self._blocks), stream))
        return self._blocks[-1]

    def _report_race(self, kind: str, message: str) -> None:
        self.races.append(kind)
        if self.strict:
            raise RaceError(message)

    def _append_log(self, kind: Operation, block: Block, value: object, start: float, end: float) -> LogEntry:
        entry = LogEntry(kind, block.number, self._streams.index(self._current), value, start, end)
        self.log.append(entry)
        return entry
