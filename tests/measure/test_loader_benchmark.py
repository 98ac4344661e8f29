"""Time epochs, and benchmark datasets and loaders."""

import itertools
import multiprocessing

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from course_utils.measure import loader_benchmark
from course_utils.measure.loader_benchmark import benchmark, compare, time_epoch
from course_utils.storage import page_cache

CPU = torch.device("cpu")
PLAIN = {"num_workers": 0, "persistent_workers": False, "pin_memory": False, "device": "cpu"}
READY = {
    "batch_size": None,
    "num_workers": None,
    "persistent_workers": None,
    "pin_memory": None,
    "device": "cpu",
}


class FileDataset(Dataset):
    """Four images of 3×2×2 bytes in one file."""

    def __init__(self, path):
        self.path = path
        path.write_bytes(bytes(48))

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.frombuffer(bytearray(self.path.read_bytes()[:12]), dtype=torch.uint8).view(
            3, 2, 2
        ), index


class NumberStream(IterableDataset):
    def __iter__(self):
        yield from torch.arange(6)


@pytest.fixture
def ticking_clock(monkeypatch):
    """A fake clock that advances by one second per reading: start, first batch, end."""
    clock = itertools.count()
    monkeypatch.setattr(loader_benchmark, "perf_counter", lambda: float(next(clock)))


def batches(count):
    return [[torch.zeros(4, 3, dtype=torch.uint8), torch.zeros(4, dtype=torch.int64)] for _ in range(count)]


def test_epoch_time_includes_the_first_batch(ticking_clock):
    epoch = time_epoch(batches(3), 0, CPU)
    assert (epoch.first_batch_seconds, epoch.seconds) == (1.0, 2.0)


def test_images_and_bytes_of_all_tensors_are_counted():
    epoch = time_epoch(batches(3), 5, CPU)
    assert (epoch.number, epoch.images, epoch.nbytes) == (5, 12, 3 * (12 + 32))


def test_tensors_of_nested_batches_are_counted():
    batch = {"image": [torch.zeros(2, 5)], "meta": ({"label": torch.zeros(2)}, ["a", "b"])}
    assert time_epoch([batch], 0, CPU).nbytes == 4 * 12


def test_empty_loader_raises():
    with pytest.raises(ValueError, match="list yielded no batch in epoch 1"):
        time_epoch([], 1, CPU)


@pytest.fixture
def images():
    return TensorDataset(torch.zeros(10, 3, 2, 2, dtype=torch.uint8), torch.arange(10))


def test_first_and_later_epochs_are_summarised_apart(images):
    result = benchmark(images, 3, 4, **PLAIN, repeats=2)
    assert [e.number for e in result.epochs] == [0, 1, 2, 0, 1, 2]
    assert (result.first.count, result.seconds.count) == (2, 4)


def test_warm_start_excludes_the_first_epoch(images):
    result = benchmark(images, 3, 4, **PLAIN, warm_start=True, repeats=2)
    assert [e.number for e in result.epochs] == [1, 2, 1, 2]
    assert result.first is None


def test_warm_start_with_one_epoch_raises(images):
    with pytest.raises(
        ValueError, match="excludes the first epoch, so epochs=1 leaves no result: use epochs=2"
    ):
        benchmark(images, 1, 4, **PLAIN, warm_start=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "epochs=0, repeats=1: both must be at least 1"),
        ({"epochs": 2, "repeats": 0}, "epochs=2, repeats=0: both must be at least 1"),
        ({"epochs": 2, "warm_start": True, "cold_start": True}, "choose one"),
        ({"epochs": 1, "cold_start": True}, "files, which are unknown: pass files="),
    ],
)
def test_invalid_arguments_raise(images, arguments, message):
    with pytest.raises(ValueError, match=message):
        benchmark(images, batch_size=4, **PLAIN, **arguments)


def test_accelerator_is_synchronised_once_per_epoch(images, monkeypatch):
    synchronised = []
    monkeypatch.setattr(torch.accelerator, "synchronize", synchronised.append)
    benchmark(images, 3, 2, **{**PLAIN, "device": "meta"}, repeats=2)
    assert synchronised == [torch.device("meta")] * 6


@pytest.mark.skipif(not torch.accelerator.is_available(), reason="no accelerator")
def test_benchmark_on_an_accelerator(images):
    device = torch.accelerator.current_accelerator()
    result = benchmark(images, 2, 4, 2, True, True, device)
    assert (result.device, result.images) == (device, 10)


@pytest.mark.parametrize("workers", [0, 1, 8])
@pytest.mark.parametrize("persistent", [True, False])
def test_any_number_of_workers_delivers_all_images(images, workers, persistent):
    result = benchmark(images, 2, 4, workers, persistent, True, "cpu", repeats=2)
    assert (result.images, result.num_workers, result.batch_size) == (10, workers, 4)


