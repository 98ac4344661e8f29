"""The worker's half of the recorder: a dataset and a collate function that note when they were called.

Both stand in for the ones of a `DataLoader`, in whatever process runs them. What they note travels with the
batch, so nothing is shared between processes. `time.perf_counter` is one clock for all processes of a machine
on Linux and macOS.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch.utils.data import get_worker_info
from torch.utils.data._utils.pin_memory import pin_memory

ReadCalls = Sequence[tuple[type, str]]


@dataclass
class RecordedBatch:
    """A batch and its times: rows of (lane, stage, start, end), seconds of `time.perf_counter`."""

    batch: Any
    rows: list[tuple[str, str, float, float]]

    def pin_memory(self) -> "RecordedBatch":
        """Pin the batch and note when; `DataLoader` calls this in its pin thread."""
        start = time.perf_counter()
        batch = pin_memory(self.batch)
        lane = "pin thread" if self.rows[0][0].startswith("worker") else "main process"
        return RecordedBatch(batch, [*self.rows, (lane, "pin", start, time.perf_counter())])


@dataclass
class Notes:
    """What has been noted since the last batch, in one process.

    Args:
        read_calls: Methods, as (class, name), whose time counts as reading.
    """

    read_calls: ReadCalls = ()
    started: float | None = None
    read_seconds: float = 0.0
    originals: list[tuple[type, str, Any]] = field(default_factory=list)

    def begin(self) -> None:
        """Note the beginning of a batch, and start to time the reads where that was not done yet."""
        self.started = time.perf_counter()
        if len(self.originals) < len(self.read_calls):
            self._time_reads()

    def _time_reads(self) -> None:
        for owner, name in self.read_calls:
            original = getattr(owner, name)

            def timed(*args: Any, _original: Callable = original, **kwargs: Any) -> Any:  # noqa: ANN401
                start = time.perf_counter()
                try:
                    return _original(*args, **kwargs)
                finally:
                    self.read_seconds += time.perf_counter() - start

            self.originals.append((owner, name, original))
            setattr(owner, name, timed)

    def restore(self) -> None:
        """Put the timed methods of this process back as they were."""
        while self.originals:
            setattr(*self.originals.pop())

    def rows(self, loaded: float, collated: float) -> list[tuple[str, str, float, float]]:
        """The rows of the batch that just ended; the reads of its samples are added up and stand first."""
        info = get_worker_info()
        lane = "main process" if info is None else f"worker {info.id}"
        start = loaded if self.started is None else self.started
        rows = [(lane, "load", start, loaded)]
        if self.read_calls:
            middle = min(start + self.read_seconds, loaded)
            rows = [(lane, "read", start, middle), (lane, "decode", middle, loaded)]
        self.started, self.read_seconds = None, 0.0
        return [*rows, (lane, "collate", loaded, collated)]


class RecordedDataset:
    """A dataset that notes when the first sample of a batch was asked for; otherwise the dataset it wraps."""

    def __init__(self, dataset: Any, notes: Notes) -> None:  # noqa: ANN401 - any dataset
        self._dataset, self._notes = dataset, notes
        if hasattr(dataset, "__getitems__"):
            self.__getitems__ = partial(self._first, dataset.__getitems__)

    def _first(self, get: Callable, indices: Any) -> Any:  # noqa: ANN401
        if self._notes.started is None:
            self._notes.begin()
        return get(indices)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        if self._notes.started is None:
            self._notes.begin()
        return self._dataset[index]

    def __iter__(self) -> Iterator[Any]:
        samples = iter(self._dataset)
        while True:
            if self._notes.started is None:
                self._notes.begin()
            try:
                sample = next(samples)
            except StopIteration:
                return
            yield sample

    def __len__(self) -> int:
        return len(self._dataset)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("__") or "_dataset" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self._dataset, name)


@dataclass
class RecordedCollate:
    """A collate function that returns a `RecordedBatch`."""

    collate: Callable[[Any], Any]
    notes: Notes

    def __call__(self, samples: Any) -> RecordedBatch:  # noqa: ANN401 - whatever the dataset gave
        """Collate the samples and add the times."""
        loaded = time.perf_counter()
        batch = self.collate(samples)
        return RecordedBatch(batch, self.notes.rows(loaded, time.perf_counter()))


@contextmanager
def restored(notes: Notes) -> Iterator[None]:
    """Undo in the end what `Notes` changed in this process."""
    try:
        yield
    finally:
        notes.restore()
