"""What reaches the workers: a picklable object in the place of `worker_init_fn`."""

import os
from collections.abc import Callable
from typing import Any

from course_utils.diagnosis.facts import process
from course_utils.diagnosis.record.fetch import FetchLog, Own
from course_utils.diagnosis.record.spool import Spool, attempt


class Log:
    """The spool of this process and what its fetches belong to; one a process."""

    spool: Spool | None = None
    folder = ""
    epoch, worker = "", -1
    shared: dict[int, bool | None] = {}  # noqa: RUF012 - one a process
    latest: FetchLog | None = None


class WorkerStart:
    """Call the user's `worker_init_fn` in a worker, and measure its fetches from then on.

    Args:
        function: The user's `worker_init_fn`, or None.
        folder: Where the records are written.
        epoch: Number of the iterator and of its pass, as "3.0".
        files: The files that the main process has open for reading, under fork.
    """

    def __init__(
        self,
        function: Callable[[int], Any] | None,
        folder: str,
        epoch: str,
        files: dict[int, tuple[int, int]],
    ) -> None:
        self.function, self.folder, self.epoch, self.files = function, folder, epoch, files
        self.parent = os.getpid()

    def __call__(self, worker: int) -> None:
        """Run in the worker, after torch has seeded it and before its fetcher is made."""
        if self.function is not None:
            self.function(worker)
        attempt(self._begin, worker)

    def _begin(self, worker: int) -> None:
        Own.next_state = 0.0
        Log.spool = Spool(self.folder, f"worker-{self.parent}-{os.getpid()}")
        Log.folder, Log.epoch, Log.worker, Log.latest = self.folder, self.epoch, worker, None
        inherited = {fd: key for fd, key in process.readable_files().items() if self.files.get(fd) == key}
        shared = {fd: process.same_description(fd, self.parent) for fd in inherited}
        Log.shared = {fd: known for fd, known in shared.items() if known is not False}
        Log.spool.write("start", epoch=self.epoch, worker=worker, pid=os.getpid(), shared=Log.shared)
        watch_fetchers()


def watch_fetchers() -> None:
    """Measure each fetcher that this process makes from now on."""
    from torch.utils.data import _DatasetKind as Kind

    kind: Any = Kind
    create = kind.create_fetcher
    if getattr(create, "watched", False):
        return

    def watched_create(*args: Any, **kwargs: Any) -> Any:
        fetcher = create(*args, **kwargs)
        return (attempt(_watch, fetcher) or fetcher) if Log.spool else fetcher

    watched_create.watched = True  # type: ignore[attr-defined]
    kind.create_fetcher = staticmethod(watched_create)


def _watch(fetcher: Any) -> Any:
    assert Log.spool is not None
    if Log.latest:
        Log.latest.close()
        if Log.worker >= 0:
            iterator, _, number = Log.epoch.partition(".")
            Log.epoch = f"{iterator}.{int(number) + 1}"
    Log.latest = FetchLog(Log.spool, Log.epoch, Log.worker, Log.shared)
    return Log.latest.attach(fetcher)
