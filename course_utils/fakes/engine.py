"""A simulated GPU: streams, events, a copy engine, kernels and an allocator, in plain numbers.

Streams, events, tensors and blocks of memory have numbers. Time is a number that only this module advances:
the host's clock and the clock of each stream. Copies and kernels take as long as they are told to, in queue
order; one copy engine does all copies. Memory is handed out as by PyTorch's caching allocator: a block
belongs to the stream on which it was allocated, and as soon as its tensor is freed, that stream may reuse it,
unless `record_stream` told the allocator of another stream that still uses it. Every copy, use and free is
kept in `log`. `cuda` has the classes that look like those of torch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeVar

Operation = Literal["copy", "use", "free"]
_T = TypeVar("_T")

# What code that is tested on the device may call; the rest is for whoever tests it.
FOR_USERS = frozenset(
    {
        *(
            "new_stream",
            "current_stream",
            "set_stream",
            "wait_stream",
            "is_stream_done",
            "synchronize_stream",
        ),
        *("new_event", "record_event", "wait_event", "is_event_done", "synchronize_event", "elapsed_time"),
        *("synchronize", "pin", "copy", "record_stream", "free"),
    }
)


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


@dataclass(eq=False)
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
    stream: int
    copies: list[LogEntry] = field(default_factory=list)
    uses: list[LogEntry] = field(default_factory=list)
    other_streams: set[int] = field(default_factory=set)
    free_at: float = 0.0

    def values_between(self, start: float, end: float) -> list[object]:
        """Return all values that the block held between `start` and `end`; None before its first copy."""
        old = [copy.value for copy in self.copies if copy.end <= start]
        during = [copy.value for copy in self.copies if copy.start < end and copy.end > start]
        return [old[-1] if old else None, *during]


@dataclass
class HostTensor:
    """A tensor in host memory: its content, whether it is pinned, and the tensors copied from it."""

    value: object
    pinned: bool
    copies: list[int] = field(default_factory=list)


class DeviceTensor(NamedTuple):
    """A tensor in device memory: its block, the index of the copy that filled it, and when that is done."""

    block: Block
    copy: int
    ready_at: float


class GpuEngine:
    """The device. An unknown number of a stream, event or tensor raises `KeyError`.

    Args:
        copy_seconds: Duration of one copy from host to device.
        strict: Raise `RaceError` at the first race; otherwise only list it in `races`.

    Attributes:
        now: The host's clock, in simulated seconds.
        waits: How often the host waited for the device.
        drains: How often it waited until no stream had anything left to do.
        log: Every copy, use and free.
        races: The kinds of races.
    """

    def __init__(self, copy_seconds: float = 1.0, strict: bool = True) -> None:
        self.copy_seconds, self.strict = copy_seconds, strict
        self.now = 0.0
        self.waits = self.drains = 0
        self.log: list[LogEntry] = []
        self.races: list[str] = []
        self._current = 0
        self._busy_until = {0: 0.0}  # by stream; 0 is the default one
        self._events: dict[int, float] = {}
        self._host: dict[int, HostTensor] = {}
        self._tensors: dict[int, DeviceTensor] = {}
        self._in_use: set[int] = set()
        self._copy_engine_busy_until = 0.0
        self._blocks: list[Block] = []
        self._free: list[Block] = []

    def new_stream(self) -> int:
        """Return a new stream."""
        return _add(self._busy_until, 0.0)

    def current_stream(self) -> int:
        """Return the stream on which work is queued now."""
        return self._current

    def set_stream(self, stream: int) -> int:
        """Queue work on `stream` from now on; return the stream before."""
        self._busy_until[stream]  # it exists
        before, self._current = self._current, stream
        return before

    def wait_stream(self, stream: int, other: int) -> None:
        """Make work queued later on `stream` wait for the work that is queued on `other` now."""
        self._delay(stream, self._busy_until[other])

    def wait_event(self, stream: int, event: int) -> None:
        """Make work queued later on `stream` wait for the event."""
        self._delay(stream, self._events[event])

    def is_stream_done(self, stream: int) -> bool:
        """Return whether all work queued on `stream` is done."""
        return self._busy_until[stream] <= self.now

    def synchronize_stream(self, stream: int) -> None:
        """Block the host until all work queued on `stream` is done."""
        self._block_host(self._busy_until[stream])

    def synchronize(self) -> None:
        """Block the host until all streams are idle."""
        self._block_host(max(self._busy_until.values()))

    def new_event(self) -> int:
        """Return a new event."""
        return _add(self._events, 0.0)

    def record_event(self, event: int, stream: int) -> None:
        """Let an event complete when the work that is queued on `stream` now is done."""
        self._events[event] = max(self._busy_until[stream], self.now)

    def is_event_done(self, event: int) -> bool:
        """Return whether an event has completed."""
        return self._events[event] <= self.now

    def synchronize_event(self, event: int) -> None:
        """Block the host until an event completes."""
        self._block_host(self._events[event])

    def elapsed_time(self, start: int, end: int) -> float:
        """Return the milliseconds between two events."""
        return 1e3 * (self._events[end] - self._events[start])

    def run_host(self, seconds: float) -> None:
        """Advance the host's clock by other work of the host, such as loading a batch."""
        self.now += seconds

    def host_tensor(self, value: object, pinned: bool) -> int:
        """Return a new tensor in host memory."""
        return _add(self._host, HostTensor(value, pinned))

    def pin(self, host: int) -> int:
        """Return a copy of a host tensor in page-locked memory."""
        return self.host_tensor(self._host[host].value, pinned=True)

    def fill(self, host: int, value: object) -> None:
        """Overwrite a host tensor; a copy from it that is not done yet copies the new content.

        Raises:
            RaceError: There is such a copy and the device is strict.
        """
        self._host[host].value = value
        for number in self._host[host].copies:
            tensor = self._tensors[number]
            entry = tensor.block.copies[tensor.copy]
            if entry.end > self.now:
                tensor.block.copies[tensor.copy] = entry._replace(value=value)
                self._report_race(
                    "overwritten", f"batch {entry.value} was overwritten by {value} before its copy was done"
                )

    def copy(self, host: int, non_blocking: bool) -> int:
        """Queue a copy of a host tensor into a block of the current stream.

        Returns:
            The tensor on the device; the host waits, unless the copy is `non_blocking` from pinned memory.

        Raises:
            RaceError: The block is still in use and the device is strict.
        """
        source, stream = self._host[host], self._current
        block = self._allocate(stream)
        start = max(self.now, self._busy_until[stream], self._copy_engine_busy_until)
        self._busy_until[stream] = self._copy_engine_busy_until = end = start + self.copy_seconds
        for use in block.uses:
            if use.end > start:
                self._report_race(
                    "reused", f"batch {use.value} was still in use when {source.value} was copied over it"
                )
        block.copies.append(self._append_log("copy", block, source.value, start, end))
        if not (non_blocking and source.pinned):
            self._block_host(end)
        tensor = _add(self._tensors, DeviceTensor(block, len(block.copies) - 1, end))
        self._in_use.add(tensor)
        source.copies.append(tensor)
        return tensor

    def record_stream(self, tensor: int, stream: int) -> None:
        """Tell the allocator that `stream` uses a tensor's memory too."""
        self._busy_until[stream]  # it exists
        self._tensors[tensor].block.other_streams.add(stream)

    def kernel(self, seconds: float, tensors: Sequence[int] = ()) -> None:
        """Queue a kernel that reads `tensors` on the current stream.

        Raises:
            RaceError: A tensor is read before its copy is done and the device is strict.
        """
        stream = self._current
        start = max(self.now, self._busy_until[stream])
        self._busy_until[stream] = end = start + seconds
        for number in tensors:
            block, value = self._tensors[number].block, self.value(number)
            if start < self._tensors[number].ready_at:
                self._report_race("too early", f"batch {value} was used before its copy was done")
            block.uses.append(self._append_log("use", block, value, start, end))

    def free(self, tensor: int) -> None:
        """Return a tensor's block to the allocator, for reuse once its other streams are done."""
        block = self._tensors[tensor].block
        self._in_use.remove(tensor)
        block.free_at = max((self._busy_until[other] for other in block.other_streams), default=self.now)
        block.other_streams.clear()
        self._append_log("free", block, None, self.now, block.free_at)
        self._free.append(block)

    def value(self, tensor: int) -> object:
        """Return what was copied into a tensor."""
        block, copy, _ = self._tensors[tensor]
        return block.copies[copy].value

    def values_read(self) -> list[list[object]]:
        """Return the values that each use found in memory: without a race, only the value of its batch."""
        uses = [entry for entry in self.log if entry.kind == "use"]
        return [self._blocks[use.block].values_between(use.start, use.end) for use in uses]

    def _delay(self, stream: int, until: float) -> None:
        self._busy_until[stream] = max(self._busy_until[stream], until)

    def _block_host(self, until: float) -> None:
        if until > self.now:
            self.waits += 1
            self.now = until
            self.drains += all(busy_until <= until for busy_until in self._busy_until.values())

    def _allocate(self, stream: int) -> Block:
        for block in reversed(self._free):
            if block.stream == stream and block.free_at <= self.now:
                self._free.remove(block)
                return block
        self._blocks.append(Block(len(self._blocks), stream))
        return self._blocks[-1]

    def _report_race(self, kind: str, message: str) -> None:
        self.races.append(kind)
        if self.strict:
            raise RaceError(message)

    def _append_log(self, kind: Operation, block: Block, value: object, start: float, end: float) -> LogEntry:
        entry = LogEntry(kind, block.number, self._current, value, start, end)
        self.log.append(entry)
        return entry


def _add(numbered: dict[int, _T], thing: _T) -> int:
    numbered[len(numbered)] = thing
    return len(numbered) - 1
