"""The part of a GPU, on a scripted one whose times are known; decoders and steps on the CPU."""

import contextlib
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from course_utils.fakes import FakeCuda, HostBatch
from course_utils.paths import data_dir
from course_utils.record import device
from course_utils.record.schema import PARTS
from tests.record.samples import VALUES


def test_only_a_non_blocking_copy_from_pinned_memory_returns_before_it_is_done():
    gpu = FakeCuda(copy_seconds=2)
    found = device.transfers(gpu, HostBatch(gpu, pinned=False), lambda: gpu.now)
    assert {name: value for name, value in found.items() if value != 2000} == {
        "pinned, non_blocking=True, returned": 0
    }
    assert set(found) == set(VALUES["transfers"])


def test_copies_hide_behind_kernels_only_in_a_second_stream():
    gpu = FakeCuda(copy_seconds=2)
    pinned = [gpu.pinned(number) for number in range(8)]
    found = device.overlap(gpu, pinned, lambda batch: gpu.kernel(3, batch), lambda: gpu.now)
    assert found == {
        "copies alone": 2000,
        "kernels alone": 3000,
        "one stream": 5000,
        "two streams": 3000 + 2000 / 8,  # the first copy has nothing to hide behind
    }
    assert not gpu.races


def test_every_part_of_a_gpu_runs_on_tensors(monkeypatch):
    """The CPU plays the GPU: what is timed means nothing, but it is complete and possible."""
    monkeypatch.setattr(device, "BATCH", (2, 3, 8, 8))
    monkeypatch.setattr(device, "MATRIX", 8)
    monkeypatch.setattr(device, "steps", lambda folder, where: {"naive loop": 3.0})
    monkeypatch.setattr(torch.Tensor, "pin_memory", torch.Tensor.clone)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda self, stream: None)
    stream = SimpleNamespace(wait_stream=lambda other: None)
    cuda = SimpleNamespace(
        Stream=lambda: SimpleNamespace(),
        current_stream=lambda: stream,
        stream=lambda stream: contextlib.nullcontext(),
        synchronize=lambda: None,
    )
    found = {name: measure(0) for name, measure in device.measures(cuda, "cpu", Path()).items()}
    assert set(found) == {name for name, kind in PARTS.items() if kind.needs_gpu}
    for name in ("transfers", "overlap"):
        assert set(found[name]) == set(VALUES[name])
        assert min(found[name].values()) > 0


def test_decoders_that_fail_are_left_out_with_their_reason():
    def fail(files):
        raise RuntimeError("no nvJPEG\nat line 3")

    work, broken = device.usable({"good": len, "bad": fail}, [b""])
    assert list(work) == ["good"]
    assert broken == {"bad": "RuntimeError: no nvJPEG"}


def test_decoding_counts_images_of_a_second_and_waits_for_the_device():
    waits = []
    clock = count(0, 2).__next__
    found = device.decoding({"one": len, "two": len}, [b""] * 10, clock, lambda: waits.append(1))
    assert found == {"one": 5, "two": 5}
    assert len(waits) == 4


@pytest.mark.parametrize("name", device.decoders("cpu"))
def test_decoder_decodes_a_photograph(name):
    photograph = min((data_dir() / "disk_transformed").glob("*.JPEG")).read_bytes()
    assert device.usable({name: device.decoders("cpu")[name]}, [photograph])[1] == {}


@pytest.mark.slow
def test_steps_are_those_of_the_lesson(monkeypatch):
    monkeypatch.setattr(device, "BATCH_SIZE", 2)
    monkeypatch.setattr(device, "SIZE", 32)
    found = device.steps(data_dir() / "disk_transformed", "cpu")
    assert next(iter(found)) == "naive loop"
    assert all(PARTS["steps"].least < value < PARTS["steps"].most for value in found.values())
