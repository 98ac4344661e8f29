"""Run the cells that do something on a GPU alone, with stubs of `torch.cuda` on the CPU."""

import contextlib
import logging
import sys
import time
from importlib.util import find_spec
from statistics import median
from types import SimpleNamespace
from unittest import mock

import pytest
import torch

from tests.lessons.lesson import LESSONS, OPTIONAL, code_cells, read
from tests.lessons.test_saved_outputs import text_of

SMALLER = {"4096, 4096": "8, 8", "2**24": "2**6", "2**20": "2**6", "256, 3, 224, 224": "2, 3, 8, 8"}
NOT_RECORDED = "nobody has recorded this yet"
ELSEWHERE = "what others recorded: the optional notebook"  # which prints the records, or that there are none
CELLS = [
    cell
    for lesson in (*LESSONS, *OPTIONAL)
    if lesson.module_name == "gpu_pipelining"
    for cell in code_cells(read(lesson.solution))
]


class StubStream:
    def wait_stream(self, other):
        pass


@pytest.fixture
def run_cell(monkeypatch):
    stubs = {
        "Stream": StubStream,
        "current_stream": StubStream,
        "stream": lambda stream: contextlib.nullcontext(),
        "synchronize": lambda: None,
        "mem_get_info": lambda device: (1e9, 2e9),
        "is_available": lambda: True,
        "get_device_name": lambda device: "stub",
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(torch.cuda, name, stub)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self.clone())
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda self, stream: None)
    sources = {cell.id: cell.source for cell in CELLS}
    names = {"ON_GPU": True, "DEVICE": torch.device("cpu"), "BATCH_SIZE": 2, "median": median}
    names |= {"torch": torch, "time": time, "logging": logging, "find_spec": find_spec}
    names |= {"device_name": lambda device: "stub", "timed": lambda call: (call(), "1 ms")[1]}

    def run(cell, **more):
        names.update(more)
        source = sources[cell]
        for large, small in SMALLER.items():
            source = source.replace(large, small)
        exec(source, names)

    return run


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("settings", "computing on stub: 1 of 2 GB free"),
        ("pin-measure", "pageable non_blocking=True : returns in"),
        ("copy-back", "after synchronising:  8.0"),
        ("race-gpu", "all as it should be: 0 of 16 are wrong"),
    ],
)
def test_gpu_cell_runs_to_its_last_line(run_cell, capsys, cell, line):
    run_cell(cell, usable_cores=lambda: 2)
    assert line in capsys.readouterr().out


def test_cell_that_needs_a_gpu_has_a_record_or_says_that_there_is_none():
    needing = [cell for cell in CELLS if "needs-gpu" in cell.metadata.get("tags", [])]
    assert needing
    for cell in needing:
        shown = "".join(map(text_of, cell.outputs))
        assert any(text in shown for text in (NOT_RECORDED, ELSEWHERE, "recorded on")), cell.id


def test_on_a_gpu_the_network_is_compiled_too(run_cell, capsys, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function: function)
    model = torch.nn.Flatten()
    timed = mock.Mock(side_effect=lambda call, function: call(function) and "1 ms")
    run_cell(
        "compile",
        can_compile=lambda device: True,
        model=lambda x: model(x.float()),
        IMAGE_SIZE=4,
        timed=timed,
    )
    assert "network, compiled in 0 s, on stub" in capsys.readouterr().out
    assert timed.call_count == 4


def test_tensorrt_compiles_the_network_where_it_is_installed(run_cell, capsys, monkeypatch):
    module = SimpleNamespace(compile=lambda model, inputs: model)
    monkeypatch.setitem(sys.modules, "torch_tensorrt", module)
    model = torch.nn.Flatten()
    run_cell("tensorrt", find_spec=lambda name: True, model=model, IMAGE_SIZE=4)
    assert capsys.readouterr().out == "TensorRT: 1 ms for a forward pass on stub\n"
    assert model.training


def test_own_prefetcher_is_measured_beside_copies_in_the_loop(run_cell, capsys):
    prefetch = mock.Mock(side_effect=lambda loader, device: iter(loader))
    names = {"images": range(8), "after": {}, "ROUNDS": 2, "mean_ms": lambda batches: len(list(batches))}
    run_cell("prefetch-use", prefetch=prefetch, DataLoader=lambda images, *_, **__: images, **names)
    assert "prefetch            8.0 ms a step (8.0 to 8.0)" in capsys.readouterr().out
    assert prefetch.call_count == 2


def test_unsolved_prefetcher_is_said_to_be_missing(run_cell, capsys):
    names = {"images": range(8), "after": {}, "ROUNDS": 2, "mean_ms": lambda batches: 1.0}
    run_cell(
        "prefetch-use",
        prefetch=mock.Mock(side_effect=NotImplementedError),
        DataLoader=lambda images, *_, **__: images,
        **names,
    )
    assert "once Exercise 2 is solved" in capsys.readouterr().out


def test_power_is_asked_for_during_the_training(run_cell, capsys, monkeypatch, tmp_path):
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 99 %, 300 W\nexec sleep 60\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    run_cell("watch-power", monitor=lambda loader: time.sleep(0.5), loader=())
    assert "99 %, 300 W" in capsys.readouterr().out
