"""A recorder of real runs: the spans of workers, pin thread, main process, copies and kernels.

Neither the loader nor the dataset has to be changed: the recorder iterates over a copy of the loader whose
dataset and collate function record the time (see `recorded_batch`). On a GPU the loop's stages are timed by
CUDA events, which are read once, after the run, so that the host never waits for them.
"""

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol

import torch
from torch.utils.data import DataLoader

from course_utils.pipeline.recorded_batch import (
    BatchTimer,
    ReadMethods,
    RecordedCollate,
    RecordedDataset,
    TimedStage,
)
from course_utils.pipeline.trace import Run, Span

DEVICE_LANES = {"transfer": "copy engine", "compute": "accelerator"}


class Cuda(Protocol):
    """The functions of `torch.cuda` that the recorder calls; streams and events are opaque to it."""

    @property
    def Event(self) -> Any:  # noqa: N802, ANN401 - torch's name
        """The class of events."""

    def current_stream(self) -> Any:  # noqa: ANN401
        """Return the stream on which work is queued now."""

    def stream(self, stream: Any) -> AbstractContextManager[Any]:  # noqa: ANN401
        """Queue work on `stream` inside the `with` block."""

    def synchronize(self) -> None:
        """Block the host until the device is idle."""


class _DeviceStage(NamedTuple):
    """A stage of a batch on the device, between two of its events."""

    stage: str
    batch: int
    start: Any
    end: Any


def recorded_loader(loader: DataLoader[Any], timer: BatchTimer) -> DataLoader[Any]:
    """Return a copy of `loader` that yields `RecordedBatch`es; the loader itself is left unchanged."""
    recorded = copy.copy(loader)
    # DataLoader does not allow setting these after its __init__, lest the sampler belong to another dataset.
    recorded.__dict__.update(
        dataset=RecordedDataset(loader.dataset, timer),
        collate_fn=RecordedCollate(loader.collate_fn, timer),
        _iterator=None,
    )
    return recorded


class Recorder:
    """Records one run over a loader.

    Args:
        loader: Any `DataLoader`.
        cuda: `torch.cuda`, or an object with the same functions, to time the loop's stages on the device;
            None times them by the host's clock, for a loop that computes in the main process.
        read_methods: Methods, as (class, name), whose time counts as reading, such as
            ``[(zipfile.ZipFile, "read")]``; without any, reading is part of loading.

    Example:
        >>> recorder = Recorder(loader)                              # doctest: +SKIP
        >>> for images, labels in recorder.batches():                # doctest: +SKIP
        ...     with recorder.stage("compute"):
        ...         step(images, labels)
        >>> recorder.run("one worker", "cpu")                        # doctest: +SKIP
    """

    def __init__(
        self, loader: DataLoader[Any], cuda: Cuda | None = None, read_methods: ReadMethods = ()
    ) -> None:
        self.loader, self._timer, self._cuda = loader, BatchTimer(read_methods), cuda
        self._spans: list[Span] = []
        self._device_stages: list[_DeviceStage] = []
        self._counts = {stage: 0 for stage in DEVICE_LANES}
        self.delivered = 0
        self.origin = time.perf_counter()
        if cuda:
            cuda.synchronize()
            self._reference_event = self._record_event(cuda)
            cuda.synchronize()
            self._reference_time = time.perf_counter()

    @staticmethod
    def _record_event(cuda: Cuda) -> Any:  # noqa: ANN401 - an event of the device
        event = cuda.Event(enable_timing=True)
        event.record(cuda.current_stream())
        return event

    def batches(self, count: int | None = None) -> Iterator[Any]:
        """Iterate over the loader's batches, all or the first `count`.

        The body of the loop counts as the batch's compute, unless the body marks its stages itself.
        """
        self.origin = time.perf_counter()
        try:
            batches = iter(recorded_loader(self.loader, self._timer))
            while count is None or self.delivered < count:
                start = time.perf_counter()
                recorded = next(batches, None)
                if recorded is None:
                    return
                taken = time.perf_counter()
                self._add_batch(recorded.stages, start, taken)
                marked = self._counts["compute"]
                yield recorded.batch
                if not self._cuda and self._counts["compute"] == marked:
                    self._counts["compute"] += 1
                    number = self.delivered - 1
                    self._spans.append(Span("main process", "compute", number, taken, time.perf_counter()))
        finally:
            self._timer.restore()

    def _add_batch(self, stages: Sequence[TimedStage], start: float, taken: float) -> None:
        number, self.delivered = self.delivered, self.delivered + 1
        self._spans += [Span(s.lane, s.stage, number, s.start, s.end) for s in stages]
        if self.loader.num_workers:
            self._spans.append(Span("main process", "wait", number, start, taken))

    @contextmanager
    def stage(self, stage: str, batch: int | None = None) -> Iterator[None]:
        """Time the `with` block as a stage of the loop.

        Args:
            stage: "transfer" or "compute".
            batch: Number of the batch; if None, the n-th block of a stage belongs to batch n.
        """
        batch = self._counts[stage] if batch is None else batch
        self._counts[stage] += 1
        if self._cuda:
            event = self._record_event(self._cuda)
            yield
            self._device_stages.append(_DeviceStage(stage, batch, event, self._record_event(self._cuda)))
        else:
            start = time.perf_counter()
            yield
            self._spans.append(Span("main process", stage, batch, start, time.perf_counter()))

    def prefetching_cuda(self) -> SimpleNamespace:
        """Return the device's functions for a prefetching wrapper; work inside `stream(...)` is a transfer.

        Raises:
            ValueError: The recorder has no device.
        """
        cuda = self._cuda
        if cuda is None:
            raise ValueError("prefetching to a device needs a Recorder with `cuda`")

        @contextmanager
        def stream(side: Any) -> Iterator[None]:  # noqa: ANN401 - a stream of the device
            with cuda.stream(side), self.stage("transfer", batch=self.delivered - 1):
                yield

        names = ("Stream", "Event", "current_stream", "default_stream", "synchronize")
        return SimpleNamespace(stream=stream, **{name: getattr(cuda, name) for name in names})

    def run(self, name: str, source: str, **facts: object) -> Run:
        """Return the recorded spans, in seconds since the first request for a batch.

        Args:
            name: Name of the run.
            source: The device on which it ran.
            **facts: Further facts to keep with it.
        """
        spans = (
            Span(s.lane, s.stage, s.batch, s.start - self.origin, s.end - self.origin)
            for s in (*self._spans, *self._device_spans())
        )
        size = self.loader.batch_size or 1
        return Run(name, source, tuple(sorted(spans, key=lambda s: (s.start, s.end))), size, facts)

    def _device_spans(self) -> Iterator[Span]:
        if self._cuda:
            self._cuda.synchronize()
        for stage, batch, *events in self._device_stages:
            start, end = (self._reference_time + self._reference_event.elapsed_time(e) / 1e3 for e in events)
            yield Span(DEVICE_LANES[stage], stage, batch, start, end)


def device_name(device: torch.device | str) -> str:
    """Return the name of a device, for the label of a number: the GPU's name, "CPU" or, say, "MPS"."""
    device = torch.device(device)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()
