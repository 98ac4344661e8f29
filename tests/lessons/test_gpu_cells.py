"""Run the cells of lesson 03 that do something on a GPU alone, with stubs of `torch.cuda` on the CPU."""

import contextlib
import time

import numpy as np
import pytest
import torch

from tests.lessons.lesson import LESSONS, read

SMALLER = {"4096, 4096": "8, 8", "2**24": "2**6", "2**20": "2**6"}


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
    }
    for name, stub in stubs.items():
        monkeypatch.setattr(torch.cuda, name, stub)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self.clone())
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda self, stream: None)
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == "gpu_pipelining"]
    sources = {cell.id: cell.source for cell in read(lesson.solution).cells}
    names = {"ON_GPU": True, "DEVICE": torch.device("cpu"), "BATCH_SIZE": 2}
    names |= {"torch": torch, "np": np, "time": time}
    names |= {"device_name": lambda device: "stub", "timed": lambda call: (call(), "1 ms")[1]}

    def run(cell):
        source = sources[cell]
        for large, small in SMALLER.items():
            source = source.replace(large, small)
        exec(source, names)

    return run


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("machine", "device memory: 1 of 2 GB free"),
        ("pin-measure", "pageable non_blocking=True : returns in"),
        ("copy-back", "after synchronising:  8.0"),
        ("race-gpu", "all as it should be: 0 of 16 are wrong"),
    ],
)
def test_gpu_cell_runs_to_its_last_line(run_cell, capsys, cell, line):
    run_cell(cell)
    assert line in capsys.readouterr().out
