"""Load the same batches in turns by a thread, by several, and by processes."""

import gc
import multiprocessing
import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from torch.utils.data import DataLoader, Dataset

from course_utils.system import NotMeasurableError, fork_by_default, one_thread, process_memory
from course_utils.threads.thread_loader import ThreadLoader


class Trial(NamedTuple):
    """How one way of loading did.

    Attributes:
        per_second: The most batches a second of all rounds, from the first batch to the last.
        memory: Bytes of all processes that load, above those before; None where it cannot be measured.
    """

    per_second: float
    memory: int | None


def try_loading(
    dataset: Dataset[Any], batches: Sequence[list[int]], workers: int, rounds: int = 3
) -> dict[str, Trial]:
    """Load batches with one thread, and with several threads and processes.

    All are tried in turns, so that load spikes affect all; of its rounds the fastest counts.

    Args:
        dataset: Map-style, and safe in threads.
        batches: The indices of each batch, more than `2 * workers`.
        workers: Threads, and processes.
        rounds: How often each is tried.

    Returns:
        The trials of "1 thread", "2 threads" and "2 processes", where there are two workers.
    """
    loaders: dict[str, Iterable[Any]] = {
        "1 thread": ThreadLoader(dataset, batches, 1),
        f"{workers} threads": ThreadLoader(dataset, batches, workers),
        f"{workers} processes": DataLoader(dataset, batch_sampler=batches, num_workers=workers),
    }
    trials: dict[str, list[Trial]] = {name: [] for name in loaders}
    # Fork: a dataset that a notebook defines cannot be pickled. One thread: as in workers, where PyTorch's
    # own threads do not compete with the loading.
    with fork_by_default(), one_thread():
        for _ in range(rounds):
            for name, loader in loaders.items():
                trials[name].append(_timed(loader))
    return {name: _best(found) for name, found in trials.items()}


def _timed(loader: Iterable[Any]) -> Trial:
    gc.collect()
    before = _memory()
    iterator, count = iter(loader), 0
    next(iterator)  # the workers have started
    begin = time.perf_counter()
    memory = None
    for count, _ in enumerate(iterator, 1):
        if count == 2 and before is not None:
            now, taken = _memory(), time.perf_counter()
            memory = now - before if now is not None else None
            begin += time.perf_counter() - taken
    return Trial(count / (time.perf_counter() - begin), memory)


def _memory() -> int | None:
    """Bytes of this process and its children; a page that several share counts once."""
    pids = [child.pid for child in multiprocessing.active_children()]
    try:
        return process_memory().pss + sum(process_memory(pid).pss for pid in pids if pid)
    except NotMeasurableError:
        return None


def _best(found: Sequence[Trial]) -> Trial:
    memories = [trial.memory for trial in found if trial.memory is not None]
    return Trial(max(trial.per_second for trial in found), max(memories, default=None))
