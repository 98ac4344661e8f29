"""Time what a fetcher of a `DataLoader` does: each sample, the collate function, and where the time went."""

import gc
import os
import time
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import content, generators, loaders, process, stacks
from course_utils.diagnosis.record import operations
from course_utils.diagnosis.record.samples import SampleLog, Samples
from course_utils.diagnosis.record.spool import Spool, attempt

FIRST = 3  # fetches whose generators' states are compared
DESCRIBED = 8  # batches an epoch that are looked at; later ones at powers of two
WATCHED = 40  # fetches in which positions of shared files are compared
STATE_SECONDS, STATE_SHARE = 0.25, 1 / 64  # a process is looked at so often, and for this share of its time


class Own:
    """Seconds spent on records while somebody waited for a batch, and when to look at the process again."""

    seconds = 0.0
    next_state = 0.0


class FetchLog:
    """The fetches of one worker in one epoch, written to its spool."""

    def __init__(self, spool: Spool, epoch: str, worker: int, shared: dict[int, bool | None]) -> None:
        self.spool, self.epoch, self.worker, self.shared = spool, epoch, worker, shared
        self.count = 0
        self.clock = process.ThreadClock()
        self.owned: dict[str, object] = {}
        self.collate = (0.0, 0.0)
        self.sampler = stacks.StackSampler()
        self.samples = SampleLog(spool, epoch, worker)
        self.collecting = 0.0

    def attach(self, fetcher: Any) -> Any:
        """Measure the fetches of a fetcher from now on."""
        self.owned = generators.find(fetcher.dataset, fetcher.collate_fn)
        self.collates_by_default = getattr(fetcher.collate_fn, "__module__", "").startswith("torch.")
        self.looks_at_memory = self.worker >= 0 and loaders.objects(fetcher.dataset) >= loaders.MANY_OBJECTS
        operations.install()
        name = "dataset_iter" if hasattr(fetcher, "dataset_iter") else "dataset"
        setattr(fetcher, name, Samples(getattr(fetcher, name), self.samples))
        fetcher.collate_fn = self._timed_collate(fetcher.collate_fn)
        fetcher.fetch = self._measured(fetcher.fetch)
        return fetcher

    def close(self) -> None:
        """The epoch is over."""
        self.sampler.stop()
        self._process_state()

    def _timed_collate(self, collate: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def timed(samples: Any) -> Any:
            wall, cpu = time.perf_counter(), time.thread_time()
            batch = collate(samples)
            self.collate = (time.perf_counter() - wall, time.thread_time() - cpu)
            return batch

        return timed

    def _measured(self, fetch: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def measured(indices: Any) -> Any:
            entered = process.now()
            begun = attempt(self._begin)
            try:
                batch = fetch(indices)
            except BaseException as error:
                attempt(self._failed, error)
                raise
            ended = attempt(self._end, begun, indices, batch) if begun else None
            if begun and ended:
                Own.seconds += begun[3] - entered + process.now() - ended
            return batch

        return measured

    def _failed(self, error: BaseException) -> None:
        operations.stop({})
        self.sampler.pause()
        if not isinstance(error, StopIteration):
            self.spool.write("error", epoch=self.epoch, worker=self.worker, text=repr(error)[:300])
            self.spool.flush()

    def _begin(self) -> tuple[Any, ...]:
        if self.count < FIRST:
            self._generator_states("before")
        self.positions = {fd: process.position(fd) for fd in self.shared} if self.count < WATCHED else {}
        self.collate, self.collecting = (0.0, 0.0), 0.0
        self.samples.begin()
        gc.callbacks.append(self._collected)
        self.sampler.resume()
        counts = operations.start()
        read, delay = self.clock.bytes_read(), self.clock.delay()
        return counts, read, delay, process.now(), time.process_time(), time.thread_time()

    def _end(self, begun: tuple[Any, ...], indices: Any, batch: object) -> float:
        counts, read, delay, start, everybody, cpu = begun
        mine = time.thread_time() - cpu
        others = time.process_time() - everybody - mine
        wall, delay = process.now() - start, self.clock.delay() - delay
        operated = {name: value for name, value in operations.stop(counts).items() if value}
        self.sampler.pause()
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)
        asked = len(indices) if hasattr(indices, "__len__") else 1
        self.spool.write(
            "fetch", epoch=self.epoch, worker=self.worker, start=start, wall=wall, cpu=mine, delay=delay,
            others=others, samples=self.samples.count or asked, asked=asked, collate=self.collate,
            sample_seconds=self.samples.seconds, slowest=self.samples.slowest,
            read=self.clock.bytes_read() - read, gc=self.collecting,
            **operated,
        )  # fmt: skip
        self._look(asked, batch)
        return float(start + wall)

    def _look(self, asked: int, batch: object) -> None:
        """What is looked at in the first fetches, and now and then."""
        if self.count < DESCRIBED or self.count & (self.count - 1) == 0:
            self.spool.write("batch", epoch=self.epoch, asked=asked, **content.describe(batch)._asdict())
        if self.count < FIRST:
            self._generator_states("after")
        moved = [fd for fd, before in self.positions.items() if process.position(fd) != before]
        if moved:
            self.spool.write("moved", epoch=self.epoch, worker=self.worker, files=moved)
        self.count += 1
        if process.now() > Own.next_state:
            self._process_state()

    def _generator_states(self, when: str) -> None:
        hashes = {**generators.global_states(), **generators.states(self.owned)}
        identities = {name: id(generator) for name, generator in self.owned.items()}
        self.spool.write(
            "states", epoch=self.epoch, worker=self.worker, fetch=self.count, when=when, hashes=hashes,
            ids=identities,
        )  # fmt: skip

    def _process_state(self) -> None:
        """Write down memory, threads and cores of this process, and when this is due again."""
        begin = time.thread_time()
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.spool.write(
            "process", epoch=self.epoch, worker=self.worker, pid=os.getpid(), fetch=self.count, cores=cores,
            memory=process.memory() if self.looks_at_memory else {}, threads=process.thread_seconds(),
            cuda=process.cuda_used(), stacks=self.sampler.top(), default_collate=self.collates_by_default,
            overwritten=self.samples.overwritten, late=self.sampler.late(),
            unseen=operations.unseen_clients(),
        )  # fmt: skip
        Own.next_state = process.now() + max((time.thread_time() - begin) / STATE_SHARE, STATE_SECONDS)

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        self.collecting += time.thread_time() if phase == "stop" else -time.thread_time()
