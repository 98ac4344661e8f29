"""What the main process sees: waits, steps, orders, pauses, descriptors, copies."""

import gc
import os
import random
import sys
import threading
import time
import weakref
from typing import Any

from course_utils.diagnosis.facts import content, loaders, orders, process
from course_utils.diagnosis.record.fetch import Own, cuda_used
from course_utils.diagnosis.record.spool import Spool
from course_utils.diagnosis.record.worker import Log

MOST_ROWS = 4_000  # steps an epoch in detail; more are drawn from all of them
DESCRIBED = 4


class Epoch:
    """One pass over one loader."""

    def __init__(self, name: str, loader: Any) -> None:
        self.name, self.settings = name, loaders.settings(loader)
        self.loader = weakref.ref(loader)
        self.sampler_epoch = loaders.sampler_epoch(loader)
        self.begun, self.made, self.first_index, self.first_batch, self.ended = (
            process.now(),
            0.0,
            0.0,
            0.0,
            0.0,
        )
        self.order = orders.Order(self.settings["length"])
        self.rows: list[list[float]] = []
        self.draw = random.Random(0)
        self.count = self.steps = self.graded = 0
        self.complete = False
        self.left = self.left_cpu = 0.0
        self.left_others = self.left_gc = self.left_delay = 0.0
        self.left_steps = 0
        self.own = 0.0
        self.pids: list[int] = []
        self.alive: list[tuple[Any, int]] = []
        self.aliased = 0
        self.descriptors: list[int] = []
        self.sampler_seconds = 0.0

    def add(self, row: list[float]) -> None:
        """Keep a step; with many, each is kept with equal probability."""
        self.count += 1
        if len(self.rows) < MOST_ROWS:
            self.rows.append(row)
        elif (place := self.draw.randrange(self.count)) >= MOST_ROWS // 4 and place < MOST_ROWS:
            self.rows[place] = row

    def summary(self) -> dict[str, Any]:
        """What the judge needs of it."""
        return {
            "name": self.name, "settings": self.settings, "order": self.order.summary(), "rows": self.rows,
            "count": self.count, "steps": self.steps, "training": self.graded * 2 > self.count,
            "complete": self.complete, "begun": self.begun, "made": self.made,
            "first_index": self.first_index,
            "first_batch": self.first_batch, "ended": self.ended or self.left, "pids": self.pids,
            "sampler_epoch": self.sampler_epoch, "aliased": self.aliased, "descriptors": self.descriptors,
            "sampler_seconds": self.sampler_seconds,
        }  # fmt: skip