def test_cache_is_measured_before_and_after(tmp_path):
    dataset = FileDataset(tmp_path / "file")
    if reason := page_cache.why_not_measurable(tmp_path / "file"):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    result = benchmark(dataset, 2, 4, **PLAIN, cold_start=True, repeats=2)
    assert [e.cache.fraction for e in result.epochs] == [0.0, 1.0, 0.0, 1.0]
    assert (result.cache_before.fraction, result.cache_after.fraction) == (0.0, 1.0)
    assert "page cache 0 % before, 100 % after" in repr(result)


def test_files_are_found_through_wrappers_or_passed(tmp_path, images):
    dataset = FileDataset(tmp_path / "file")
    assert benchmark(Subset(dataset, [0, 1]), 1, 2, **PLAIN).cache_before.total_bytes == 48
    assert benchmark(images, 1, 2, **PLAIN).cache_before is None
    assert benchmark(images, 1, 2, **PLAIN, files=[dataset.path]).cache_before.total_bytes == 48


class ThreadCountDataset(Dataset):
    threads = None

    def __len__(self):
        return 1

    def __getitem__(self, index):
        self.threads = torch.get_num_threads()
        return index


def test_dataset_loads_with_one_thread_and_ready_loader_keeps_its_threads(monkeypatch):
    threads, before = [7], torch.get_num_threads()
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    dataset = ThreadCountDataset()
    benchmark(dataset, 1, 1, **PLAIN)
    assert dataset.threads == 1
    benchmark(DataLoader(dataset), 1, **READY)
    assert dataset.threads == 7
    monkeypatch.undo()
    assert torch.get_num_threads() == before


def test_ready_loader_keeps_its_settings(images):
    result = benchmark(DataLoader(images, 5), 2, **READY)
    assert (result.images, result.batch_size, result.num_workers) == (10, 5, 0)


def test_any_iterable_is_a_ready_loader():
    class OwnLoader:
        def __iter__(self):
            return iter([{"image": torch.zeros(4, 3), "label": [torch.zeros(4)]}] * 2)

    result = benchmark(OwnLoader(), 2, **READY)
    assert (result.label, result.images, result.num_workers) == ("OwnLoader", 8, None)


def test_settings_for_a_ready_loader_raise(images):
    with pytest.raises(ValueError, match="a DataLoader has its own batch_size, num_workers: pass None"):
        benchmark(DataLoader(images), 1, **{**READY, "batch_size": 2, "num_workers": 0})


def test_iterable_dataset_is_not_shuffled():
    assert benchmark(NumberStream(), 1, 4, **PLAIN).images == 6


def test_compare_alternates_between_datasets(images):
    turns = []

    class RecordingDataset(Dataset):
        def __init__(self, name):
            self.name = name

        def __len__(self):
            turns.append(self.name)
            return 2

        def __getitem__(self, index):
            return index

    results = compare(
        {"a": RecordingDataset("a"), "b": RecordingDataset("b")},
        repeats=2,
        epochs=1,
        batch_size=2,
        shuffle=False,
        **PLAIN,
    )
    assert [name for name, _ in itertools.groupby(turns)] == ["a", "b", "a", "b"]
    assert [(r.label, len(r.epochs)) for r in results] == [("a", 2), ("b", 2)]


def test_progress_goes_to_stdout(images, capfd):
    benchmark(images, 2, 4, **PLAIN, progress=True, label="zip")
    out, err = capfd.readouterr()
    assert "zip: 100%" in out
    assert err == ""


def test_benchmark_leaves_no_worker_behind(images):
    benchmark(images, 2, 4, 2, True, False, "cpu")
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("name", ["batch_size", "num_workers"])
def test_dataset_needs_its_settings(images, name):
    """Without a batch size, the three channels of each image would count as three images."""
    with pytest.raises(ValueError, match=f"{name}=None: give a number"):
        benchmark(images, 1, **{"batch_size": 2, **PLAIN, name: None})


def test_iterator_of_files_is_read_once_and_serves_all_repeats(tmp_path, images, monkeypatch):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(bytes(9))
    evicted = []
    monkeypatch.setattr(page_cache, "evict", lambda files: evicted.append(list(files)))
    benchmark(images, 1, 2, **PLAIN, files=iter(paths), cold_start=True, repeats=2)
    assert evicted == [paths, paths]


def test_cold_start_without_any_file_raises(images):
    with pytest.raises(ValueError, match="cold_start needs"):
        benchmark(images, 1, 2, **PLAIN, files=iter(()), cold_start=True)


@pytest.mark.parametrize("batch", [["a", "b"], [], {"n": 3}, torch.tensor(3)])
def test_batch_without_tensors_raises(batch):
    with pytest.raises(ValueError, match=f"a batch of type {type(batch).__name__} holds no tensor"):
        time_epoch([batch], 0, CPU)


@pytest.mark.parametrize(("datasets", "repeats"), [({}, 1), ({"a": batches(1)}, 0)])
def test_comparing_nothing_raises(datasets, repeats):
    with pytest.raises(ValueError, match="at least one of each"):
        compare(datasets, repeats=repeats, epochs=1, **READY)
