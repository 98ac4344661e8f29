"""What the main process sees: waits, steps, orders, pauses, descriptors, copies."""

import gc
import os
import sys
import time
import weakref
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record import devices
from course_utils.diagnosis.record.epoch import Epoch
from course_utils.diagnosis.record.spool import Spool
from course_utils.diagnosis.record.worker import Log, watch_fetchers

OPEN = 8  # passes that may be unfinished at a time; of older ones the records are written
MOST_PAUSES, MOST_PLACES = 2_000, 200


class Collector:
    """The records of one process that trains."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.spool = Spool(folder, f"main-{os.getpid()}")
        self.epochs: weakref.WeakKeyDictionary[Any, Epoch] = weakref.WeakKeyDictionary()
        self.all: list[Epoch] = []
        self.iterators = self.passes = self.steps = 0
        self.waited = 0.0
        self.pauses: list[tuple[str, float, float]] = []
        self.gc_seconds = self._gc_start = 0.0
        self.begun = process.now()
        self.counters: dict[str, float] = {}
        self.places: dict[str, int] = {}
        self.cores = process.usable_cores()
        self.rank = 0
        self.closed = False
        self.clock = process.ThreadClock()
        gc.callbacks.append(self._collected)

    def made(self, iterator: Any, loader: Any) -> str:
        """An iterator is being made: the first pass of it begins."""
        name = f"{self.iterators}.0"
        self.iterators += 1
        self._begin(iterator, name, loader)
        if loader.num_workers == 0:
            Log.spool, Log.folder, Log.worker, Log.shared = self.spool, self.folder, -1, {}
            Log.epoch = name
        return name

    def again(self, iterator: Any, loader: Any) -> None:
        """Persistent workers begin the next pass."""
        before = self.epochs.get(iterator)
        if before is not None:
            number, _, passed = before.name.partition(".")
            self._begin(iterator, f"{number}.{int(passed) + 1}", loader)

    def _begin(self, iterator: Any, name: str, loader: Any) -> None:
        for old in [old for old in self.all[:-OPEN] if not old.complete] + [
            o for o in self.all if o.complete
        ]:
            self._write(old)
        self.epochs[iterator] = epoch = Epoch(name, loader, self.passes)
        self.rank = _rank()  # not at the end: scripts leave the process group before
        self.passes += 1
        self.all.append(epoch)

    def _write(self, epoch: Epoch) -> None:
        self.spool.write("epoch", **epoch.summary())
        epoch.rows, epoch.order.bits = [], None
        self.all.remove(epoch)

    def asked(self, iterator: Any, index: Any, seconds: float) -> None:
        """The sampler gave the indices of a batch."""
        if epoch := self.epochs.get(iterator):
            epoch.asked(index, seconds)

    def _counters(self) -> tuple[float, ...]:
        return (
            process.now(), float(self.steps), time.process_time(), self.waited, self.gc_seconds,
            self.clock.delay(),
        )  # fmt: skip

    def entered(self, iterator: Any) -> list[float]:
        """The script asks for a batch."""
        return self.epochs[iterator].entered(iterator, self._counters())

    def left(self, iterator: Any, row: list[float], batch: object) -> None:
        """The script got a batch."""
        epoch = self.epochs[iterator]
        self.waited += epoch.got(iterator, row)
        epoch.remember(batch)
        epoch.left = self._counters()

    def finished(self, iterator: Any) -> None:
        """The pass is over."""
        epoch = self.epochs[iterator]
        epoch.complete, epoch.ended = True, process.now()
        epoch.alive = []

    def stepped(self, *_: object) -> None:
        """An optimizer stepped."""
        self.steps += 1

    def paused(self, kind: str, begin: float) -> None:
        """Something that is not a step took the time since `begin`."""
        if len(self.pauses) < MOST_PAUSES:
            self.pauses.append((kind, begin, process.now()))

    def counted(self, name: str, amount: float = 1.0) -> None:
        """Add to a counter, and remember the line of the script."""
        self.counters[name] = self.counters.get(name, 0.0) + amount
        if len(self.places) < MOST_PLACES:
            frame = sys._getframe(2)
            place = f"{name} at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"  # noqa: PTH119
            self.places[place] = self.places.get(place, 0) + 1

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._gc_start = time.thread_time()
        elif self._gc_start:
            self.gc_seconds += time.thread_time() - self._gc_start

    def close(self, status: str) -> None:
        """Write the rest, and what the machine was like; once, whoever calls first."""
        if self.closed:
            return
        self.closed = True
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)
        if Log.latest and Log.worker < 0:
            Log.latest.close()
        for epoch in self.all:
            if epoch.rows:
                self.spool.write("epoch", **epoch.summary())
        import torch

        same = ("begun", "steps", "cores", "pauses", "counters", "places", "rank")
        self.spool.write(
            "main", **{name: getattr(self, name) for name in same}, pid=os.getpid(), ended=process.now(),
            status=status, cpus=os.cpu_count(), shm=process.shared_memory(), cpu=time.process_time(),
            sharing=torch.multiprocessing.get_sharing_strategy(),  # type: ignore[no-untyped-call]
            descriptors=process.open_descriptors(), torch=torch.__version__, python=sys.version.split()[0],
            pressure=process.cpu_pressure(), cuda=process.cuda_used(),
        )  # fmt: skip
        self.spool.flush()


def _rank() -> int:
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0)


class Hooks:
    """The process-wide state of the hooks."""

    folder = ""
    replay = False
    collector: Any = None
    missing: list[str] = []  # noqa: RUF012 - one a process


def collector() -> Any:
    """Return the collector of this process, made when it is first needed."""
    if Hooks.collector is None:
        from multiprocessing.util import Finalize

        Hooks.collector = made = Collector(Hooks.folder)
        if (child := sys.modules.get("multiprocessing.process")) and child.parent_process():
            Finalize(made, made.close, args=("ended",), exitpriority=50)
        watch_fetchers()
        devices.install(made)
    return Hooks.collector
