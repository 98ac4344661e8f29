"""``course_utils.measure.loader_benchmark``: which epochs run, and what is kept of them."""

import itertools
import multiprocessing

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from course_utils.measure.loader_benchmark import benchmark, compare
from course_utils.storage import page_cache

PLAIN = {"num_workers": 0, "persistent_workers": False, "pin_memory": False, "device": "cpu"}
OWN = {
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


class Stream(IterableDataset):
    def __iter__(self):
        yield from torch.arange(6)


@pytest.fixture
def images():
    return TensorDataset(torch.zeros(10, 3, 2, 2, dtype=torch.uint8), torch.arange(10))


def test_first_and_later_epochs_are_apart(images):
    result = benchmark(images, 3, 4, **PLAIN, repeats=2)
    assert [e.number for e in result.epochs] == [0, 1, 2, 0, 1, 2]
    assert (result.first.count, result.seconds.count) == (2, 4)


def test_warm_start_leaves_the_first_epoch_out(images):
    result = benchmark(images, 3, 4, **PLAIN, warm_start=True, repeats=2)
    assert [e.number for e in result.epochs] == [1, 2, 1, 2]
    assert result.first is None


def test_warm_start_with_one_epoch_says_why_not(images):
    with pytest.raises(ValueError, match=r"leaves the first epoch out .* nothing is left: ask for epochs=2"):
        benchmark(images, 1, 4, **PLAIN, warm_start=True)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epochs": 0}, "nothing to time"),
        ({"epochs": 2, "repeats": 0}, "nothing to time"),
        ({"epochs": 2, "warm_start": True, "cold_start": True}, "choose one"),
    ],
)
def test_impossible_requests_are_refused(images, wrong, says):
    with pytest.raises(ValueError, match=says):
        benchmark(images, batch_size=4, **PLAIN, **wrong)


def test_an_accelerator_is_waited_for_once_in_an_epoch(images, monkeypatch):
    waits = []
    monkeypatch.setattr(torch.accelerator, "synchronize", waits.append)
    benchmark(images, 3, 2, **{**PLAIN, "device": "meta"}, repeats=2)
    assert waits == [torch.device("meta")] * 6


@pytest.mark.skipif(not torch.accelerator.is_available(), reason="no accelerator")
def test_batches_reach_an_accelerator(images):
    device = torch.accelerator.current_accelerator()
    result = benchmark(images, 2, 4, 2, True, True, device)
    assert (result.device, result.images) == (device, 10)


@pytest.mark.parametrize("workers", [0, 1, 8])
@pytest.mark.parametrize("persistent", [True, False])
def test_any_number_of_workers_delivers_everything(images, workers, persistent):
    result = benchmark(images, 2, 4, workers, persistent, True, "cpu", repeats=2)
    assert (result.images, result.num_workers, result.batch_size) == (10, workers, 4)


def test_cache_state_before_and_after(tmp_path):
    dataset = FileDataset(tmp_path / "file")
    if reason := page_cache.why_not_measurable(tmp_path / "file"):
        pytest.skip(f"the page cache is not measurable here: {reason}")
    result = benchmark(dataset, 2, 4, **PLAIN, cold_start=True, repeats=2)
    assert [e.cache.fraction for e in result.epochs] == [0.0, 1.0, 0.0, 1.0]
    assert (result.cache_before.fraction, result.cache_after.fraction) == (0.0, 1.0)
    assert "page cache 0 % before, 100 % after" in repr(result)


def test_files_are_found_through_wrappers_and_may_be_named(tmp_path, images):
    dataset = FileDataset(tmp_path / "file")
    assert benchmark(Subset(dataset, [0, 1]), 1, 2, **PLAIN).cache_before.total_bytes == 48
    assert benchmark(images, 1, 2, **PLAIN).cache_before is None
    assert benchmark(images, 1, 2, **PLAIN, files=[dataset.path]).cache_before.total_bytes == 48


def test_a_cold_start_needs_files(images):
    with pytest.raises(ValueError, match="not known: give files="):
        benchmark(images, 1, 4, **PLAIN, cold_start=True)


class Threads(Dataset):
    seen = None

    def __len__(self):
        return 1

    def __getitem__(self, index):
        self.seen = torch.get_num_threads()
        return index


def test_a_dataset_is_loaded_with_one_thread_and_a_ready_loader_with_its_own(monkeypatch):
    threads, before = [7], torch.get_num_threads()
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads[-1])
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    dataset = Threads()
    benchmark(dataset, 1, 1, **PLAIN)
    assert dataset.seen == 1
    benchmark(DataLoader(dataset), 1, **OWN)
    assert dataset.seen == 7
    monkeypatch.undo()
    assert torch.get_num_threads() == before


def test_a_ready_loader_is_taken_as_it_is(images):
    result = benchmark(DataLoader(images, 5), 2, **OWN)
    assert (result.images, result.batch_size, result.num_workers) == (10, 5, 0)


def test_a_loader_of_another_kind_is_taken_too():
    class OwnLoader:
        def __iter__(self):
            return iter([{"image": torch.zeros(4, 3), "label": [torch.zeros(4)]}] * 2)

    result = benchmark(OwnLoader(), 2, **OWN)
    assert (result.label, result.images, result.num_workers) == ("OwnLoader", 8, None)


def test_settings_for_a_ready_loader_are_refused(images):
    with pytest.raises(ValueError, match="DataLoader has settled batch_size, num_workers itself: give None"):
        benchmark(DataLoader(images), 1, **{**OWN, "batch_size": 2, "num_workers": 0})


def test_an_iterable_dataset_is_not_shuffled():
    assert benchmark(Stream(), 1, 4, **PLAIN).images == 6


def test_compare_interleaves(images):
    turns = []

    class Noted(Dataset):
        def __init__(self, name):
            self.name = name

        def __len__(self):
            turns.append(self.name)
            return 2

        def __getitem__(self, index):
            return index

    results = compare(
        {"a": Noted("a"), "b": Noted("b")}, repeats=2, epochs=1, batch_size=2, shuffle=False, **PLAIN
    )
    assert [name for name, _ in itertools.groupby(turns)] == ["a", "b", "a", "b"]
    assert [(r.label, len(r.epochs)) for r in results] == [("a", 2), ("b", 2)]


def test_progress_goes_to_stdout(images, capfd):
    benchmark(images, 2, 4, **PLAIN, progress=True, label="zip")
    out, err = capfd.readouterr()
    assert "zip: 100%" in out
    assert err == ""


def test_no_process_is_left(images):
    benchmark(images, 2, 4, 2, True, False, "cpu")
    assert multiprocessing.active_children() == []
