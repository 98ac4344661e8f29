"""Count the file operations of one epoch, with and without workers."""

from functools import partial

import pytest
import torch
from torch.utils.data import IterableDataset

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.storage.epoch_io import UncountedReadsError, count_epoch
from course_utils.storage.io_counter import FileOps, kernel_reads
from tests.image_set import COUNT


class LineStream(IterableDataset):
    def __init__(self, path):
        self.path = path

    def __iter__(self):
        with self.path.open() as lines:
            yield from lines


class ReopensWhenUnpickled(torch.utils.data.Dataset):
    """Opens its file again when unpickled, so that it works with ``spawn``."""

    def __init__(self, path):
        self.path = path
        self.handle = path.open("rb")

    def __getstate__(self):
        return {"path": self.path}

    def __setstate__(self, state):
        self.__init__(state["path"])

    def __del__(self):
        self.handle.close()

    def __len__(self):
        return 4

    def __getitem__(self, index):
        self.handle.seek(0)
        return self.handle.read(1)


def jpegs(image_set):
    return partial(JpegDataset, image_set / "disk_transformed")


def test_jpeg_dataset_opens_every_file_once(image_set):
    size = sum(path.stat().st_size for path in (image_set / "disk_transformed").glob("*.JPEG"))
    ops = count_epoch(jpegs(image_set))
    assert ops.samples == COUNT
    assert ops.epoch == FileOps(opens=COUNT, stats=COUNT, reads=3 * COUNT, nbytes=size)
    assert (ops.opening.opens, ops.opening.listings) == (1, 1)


@pytest.mark.parametrize("encoded", [True, False])
def test_zip_dataset_opens_one_file(image_set, encoded):
    path = image_set / ("zip_encoded" if encoded else "zip") / "part0.zip"
    ops = count_epoch(lambda: ZIPDataset(path, load_encoded=encoded))
    assert (ops.opening.opens, ops.epoch.opens, ops.epoch.stats) == (1, 0, 0)
    assert COUNT <= ops.epoch.reads <= 3 * COUNT


@pytest.mark.parametrize(
    ("workers", "start_method"), [(1, "fork"), (4, "fork"), (2, "spawn"), (1, "forkserver")]
)
def test_workers_do_not_change_the_counts(image_set, workers, start_method):
    alone = count_epoch(jpegs(image_set))
    assert count_epoch(jpegs(image_set), workers, batch_size=2, start_method=start_method) == alone


@pytest.mark.parametrize(("workers", "start_method"), [(0, None), (1, "fork")])
def test_larger_buffer_fetches_more(image_set, workers, start_method):
    def count(**options):
        make = partial(ReopensWhenUnpickled, image_set / "zip_encoded/part0.zip")
        return count_epoch(make, workers, start_method=start_method, **options).epoch

    assert count().nbytes == 4096
    assert count(buffer_bytes=8192).nbytes == 8192


def test_shuffled_zip_needs_more_reads_than_in_order(image_set):
    def reads(**options):
        make = partial(ZIPDataset, image_set / "zip_encoded/part0.zip", load_encoded=True)
        return count_epoch(make, **options).epoch.reads

    assert reads(shuffle=True) > reads()


def test_file_opened_during_unpickling_is_counted_and_has_the_buffer(image_set):
    make = partial(ReopensWhenUnpickled, image_set / "zip_encoded/part0.zip")
    ops = count_epoch(make, 1, start_method="spawn", buffer_bytes=8192)
    assert (ops.opening.opens, ops.epoch.opens, ops.epoch.nbytes) == (1, 1, 8192)


def test_iterable_dataset_is_counted(image_set):
    path = image_set / "disk_transformed/validation_labels_10k.txt"
    ops = count_epoch(lambda: LineStream(path), shuffle=True)
    assert (ops.samples, ops.epoch.opens, ops.epoch.nbytes) == (COUNT, 1, path.stat().st_size)


@pytest.mark.skipif(kernel_reads() is None, reason="this kernel does not count reads")
def test_file_opened_before_counting_raises(image_set):
    dataset = ZIPDataset(image_set / "zip/part0.zip")
    with pytest.raises(UncountedReadsError, match="open before counting started"):
        count_epoch(lambda: dataset)


def test_dataset_instead_of_function_raises_type_error(image_set):
    with pytest.raises(TypeError, match="pass a function"):
        count_epoch(JpegDataset(image_set / "disk_transformed"))
