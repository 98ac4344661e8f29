"""Stands for the dataset in a fetcher: times each access, and looks at the first samples of an epoch."""

import time
from typing import Any

from course_utils.diagnosis.facts import content
from course_utils.diagnosis.record.spool import Spool, attempt

DIGESTED = 64  # samples an epoch that are told apart


class SampleLog:
    """The samples of one fetch, and digests of the first ones of an epoch."""

    def __init__(self, spool: Spool, epoch: str, worker: int) -> None:
        self.spool, self.epoch, self.worker = spool, epoch, worker
        self.digested = self.overwritten = 0
        self.begin()

    def begin(self) -> None:
        """A fetch begins."""
        self.count, self.seconds = 0, 0.0
        self.slowest: tuple[float, Any] = (0.0, None)
        self.held: dict[int, int] = {}  # what lies where, of the samples of this fetch

    def add(self, index: Any, seconds: float, sample: Any) -> None:
        """Take note of one sample."""
        self.count += 1
        self.seconds += seconds
        if seconds > self.slowest[0]:
            self.slowest = (seconds, index)
        if self.digested < DIGESTED:
            self.digested += 1
            attempt(self._digest, index, sample)

    def _digest(self, index: Any, sample: Any) -> None:
        digest = content.digest(sample)
        for address, part in zip(content.addresses(sample), digest, strict=True):
            self.overwritten += bool(address) and self.held.setdefault(address, part) != part
            self.held[address] = part
        key = index if isinstance(index, (int, str)) else None
        self.spool.write("sample", epoch=self.epoch, worker=self.worker, index=key, digest=digest)


class Samples:
    """A dataset, or the iterator of an iterable one, whose accesses are timed."""

    def __init__(self, dataset: Any, log: SampleLog) -> None:
        self._dataset, self._log = dataset, log

    def __getitem__(self, index: Any) -> Any:
        begin = time.perf_counter()
        sample = self._dataset[index]
        self._log.add(index, time.perf_counter() - begin, sample)
        return sample

    def __next__(self) -> Any:
        begin = time.perf_counter()
        sample = next(self._dataset)
        self._log.add(None, time.perf_counter() - begin, sample)
        return sample

    def __iter__(self) -> "Samples":
        return self

    def __len__(self) -> int:
        return len(self._dataset)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._dataset, name)