class Collector:
    """The records of one process that trains."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.spool = Spool(folder, f"main-{os.getpid()}")
        self.epochs: weakref.WeakKeyDictionary[Any, Epoch] = weakref.WeakKeyDictionary()
        self.all: list[Epoch] = []
        self.iterators = self.steps = 0
        self.waited = 0.0
        self.pauses: list[tuple[str, float, float]] = []
        self.gc_seconds, self._gc_start, self.gc_count = 0.0, 0.0, 0
        self.begun = process.now()
        self.counters: dict[str, float] = {}
        self.places: dict[str, int] = {}
        self.cores = process.usable_cores()
        self.clock = process.ThreadClock()
        gc.callbacks.append(self._collected)

    def made(self, iterator: Any, loader: Any) -> str:
        """An iterator is being made: the first pass of it begins."""
        name = f"{self.iterators}.0"
        self.iterators += 1
        self._begin(iterator, Epoch(name, loader))
        if loader.num_workers == 0:
            Log.spool, Log.folder, Log.worker, Log.shared = self.spool, self.folder, -1, {}
            Log.epoch = name
        return name

    def again(self, iterator: Any, loader: Any) -> None:
        """Persistent workers begin the next pass."""
        before = self.epochs.get(iterator)
        if before is not None:
            number, _, passed = before.name.partition(".")
            self._begin(iterator, Epoch(f"{number}.{int(passed) + 1}", loader))

    def _begin(self, iterator: Any, epoch: Epoch) -> None:
        self.epochs[iterator] = epoch
        over = [old for old in self.all if old.complete] + self.all[:-50]
        for old in dict.fromkeys(over):
            self.spool.write("epoch", **old.summary())
            old.rows, old.order.bits = [], None
            self.all.remove(old)
        self.all.append(epoch)

    def asked(self, iterator: Any, index: Any, seconds: float) -> None:
        """The sampler gave the indices of a batch."""
        epoch = self.epochs.get(iterator)
        if epoch is None:
            return
        epoch.first_index = epoch.first_index or process.now()
        epoch.sampler_seconds += seconds
        if not epoch.settings["iterable"]:
            epoch.order.add(index)

    def entered(self, iterator: Any) -> list[float]:
        """The script asks for a batch."""
        import torch

        epoch, now = self.epochs[iterator], process.now()
        cpu = time.process_time()
        row = [now, 0.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
        if epoch.left:
            last = epoch.rows[-1] if epoch.rows else row
            steps = self.steps - epoch.left_steps
            last[5:] = [now - epoch.left, float(steps), cpu - epoch.left_cpu, self.waited - epoch.left_others,
                        self.gc_seconds - epoch.left_gc, self.clock.delay() - epoch.left_delay]  # fmt: skip
            epoch.steps += steps
        epoch.graded += torch.is_grad_enabled()
        if epoch.settings["workers"] and hasattr(iterator, "_data_queue"):
            row[3] = float(not _is_empty(iterator._data_queue))
        self._look_for_reuse(epoch)
        if epoch.count % 8 == 0:
            epoch.descriptors = [*epoch.descriptors[-400:], process.open_descriptors()[0]]
        epoch.own = Own.seconds
        row[0], row[2] = process.now(), time.thread_time()
        return row

    def left(self, iterator: Any, row: list[float], batch: object) -> None:
        """The script got a batch."""
        epoch = self.epochs[iterator]
        row[2] = time.thread_time() - row[2]
        now = process.now()
        row[1] = max(now - row[0] - (Own.seconds - epoch.own), 0.0)
        self.waited += row[1]
        epoch.first_batch = epoch.first_batch or now
        row[4] = float(sum(len(task) == 2 for task in getattr(iterator, "_task_info", {}).values()))
        if not epoch.pids:
            epoch.pids = [worker.pid for worker in getattr(iterator, "_workers", [])]
        epoch.add(row)
        if epoch.count <= DESCRIBED:
            self.spool.write("received", epoch=epoch.name, **content.describe(batch)._asdict())
        self._remember(epoch, batch)
        epoch.left, epoch.left_cpu = process.now(), time.process_time()
        epoch.left_delay = self.clock.delay()
        epoch.left_steps, epoch.left_others, epoch.left_gc = self.steps, self.waited, self.gc_seconds

    def finished(self, iterator: Any) -> None:
        """The pass is over."""
        epoch = self.epochs[iterator]
        epoch.complete, epoch.ended = True, process.now()
        epoch.alive = []

    def _remember(self, epoch: Epoch, batch: object) -> None:
        if epoch.settings["workers"] == 0 and epoch.count < 500:
            tensor = next((part for part in content.leaves(batch, 8) if hasattr(part, "data_ptr")), None)
            if tensor is not None and tensor.numel():  # type: ignore[attr-defined]
                epoch.alive = [*epoch.alive[-6:], (weakref.ref(tensor), tensor.data_ptr())]

    def _look_for_reuse(self, epoch: Epoch) -> None:
        alive = [pointer for reference, pointer in epoch.alive if reference() is not None]
        epoch.aliased += len(alive) > len(set(alive))

    def stepped(self, *_: object) -> None:
        """An optimizer stepped."""
        self.steps += 1

    def paused(self, kind: str, begin: float) -> None:
        """Something that is not a step took the time since `begin`."""
        if len(self.pauses) < 2_000:
            self.pauses.append((kind, begin, process.now()))

    def counted(self, name: str, amount: float = 1.0) -> None:
        """Add to a counter, and remember the line of the script."""
        self.counters[name] = self.counters.get(name, 0.0) + amount
        if len(self.places) < 200:
            frame = sys._getframe(2)
            place = f"{name} at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"  # noqa: PTH119
            self.places[place] = self.places.get(place, 0) + 1

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._gc_start = process.now()
        elif self._gc_start:
            self.gc_seconds += process.now() - self._gc_start
            self.gc_count += info["generation"] >= 1

    def close(self, status: str) -> None:
        """Write the rest, and what the machine was like."""
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)
        if Log.latest and Log.worker < 0:
            Log.latest.sampler.stop()
            Log.latest.process_state()
        for epoch in self.all:
            if epoch.rows:
                self.spool.write("epoch", **epoch.summary())
        import torch

        sharing: Any = torch.multiprocessing.get_sharing_strategy
        used, limit = process.open_descriptors()
        self.spool.write(
            "main", pid=os.getpid(), begun=self.begun, ended=process.now(), status=status, steps=self.steps,
            cores=self.cores, cpus=os.cpu_count(), pauses=self.pauses, gc_seconds=self.gc_seconds,
            gc_count=self.gc_count, counters=self.counters, places=self.places, shm=process.shared_memory(),
            descriptors=(used, limit), torch=torch.__version__, python=sys.version.split()[0],
            pressure=process.cpu_pressure(), cuda=cuda_used(), cpu=time.process_time(),
            threads=threading.active_count(), rank=_rank(), torch_threads=torch.get_num_threads(),
            sharing=str(sharing()),
        )  # fmt: skip
        self.spool.flush()


def _is_empty(queue: Any) -> bool:
    return bool(queue.empty())


def _rank() -> int:
    import torch.distributed as distributed

    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank()
    return int(os.environ.get("RANK") or os.environ.get("SLURM_PROCID") or 0)
