"""Time what a fetcher of a `DataLoader` does: each sample, the collate function, and where the time went."""

import gc
import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import content, generators, process, stacks
from course_utils.diagnosis.record import operations
from course_utils.diagnosis.record.spool import Spool, complain

FIRST = 3  # fetches whose generators' states are compared
DIGESTED = 64  # samples an epoch that are told apart
DESCRIBED = 4  # batches an epoch that are looked at


class Own:
    """Seconds that this process spent on records while somebody waited for a batch."""

    seconds = 0.0


class Samples:
    """Stands for the dataset in a fetcher, and times each access."""

    def __init__(self, dataset: Any, log: "FetchLog") -> None:
        self._dataset, self._log = dataset, log

    def __getitem__(self, index: Any) -> Any:
        begin = time.perf_counter()
        sample = self._dataset[index]
        self._log.sample(index, time.perf_counter() - begin, sample)
        return sample

    def __next__(self) -> Any:
        begin = time.perf_counter()
        sample = next(self._dataset)
        self._log.sample(None, time.perf_counter() - begin, sample)
        return sample

    def __iter__(self) -> "Samples":
        return self

    def __len__(self) -> int:
        return len(self._dataset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)


class FetchLog:
    """The fetches of one worker in one epoch, written to its spool."""

    def __init__(self, spool: Spool, epoch: str, worker: int, shared: dict[int, bool | None]) -> None:
        self.spool, self.epoch, self.worker, self.shared = spool, epoch, worker, shared
        self.count = self.digested = 0
        self.clock = process.ThreadClock()
        self.owned: dict[str, object] = {}
        self.first_states: dict[str, int] = {}
        self.seconds: list[float] = []
        self.slowest: tuple[float, Any] = (0.0, None)
        self.collate = (0.0, 0.0)
        self.sampler = stacks.StackSampler()
        self.collecting = 0.0
        self.held: dict[int, int] = {}  # what lies where, of the samples of this fetch
        self.overwritten = 0

    def attach(self, fetcher: Any) -> Any:
        """Measure the fetches of a fetcher from now on."""
        self.owned = generators.find(fetcher.dataset, fetcher.collate_fn)
        self.collates_by_default = getattr(fetcher.collate_fn, "__module__", "").startswith("torch.")
        operations.install()
        if hasattr(fetcher, "dataset_iter"):
            fetcher.dataset_iter = Samples(fetcher.dataset_iter, self)
        else:
            self.many = bool(getattr(fetcher.dataset, "__getitems__", None))
            fetcher.dataset = Samples(fetcher.dataset, self)
        fetcher.collate_fn = self._timed_collate(fetcher.collate_fn)
        fetcher.fetch = self._measured(fetcher.fetch)
        return fetcher

    def sample(self, index: Any, seconds: float, sample: Any) -> None:
        """Take note of one sample."""
        self.seconds.append(seconds)
        if seconds > self.slowest[0]:
            self.slowest = (seconds, index)
        if self.digested < DIGESTED:
            try:
                self.digested += 1
                key = index if isinstance(index, (int, str)) else None
                digest = content.digest(sample)
                for address, part in zip(content.addresses(sample), digest, strict=True):
                    self.overwritten += bool(address) and self.held.setdefault(address, part) != part
                    self.held[address] = part
                self.spool.write("sample", epoch=self.epoch, worker=self.worker, index=key, digest=digest)
            except Exception as error:
                complain("a sample's digest", error)

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
            try:
                begun = self._begin()
            except Exception as error:
                complain("a fetch's record", error)
                return fetch(indices)
            try:
                batch = fetch(indices)
            except BaseException as error:
                operations.stop(begun[0])
                self.sampler.pause()
                if not isinstance(error, StopIteration):
                    self.spool.write("error", epoch=self.epoch, worker=self.worker, text=repr(error)[:300])
                    self.spool.flush()
                raise
            try:
                ended = self._end(begun, indices, batch)
                Own.seconds += begun[4] - entered + process.now() - ended
            except Exception as error:
                complain("a fetch's record", error)
            return batch

        return measured

    def _begin(self) -> tuple[Any, ...]:
        if self.count < FIRST:
            self._state("before")
        self.positions = {fd: process.position(fd) for fd in self.shared} if self.count < 40 else {}
        self.held = {}
        self.seconds, self.slowest, self.collate, self.collecting = [], (0.0, None), (0.0, 0.0), 0.0
        gc.callbacks.append(self._collected)
        self.sampler.resume()
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        counts = operations.start()
        read, delay = self.clock.bytes_read(), self.clock.delay()
        return counts, faults, read, delay, process.now(), time.process_time(), time.thread_time()

    def _end(self, begun: tuple[Any, ...], indices: Any, batch: object) -> float:
        counts, faults, read, delay, start, everybody, cpu = begun
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
            others=others, samples=len(self.seconds) or asked, asked=asked, sample_seconds=sum(self.seconds),
            slowest=self.slowest, collate=self.collate, read=self.clock.bytes_read() - read,
            faults=resource.getrusage(resource.RUSAGE_SELF).ru_majflt - faults, gc=self.collecting,
            **operated,
        )  # fmt: skip
        if self.count < DESCRIBED or (self.count < 64 and self.count % 4 == 0):
            self.spool.write("batch", epoch=self.epoch, asked=asked, **content.describe(batch)._asdict())
        if self.count < FIRST:
            self._state("after")
        moved = [fd for fd, before in self.positions.items() if process.position(fd) != before]
        if moved:
            self.spool.write("moved", epoch=self.epoch, worker=self.worker, files=moved)
        self.count += 1
        if self.count & (self.count - 1) == 0 or self.count % 64 == 0:
            self.process_state()
        return float(start + wall)

    def _state(self, when: str) -> None:
        hashes = {**generators.global_states(), **generators.states(self.owned)}
        identities = {name: id(generator) for name, generator in self.owned.items()}
        self.spool.write(
            "states",
            epoch=self.epoch,
            worker=self.worker,
            fetch=self.count,
            when=when,
            hashes=hashes,
            ids=identities,
        )

    def process_state(self) -> None:
        """Write down memory, threads and cores of this process."""
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        self.spool.write(
            "process", epoch=self.epoch, worker=self.worker, pid=os.getpid(), fetch=self.count,
            memory=process.memory() if self.worker >= 0 and self.count <= 4096 else {}, cores=cores,
            threads=process.thread_seconds(), cuda=cuda_used(), stacks=self.sampler.top(),
            default_collate=self.collates_by_default, overwritten=self.overwritten,
        )  # fmt: skip

    def _collected(self, phase: str, info: dict[str, int]) -> None:
        self.collecting += process.now() if phase == "stop" else -process.now()


def cuda_used() -> bool:
    """Whether this process initialised CUDA."""
    cuda: Any = sys.modules["torch.cuda"]
    return bool(cuda.is_initialized())
