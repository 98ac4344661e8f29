"""The worker side of the recorder: a dataset and a collate function that record when they are called.

Both replace those of a `DataLoader`, in whatever process calls them. The times travel with the batch, so
nothing is shared between processes. `time.perf_counter` is the same clock in all processes of a machine on
Linux and macOS.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from torch.utils.data import get_worker_info
from torch.utils.data._utils.pin_memory import pin_memory

ReadMethods: TypeAlias = Sequence[tuple[type, str]]


class TimedStage(NamedTuple):
    """One stage of a batch: what happened in which lane, from `start` to `end` (`time.perf_counter`)."""

    lane: str
    stage: str
    start: float
    end: float


@dataclass
class RecordedBatch:
    """A batch, of whatever type the collate function returns, and the stages that it has passed."""

    batch: Any
    stages: list[TimedStage]

    def pin_memory(self) -> "RecordedBatch":
        """Pin the batch and record the time; `DataLoader` calls this in its pin thread."""
        start = time.perf_counter()
        batch = pin_memory(self.batch)  # type: ignore[no-untyped-call]  # torch leaves it without annotations
        lane = "pin thread" if self.stages[0].lane.startswith("worker") else "main process"
        return RecordedBatch(batch, [*self.stages, TimedStage(lane, "pin", start, time.perf_counter())])


@dataclass
class BatchTimer:
    """The times of the batch that is being loaded in this process.

    Args:
        read_methods: Methods, as (class, name), whose time counts as reading.
        started: When the batch was started, by `time.perf_counter`; None between batches.
        read_seconds: Time spent in the read methods since then.
        originals: The read methods that are replaced in this process, as (class, name, method).
    """

    read_methods: ReadMethods = ()
    started: float | None = None
    read_seconds: float = 0.0
    originals: list[tuple[type, str, Callable[..., Any]]] = field(default_factory=list)

    def ensure_started(self) -> None:
        """Record the start of a batch, unless it is recorded already; monkeypatch the read methods once."""
        if self.started is not None:
            return
        self.started = time.perf_counter()
        if len(self.originals) < len(self.read_methods):
            for owner, name in self.read_methods:
                original = getattr(owner, name)
                self.originals.append((owner, name, original))
                setattr(owner, name, self._timed(original))

    def _timed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        # any method of any class is wrapped, so its arguments and its result are of any type
        def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.read_seconds += time.perf_counter() - start

        return timed

    def restore(self) -> None:
        """Undo the monkeypatching in this process."""
        while self.originals:
            setattr(*self.originals.pop())

    def finish(self, loaded: float, collated: float) -> list[TimedStage]:
        """Return the stages of the batch and reset the timer; the reads of all samples are added up first.

        Args:
            loaded: When the last sample was loaded, by `time.perf_counter`.
            collated: When the batch was collated.
        """
        info = get_worker_info()
        lane = "main process" if info is None else f"worker {info.id}"
        start = loaded if self.started is None else self.started
        stages = [TimedStage(lane, "load", start, loaded)]
        if self.read_methods:
            middle = min(start + self.read_seconds, loaded)
            stages = [TimedStage(lane, "read", start, middle), TimedStage(lane, "decode", middle, loaded)]
        self.started, self.read_seconds = None, 0.0
        return [*stages, TimedStage(lane, "collate", loaded, collated)]


class RecordedDataset:
    """A proxy of a dataset, of any type, that records when the first sample of a batch is requested."""

    def __init__(self, dataset: Any, timer: BatchTimer) -> None:  # noqa: ANN401
        self._dataset, self._timer = dataset, timer
        if hasattr(dataset, "__getitems__"):
            self.__getitems__ = partial(self._fetch, dataset.__getitems__)

    def _fetch(self, get: Callable[[Any], Any], indices: Any) -> Any:  # noqa: ANN401
        self._timer.ensure_started()
        return get(indices)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        self._timer.ensure_started()
        return self._dataset[index]

    def __iter__(self) -> Iterator[Any]:
        samples = iter(self._dataset)
        while True:
            self._timer.ensure_started()
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
    timer: BatchTimer

    def __call__(self, samples: Any) -> RecordedBatch:  # noqa: ANN401 - whatever the dataset returned
        """Collate the samples and add the times."""
        loaded = time.perf_counter()
        batch = self.collate(samples)
        return RecordedBatch(batch, self.timer.finish(loaded, time.perf_counter()))
