import pickle
import zipfile
from itertools import pairwise

import pytest
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.fakes.cuda import FakeCuda, HostBatch
from course_utils.pipeline.record import load_prefetcher
from course_utils.pipeline.recorded_batch import BatchTimer
from course_utils.pipeline.recorder import Recorder, recorded_loader
from grading.answers.bank import answer

PREFETCHER = answer("gpu_pipelining", "prefetcher", "right_record_stream")


class Squares(IterableDataset):
    def __iter__(self):
        return (torch.tensor([n * n]) for n in range(6))


class BatchedFetch(Dataset):
    """Fetches a whole batch at once by `__getitems__`."""

    attribute = "of the wrapped dataset"

    def __len__(self):
        return 8

    def __getitems__(self, indices):
        return [torch.tensor([index]) for index in indices]


class Zipped(Dataset):
    def __init__(self, path):
        self.path = path

    def __len__(self):
        return 4

    def __getitem__(self, index):
        with zipfile.ZipFile(self.path) as pack:
            return torch.tensor(list(pack.read(str(index))))


def failing_collate(samples):
    raise OSError("no more")


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_unchanged_and_spans_name_their_process(workers):
    loader = DataLoader(SyntheticImageDataset(12, 4), batch_size=3, num_workers=workers)
    recorder = Recorder(loader)
    labels = [labels.tolist() for _, labels in recorder.batches()]
    run = recorder.run("plain", "CPU")
    assert labels == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 0, 1]]
    assert [s.batch for s in run.stage("compute")] == [0, 1, 2, 3]
    loading = {s.batch: s.lane for s in run.stage("load")}
    assert loading == {n: f"worker {n % 2}" if workers else "main process" for n in range(4)}
    assert len(run.stage("wait")) == (4 if workers else 0)
    assert (run.batch_size, run.source) == (3, "CPU")


def test_stages_of_a_batch_are_load_collate_compute():
    recorder = Recorder(DataLoader(SyntheticImageDataset(6, 4), batch_size=2, num_workers=1))
    for _ in recorder.batches():
        pass
    run = recorder.run("order", "CPU")
    for batch in range(3):
        stages = [s for s in run.spans if s.batch == batch and s.stage != "wait"]
        assert [s.stage for s in stages] == ["load", "collate", "compute"]
        assert all(a.end <= b.start for a, b in pairwise(stages))


def test_loader_is_left_unchanged():
    loader = DataLoader(SyntheticImageDataset(4, 4), batch_size=2)
    dataset, collate = loader.dataset, loader.collate_fn
    for _ in Recorder(loader).batches(1):
        pass
    assert (loader.dataset, loader.collate_fn) == (dataset, collate)
    assert isinstance(next(iter(loader))[0], torch.Tensor)


def test_iterable_batched_fetch_and_unbatched_loaders_are_supported():
    recorder = Recorder(DataLoader(Squares(), batch_size=4))
    assert [b.flatten().tolist() for b in recorder.batches()] == [[0, 1, 4, 9], [16, 25]]
    recorder = Recorder(DataLoader(BatchedFetch(), batch_size=4, num_workers=1))
    assert [b.flatten().tolist() for b in recorder.batches()] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    recorder = Recorder(DataLoader(SyntheticImageDataset(2, 4), batch_size=None))
    assert [label for _, label in recorder.batches()] == [0, 1]


def test_named_read_methods_separate_reading_from_decoding(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as pack:
        for index in range(4):
            pack.writestr(str(index), bytes([index]))
    original = zipfile.ZipFile.read
    recorder = Recorder(DataLoader(Zipped(tmp_path / "a.zip"), 2), read_methods=[(zipfile.ZipFile, "read")])
    assert [b.flatten().tolist() for b in recorder.batches()] == [[0, 1], [2, 3]]
    run = recorder.run("zip", "CPU")
    assert len(run.stage("read")) == len(run.stage("decode")) == 2
    assert run.stage("load") == []
    assert all(s.seconds > 0 for s in run.stage("read"))
    assert zipfile.ZipFile.read is original


def test_error_in_a_worker_propagates():
    loader = DataLoader(SyntheticImageDataset(4, 4), 2, collate_fn=failing_collate, num_workers=1)
    with pytest.raises(OSError, match="no more"):
        list(Recorder(loader).batches())


def test_marked_stages_replace_the_loop_body():
    recorder = Recorder(DataLoader(SyntheticImageDataset(4, 4), 2))
    for _ in recorder.batches():
        with recorder.stage("transfer"):
            pass
        with recorder.stage("compute"):
            pass
    run = recorder.run("marked", "CPU")
    assert [s.batch for s in run.stage("transfer")] == [s.batch for s in run.stage("compute")] == [0, 1]


def test_copies_and_kernels_are_timed_by_device_events(tmp_path):
    (tmp_path / "prefetcher.py").write_text(PREFETCHER.source)
    gpu = FakeCuda(copy_seconds=2)
    loader = DataLoader(range(6), batch_size=2, collate_fn=lambda samples: [HostBatch(gpu, samples[0])])
    recorder = Recorder(loader, gpu)
    prefetch = load_prefetcher(tmp_path / "prefetcher.py")
    for batch in prefetch(recorder.batches(), "cuda", recorder.prefetching_cuda()):
        with recorder.stage("compute"):
            gpu.kernel(5, *batch)
    run = recorder.run("prefetching", "fake GPU")
    for stage, lane, seconds in (("transfer", "copy engine", 2), ("compute", "accelerator", 5)):
        spans = run.stage(stage)
        assert [(s.batch, s.lane, round(s.seconds, 6)) for s in spans] == [
            (n, lane, seconds) for n in range(3)
        ]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_copies_precede_kernels_on_a_gpu():
    recorder = Recorder(
        DataLoader(SyntheticImageDataset(40, 64), 8, pin_memory=True, num_workers=1), torch.cuda
    )
    for images, _ in recorder.batches():
        with recorder.stage("transfer"):
            images = images.cuda(non_blocking=True)
        with recorder.stage("compute"):
            (images.float() @ images.float()).sum()
    run = recorder.run("gpu", "GPU")
    assert {"worker 0", "pin thread", "main process", "copy engine", "accelerator"} <= set(run.lanes())
    assert all(a.end <= b.start for a, b in zip(run.stage("transfer"), run.stage("compute"), strict=True))


def test_dataset_and_collate_share_a_timer_after_unpickling():
    loader = DataLoader(BatchedFetch(), 4)
    recorded = recorded_loader(loader, BatchTimer([(zipfile.ZipFile, "read")]))
    dataset, collate = pickle.loads(pickle.dumps((recorded.dataset, recorded.collate_fn)))
    assert dataset.attribute == "of the wrapped dataset"
    batch = collate(dataset.__getitems__([1, 2]))
    assert [timed.stage for timed in batch.stages] == ["read", "decode", "collate"]
    collate.timer.restore()
