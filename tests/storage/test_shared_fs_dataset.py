"""``course_utils.storage.shared_fs_dataset``: any dataset, in any process, waits for what it asked for."""

import gc
import os
import pickle
from functools import partial

import pytest
import torch
from torch.utils.data import Subset

from course_utils.data.datasets import JpegDataset, ZIPDataset
from course_utils.loading.dataloader import make_loader
from course_utils.measure.loader_benchmark import benchmark
from course_utils.storage import shared_fs_dataset
from course_utils.storage.epoch_io import count_epoch
from course_utils.storage.shared_fs import SharedFilesystem
from course_utils.storage.shared_fs_dataset import ModelledDataset
from tests.image_set import COUNT

FILESYSTEM = SharedFilesystem(open_ms=0.01, stat_ms=0.01, read_ms=0.01)


@pytest.fixture
def waits(monkeypatch):
    """What was waited for, without waiting."""
    seconds = []
    monkeypatch.setattr(shared_fs_dataset._Wait, "add", lambda _, wanted: seconds.append(wanted))
    return seconds


def jpegs(image_set):
    return partial(JpegDataset, image_set / "disk_transformed")


def test_it_waits_for_the_operations_of_an_epoch(image_set, waits):
    ops = count_epoch(jpegs(image_set))
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert waits == [pytest.approx(FILESYSTEM.seconds(ops.opening))]
    waits.clear()
    assert len([dataset[index] for index in range(len(dataset))]) == COUNT
    assert sum(waits) == pytest.approx(FILESYSTEM.seconds(ops.epoch))


def test_two_models_do_not_wait_for_each_other(image_set, waits):
    zipped = ModelledDataset(lambda: ZIPDataset(image_set / "zip/part0.zip"), FILESYSTEM)
    single = ModelledDataset(jpegs(image_set), FILESYSTEM)
    waits.clear()
    zipped[0], single[0]
    assert waits[0] < waits[1]


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_samples_are_those_of_the_dataset_in_any_worker(image_set, start_method):
    plain = jpegs(image_set)()
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    for (image, label), (expected, wanted) in zip(
        make_loader(dataset, 1, 1, start_method=start_method), make_loader(plain, 1), strict=True
    ):
        assert torch.equal(image, expected)
        assert torch.equal(label, wanted)


def test_unpickled_it_listens_again(image_set, waits):
    dataset = pickle.loads(pickle.dumps(ModelledDataset(jpegs(image_set), FILESYSTEM)))
    waits.clear()
    assert dataset[0][1] == 0
    assert waits == [pytest.approx(5e-5, rel=0.2)]


def test_labels_are_passed_on_and_files_are_not(image_set):
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert dataset.labels == list(range(COUNT))
    assert not hasattr(dataset, "path")


@pytest.mark.parametrize("wrap", [lambda dataset: dataset, lambda dataset: Subset(dataset, [0, 1, 2])])
def test_a_benchmark_says_that_it_is_a_model(image_set, wrap):
    dataset = wrap(ModelledDataset(jpegs(image_set), SharedFilesystem(0, 0, 0, load=0.8)))
    result = benchmark(dataset, 1, 4, 0, False, False, "cpu", label="JPEG files")
    assert result.label == "JPEG files (model of a shared file system, load 80 %)"
    assert result.cache_before is None


def test_sleeping_too_long_is_made_up_for(monkeypatch):
    slept, clock = [], [0.0]

    def sleep(seconds):
        slept.append(seconds)
        clock[0] += seconds + 0.25

    monkeypatch.setattr(shared_fs_dataset.time, "sleep", sleep)
    monkeypatch.setattr(shared_fs_dataset.time, "perf_counter", lambda: clock[0])
    wait = shared_fs_dataset._Wait()
    for _ in range(4):
        wait.add(0.5)
    assert slept == [0.5, 0.25, 0.25, 0.25]


def test_functions_are_put_back_when_the_dataset_is_gone(image_set):
    original = os.stat
    dataset = ModelledDataset(jpegs(image_set), FILESYSTEM)
    assert os.stat is not original
    del dataset
    gc.collect()
    assert os.stat is original
