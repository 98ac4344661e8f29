"""Run the cells of lesson 03 that do something on a GPU alone, with stubs of `torch.cuda` on the CPU."""

import contextlib
import logging
import sys
import time
from importlib.util import find_spec
from types import SimpleNamespace
from unittest import mock

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
    names |= {"torch": torch, "np": np, "time": time, "logging": logging, "find_spec": find_spec}
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
        ("machine", "device memory: 1 of 2 GB free"),
        ("pin-measure", "pageable non_blocking=True : returns in"),
        ("copy-back", "after synchronising:  8.0"),
        ("race-gpu", "all as it should be: 0 of 16 are wrong"),
    ],
)
def test_gpu_cell_runs_to_its_last_line(run_cell, capsys, cell, line):
    run_cell(cell)
    assert line in capsys.readouterr().out


def test_nvjpeg_decodes_a_list_on_the_gpu(run_cell, capsys):
    decode = mock.Mock()
    run_cell("nvjpeg", decode_jpeg=decode, buffer="jpeg")
    decode.assert_called_once_with(["jpeg"] * 64, device="cuda")
    assert capsys.readouterr().out == "nvJPEG: 1 ms for 64 images at once on stub\n"


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


def test_own_prefetcher_adds_the_last_step_to_table_and_charts(run_cell):
    ways = [SimpleNamespace(name="pinned"), SimpleNamespace(name="prefetch on the GPU")]
    record_step, draw_runs, recorded = mock.Mock(return_value="run"), mock.Mock(), {"pinned": ["before"]}
    names = {
        name: mock.Mock()
        for name in ("gpu_pipelining", "images", "train", "prefetch", "table", "plot", "naive_run", "plt")
    }
    names["naive_run"].step_seconds.return_value = 0.01
    run_cell(
        "prefetch-use",
        **names,
        ways=ways,
        todo=ways[:1],
        middle={"pinned": "before"},
        recorded=recorded,
        record_step=record_step,
        draw_runs=draw_runs,
        CheckFailed=AssertionError,
        BATCHES=3,
        REPEATS=2,
        SKIP=1,
    )
    assert recorded == {"pinned": ["before"], "prefetch on the GPU": ["run", "run"]}
    assert record_step.call_args.args[0] is ways[-1]
    assert record_step.call_args.args[-1] is names["prefetch"]
    draw_runs.assert_called_once_with(["before", "run"], skip=1, milliseconds=60.0)
