"""What is kept of a run stays small, however long the run is."""

import gc
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

from course_utils.diagnosis.record import operations
from course_utils.diagnosis.record.collector import Collector
from course_utils.diagnosis.record.fetch import FetchLog
from course_utils.diagnosis.record.spool import Spool, is_kept
from course_utils.diagnosis.record.worker import Log

BATCHES = 100_000
MIB = 1 << 20


class Iterator:
    """Stands for an iterator of a `DataLoader`."""


class Fetcher:
    """Stands for the fetcher in a worker."""

    dataset = tuple(range(10))
    collate_fn = staticmethod(torch.tensor)

    def fetch(self, indices: list[int]) -> torch.Tensor:
        return self.collate_fn([self.dataset[i] for i in indices])


@pytest.fixture
def collector(tmp_path, monkeypatch) -> Collector:
    for name in ("spool", "folder", "worker", "shared", "epoch", "latest"):
        monkeypatch.setattr(Log, name, getattr(Log, name))
    made = Collector(str(tmp_path))
    yield made
    if made._collected in gc.callbacks:
        gc.callbacks.remove(made._collected)


def kept(owner: object) -> int:
    """Bytes of an object and of all that it holds, torch and modules left out."""
    seen: set[int] = set()
    todo, size = [vars(owner)], 0
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, type | DataLoader):
            continue
        seen.add(id(item))
        size += sys.getsizeof(item)
        if isinstance(item, dict):
            todo += [*item, *item.values()]
        elif isinstance(item, list | tuple | set):
            todo += item
        elif hasattr(item, "__dict__") and type(item).__module__.startswith("course_utils"):
            todo.append(vars(item))
    return size


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


@pytest.mark.slow
def test_the_main_process_keeps_little_of_a_long_pass(collector: Collector, tmp_path: Path):
    iterator, batch = Iterator(), torch.zeros(4)
    collector.made(iterator, DataLoader(range(4 * BATCHES), 4))
    for number in range(BATCHES):
        collector.asked(iterator, list(range(4 * number, 4 * number + 4)), 0.0)
        collector.left(iterator, collector.entered(iterator), batch)
        collector.stepped()
        collector.paused("torch.save", 0.0)
        collector.counted("synchronisations")
    assert collector.epochs[iterator].count == BATCHES
    assert kept(collector) < 4 * MIB
    collector.finished(iterator)
    collector.close("ended")
    assert on_disk(tmp_path) < 4 * MIB


@pytest.mark.slow
def test_the_main_process_keeps_little_of_many_passes(collector: Collector, tmp_path: Path):
    loader, batch, iterators = DataLoader(range(4), 4), torch.zeros(4), []
    for _ in range(BATCHES // 40):
        iterators.append(Iterator())  # the script keeps all of them, and finishes none
        collector.made(iterators[-1], loader)
        for _ in range(40):
            collector.left(iterators[-1], collector.entered(iterators[-1]), batch)
    assert kept(collector) < 4 * MIB
    collector.close("ended")
    assert on_disk(tmp_path) < 32 * MIB


@pytest.mark.slow
def test_a_worker_keeps_little(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(operations, "install", lambda: None)
    spool = Spool(str(tmp_path), "worker-1-2")
    log = FetchLog(spool, "0.0", 0, {})
    fetcher = log.attach(Fetcher())
    for _ in range(BATCHES // 5):
        fetcher.fetch([0, 1, 2, 3])
    log.close()
    assert kept(log) < MIB
    spool.flush()
    assert on_disk(tmp_path) < 8 * MIB


def test_records_are_thinned_out_ever_more():
    written = [count for count in range(1, 1 << 20) if is_kept(count, 1_000)]
    assert written[:999] == list(range(1, 1_000))
    assert len(written) < 1_000 + 500 * 11
