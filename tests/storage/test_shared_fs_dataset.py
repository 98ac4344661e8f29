"""A modelled dataset sleeps for its own operations, in any process."""

import gc
import os
import pickle
from functools import partial

import pytest
import torch
from torch.utils.data import Subset

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.loading.dataloader import make_loader
from course_utils.measure.loader_benchmark import benchmark
from course_utils.storage import shared_fs_dataset
from course_utils.storage.epoch_io import count_epoch
from course_utils.storage.shared_fs import SharedFilesystem
from course_utils.storage.shared_fs_dataset import ModelledDataset
from tests.image_set import COUNT

FILESYSTEM = SharedFilesystem(open_ms=0.01, stat_ms=0.01, size_ms=0.01, read_ms=0.01)


@pytest.fixture
def waits(monkeypatch):
    """Requested waiting times in seconds, without waiting."""
    requested = []
    monkeypatch.setattr(
        shared_fs_dataset._CompensatedSleep, "add", lambda _, seconds: requested.append(seconds)
    )
    return requested


def jpegs(image_set):
    return partial(JpegDataset, image_set / "disk_transformed")


def test_epoch_waits_for_its_operations(image_set, waits):
    ops = count_epoch(jpegs(image_set))
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert waits == [pytest.approx(FILESYSTEM.seconds(ops.opening))]
    waits.clear()
    assert len([dataset[index] for index in range(len(dataset))]) == COUNT
    assert sum(waits) == pytest.approx(FILESYSTEM.seconds(ops.epoch))


def test_reads_of_another_dataset_add_no_waiting_time(image_set, waits):
    files = ModelledDataset(jpegs(image_set), FILESYSTEM)
    waits.clear()
    files[0]
    alone = waits.copy()
    zipped = ModelledDataset(lambda: ZIPDataset(image_set / "zip/part0.zip"), FILESYSTEM)
    zipped[0]
    waits.clear()
    files[0]
    assert waits == alone


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_workers_return_the_samples_of_the_wrapped_dataset(image_set, start_method):
    plain = jpegs(image_set)()
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    for (image, label), (expected_image, expected_label) in zip(
        make_loader(dataset, 1, 1, start_method=start_method), make_loader(plain, 1), strict=True
    ):
        assert torch.equal(image, expected_image)
        assert torch.equal(label, expected_label)


def test_unpickled_dataset_counts_again(image_set, waits):
    dataset = pickle.loads(pickle.dumps(ModelledDataset(jpegs(image_set), FILESYSTEM)))
    waits.clear()
    assert dataset[0][1] == 0
    assert waits == [pytest.approx(6e-5, rel=0.2)]


def test_labels_are_visible_and_paths_are_not(image_set):
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert dataset.labels == list(range(COUNT))
    assert not hasattr(dataset, "path")


@pytest.mark.parametrize(
    "wrap", [lambda dataset: dataset, lambda dataset: Subset(dataset, [0, 1, 2])], ids=["plain", "subset"]
)
def test_benchmark_label_says_that_it_is_a_model(image_set, wrap):
    dataset = wrap(ModelledDataset(jpegs(image_set), SharedFilesystem(0, 0, 0, load=0.8)))
    result = benchmark(dataset, 1, 4, 0, False, False, "cpu", label="JPEG files")
    assert result.label == "JPEG files (model of a shared file system, load 80 %)"
    assert result.cache_before is None


def test_oversleeping_shortens_the_next_sleep(monkeypatch):
    slept, clock = [], [0.0]

    def sleep(seconds):
        slept.append(seconds)
        clock[0] += seconds + 0.25

    monkeypatch.setattr(shared_fs_dataset.time, "sleep", sleep)
    monkeypatch.setattr(shared_fs_dataset.time, "perf_counter", lambda: clock[0])
    delay = shared_fs_dataset._CompensatedSleep()
    for _ in range(4):
        delay.add(0.5)
    assert slept == [0.5, 0.25, 0.25, 0.25]


def test_deleting_the_dataset_restores_the_functions(image_set):
    original = os.stat
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert os.stat is not original
    del dataset
    gc.collect()
    assert os.stat is original
