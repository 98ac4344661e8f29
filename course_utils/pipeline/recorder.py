"""Records the spans of a real run: workers, pin thread, main process, copies and kernels.

Nothing of the loader or the dataset has to be changed: the recorder iterates over a copy of the loader whose
dataset and collate function note the time (see `recorded_batch`). On a GPU the loop's stages are timed by
CUDA events, which wait for nothing and are read once, after the run.
"""

import copy
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import DataLoader

from course_utils.pipeline.recorded_batch import Notes, ReadCalls, RecordedCollate, RecordedDataset, restored
from course_utils.pipeline.trace import Run, Span

DEVICE_LANES = {"transfer": "copy engine", "compute": "accelerator"}


def recorded_loader(loader: DataLoader, notes: Notes) -> DataLoader:
    """A copy of `loader` that gives `RecordedBatch`es; the loader itself stays as it is."""
    twin = copy.copy(loader)
    # DataLoader forbids to set these after its __init__, for fear of a sampler made for another dataset.
    twin.__dict__.update(
        dataset=RecordedDataset(loader.dataset, notes),
        collate_fn=RecordedCollate(loader.collate_fn, notes),
        _iterator=None,
    )
    return twin


class Recorder:
    """Records one run over a loader.

    Args:
        loader: Any `DataLoader`.
        cuda: `torch.cuda`, or something with the same functions, to time the loop's stages on the device;
            None times them by the host's clock, as is right when the main process computes.
        read_calls: Methods, as (class, name), whose time is to count as reading, such as
            ``[(zipfile.ZipFile, "read")]``; without any, reading is a part of loading.

    Example:
        >>> recorder = Recorder(loader)                              # doctest: +SKIP
        >>> for images, labels in recorder.batches():                # doctest: +SKIP
        ...     with recorder.stage("compute"):
        ...         step(images, labels)
        >>> recorder.run("one worker", "cpu")                        # doctest: +SKIP
    """

    def __init__(self, loader: DataLoader, cuda: Any = None, read_calls: ReadCalls = ()) -> None:  # noqa: ANN401
        self.loader, self.notes, self._cuda = loader, Notes(read_calls), cuda
        self._rows: list[tuple[str, str, int, float, float]] = []
        self._device_rows: list[tuple[str, int, Any, Any]] = []
        self._counts = {stage: 0 for stage in DEVICE_LANES}
        self.delivered = 0
        self.origin = time.perf_counter()
        if cuda:
            cuda.synchronize()
            self._base = self._event()
            cuda.synchronize()
            self._base_time = time.perf_counter()

    def _event(self) -> Any:  # noqa: ANN401 - an event of the device
        event = self._cuda.Event(enable_timing=True)
        event.record(self._cuda.current_stream())
        return event

    def batches(self, count: int | None = None) -> Iterator[Any]:
        """Iterate over the loader's batches, all or the first `count`.

        What the loop's body does counts as the batch's compute, unless the body marks its stages itself.
        """
        self.origin = time.perf_counter()
        with restored(self.notes):
            batches = iter(recorded_loader(self.loader, self.notes))
            while count is None or self.delivered < count:
                start = time.perf_counter()
                recorded = next(batches, None)
                if recorded is None:
                    return
                taken = time.perf_counter()
                self._note_batch(recorded.rows, start, taken)
                marked = self._counts["compute"]
                yield recorded.batch
                if not self._cuda and self._counts["compute"] == marked:
                    self._counts["compute"] += 1
                    row = ("main process", "compute", self.delivered - 1, taken, time.perf_counter())
                    self._rows.append(row)

    def _note_batch(self, rows: list[tuple[str, str, float, float]], start: float, taken: float) -> None:
        number, self.delivered = self.delivered, self.delivered + 1
        self._rows += [(lane, stage, number, begin, end) for lane, stage, begin, end in rows]
        if self.loader.num_workers:
            self._rows.append(("main process", "wait", number, start, taken))

    @contextmanager
    def stage(self, stage: str, batch: int | None = None) -> Iterator[None]:
        """Mark a stage of the loop, "transfer" or "compute"; the n-th of its kind belongs to batch n."""
        batch = self._counts[stage] if batch is None else batch
        self._counts[stage] += 1
        start = self._event() if self._cuda else time.perf_counter()
        yield
        if self._cuda:
            self._device_rows.append((stage, batch, start, self._event()))
        else:
            self._rows.append(("main process", stage, batch, start, time.perf_counter()))

    def prefetching_cuda(self) -> SimpleNamespace:
        """The device's functions for a prefetching wrapper; its work inside `stream(...)` is a transfer."""
        cuda = self._cuda

        @contextmanager
        def stream(side: Any) -> Iterator[None]:  # noqa: ANN401
            with cuda.stream(side), self.stage("transfer", batch=self.delivered - 1):
                yield

        names = ("Stream", "Event", "current_stream", "default_stream", "synchronize")
        return SimpleNamespace(stream=stream, **{name: getattr(cuda, name) for name in names})

    def run(self, name: str, source: str, **facts: Any) -> Run:  # noqa: ANN401
        """The spans of what was recorded, in seconds from the first request for a batch.

        Args:
            name: Name of the run.
            source: The device that it ran on.
            **facts: Anything worth keeping with it.
        """
        rows = [*self._rows, *self._finished_device_rows()]
        spans = (Span(lane, stage, n, a - self.origin, b - self.origin) for lane, stage, n, a, b in rows)
        size = self.loader.batch_size or 1
        return Run(name, source, tuple(sorted(spans, key=lambda s: (s.start, s.end))), size, facts)

    def _finished_device_rows(self) -> Iterator[tuple[str, str, int, float, float]]:
        if self._cuda:
            self._cuda.synchronize()
        for stage, batch, start, end in self._device_rows:
            begin, stop = (self._base_time + self._base.elapsed_time(e) / 1e3 for e in (start, end))
            yield DEVICE_LANES[stage], stage, batch, begin, stop


def device_name(device: torch.device | str) -> str:
    """What a number came from, in words: the GPU's name, or "CPU"."""
    device = torch.device(device)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
