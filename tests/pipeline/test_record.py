import json
from pathlib import Path

import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.fakes.cuda import FakeCuda, HostBatch
from course_utils.pipeline import record as module
from course_utils.pipeline.record import load_prefetcher, main, read_records, record, repeated
from course_utils.pipeline.trace import Run, Span
from course_utils.pipeline.tuning import tuning_steps, warm_up_steps
from course_utils.training.resnet import UInt8ResNet50
from course_utils.training.simple_cnn import SimpleCNN
from grading.answers.bank import answer
from tests.lessons.lesson import LESSONS


@pytest.fixture
def prefetcher_file(tmp_path: Path) -> Path:
    """The right answer to the exercise, in a file."""
    path = tmp_path / "prefetcher.py"
    path.write_text(answer("gpu_pipelining", "prefetcher", "right_record_stream").source)
    return path


def test_command_writes_a_record_that_read_records_reads(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nothing"))
    small = ["--batches", "10", "--batch-size", "2", "--size", "8", "--workers", "1"]
    out = main([*small, "--repeats", "1", "--device", "cpu", "--out", str(tmp_path / "recorded_here.json")])
    [found] = read_records(tmp_path)
    assert [step.run.name for step in found.steps] == ["naive loop", "1 worker", "prefetch factor 4"]
    assert found.facts["device"] == "CPU"
    assert found.facts["torch"] == torch.__version__
    for step in found.steps:
        alone = step.run.step_seconds(found.facts["skipped_steps"])
        assert step.step_seconds == pytest.approx([alone] * 3, abs=2e-6)  # times are rounded to microseconds
    assert found.table() in capsys.readouterr().out
    assert json.loads(out.read_text()) == found.to_json()


def test_record_keeps_the_repeat_with_the_median_step_time():
    options = {"network": SimpleCNN(10, 2), "batch_size": 2, "workers": 0, "num_batches": 6, "repeats": 3}
    result = record(SyntheticImageDataset(16, 8), "cpu", **options)
    assert len(result.steps) == 3
    for step in result.steps:
        assert step.run.step_seconds(warm_up_steps(0)) == pytest.approx(step.step_seconds[1])


def test_every_run_outlasts_the_prefetched_batches_of_all_workers(monkeypatch):
    monkeypatch.setattr(module, "record_step", fake_step)
    options = {"network": SimpleCNN(10, 2), "batch_size": 2, "workers": 16, "repeats": 1}
    result = record(SyntheticImageDataset(5, 8), "cpu", **options)
    prefetched = 16 * max(step.pipeline.prefetch_factor for step in tuning_steps(16, accelerator=False))
    for step in result.steps:
        assert result.facts["skipped_steps"] > prefetched
        assert step.run.batches - result.facts["skipped_steps"] >= 2 * 16


def test_too_few_batches_raise_before_the_first_run(monkeypatch):
    monkeypatch.setattr(module, "record_step", lambda *arguments: pytest.fail("a run was started"))
    options = {"network": SimpleCNN(10, 2), "batch_size": 2, "workers": 15, "repeats": 1}
    with pytest.raises(ValueError, match="60 batches are too few"):
        record(SyntheticImageDataset(5, 8), "cpu", num_batches=60, **options)


def fake_step(step, dataset, train, device, batch_size, num_batches, prefetcher):
    assert len(dataset) == num_batches * batch_size
    names = ("load", "compute")
    spans = [Span("main process", name, n, n, n + 1) for name in names for n in range(num_batches)]
    return Run(step.name, "CPU", tuple(spans), batch_size)


def test_repeated_dataset_starts_again_from_the_first_sample():
    assert [label for _, label in repeated(SyntheticImageDataset(3, 4), 7)] == [0, 1, 2, 0, 1, 2, 0]


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("cpu", ("SimpleCNN", 128, 32, None)),
        ("cuda", ("UInt8ResNet50", 224, 256, torch.bfloat16)),
    ],
)
def test_default_work_suits_the_device(monkeypatch, tmp_path, device, expected):
    seen = {}

    def fake_record(dataset, device, **options):
        seen.update(options, size=dataset[0][0].shape[-1])
        raise InterruptedError

    monkeypatch.setattr(module, "record", fake_record)
    with pytest.raises(InterruptedError):
        main(["--device", device, "--workers", "1"])
    network = type(seen["network"]).__name__
    assert (network, seen["size"], seen["batch_size"], seen["dtype"]) == expected


def test_prefetcher_is_loaded_from_a_file_or_a_notebook_cell(tmp_path, prefetcher_file):
    cell = {
        "metadata": {"nbgrader": {"grade_id": "prefetcher_answer"}},
        "source": prefetcher_file.read_text().splitlines(True),
    }
    cell["cell_type"] = "code"
    other = {"cell_type": "code", "metadata": {}, "source": ["raise SystemExit"]}
    (tmp_path / "mine.ipynb").write_text(json.dumps({"cells": [other, cell]}))
    for where in (prefetcher_file, tmp_path / "mine.ipynb"):
        assert load_prefetcher(where).__name__ == "prefetch"


def test_prefetcher_of_the_solved_lesson_is_loaded_with_its_imports():
    [lesson] = [lesson for lesson in LESSONS if lesson.module_name == "gpu_pipelining"]
    gpu = FakeCuda()
    batches = load_prefetcher(lesson.solution)([[HostBatch(gpu, 1)], [HostBatch(gpu, 2)]], "cuda", gpu)
    assert [batch.value for [batch] in batches] == [1, 2]


def test_file_without_a_prefetcher_raises(tmp_path):
    (tmp_path / "empty.ipynb").write_text(json.dumps({"cells": []}))
    with pytest.raises(ValueError, match="does not define `prefetch`"):
        load_prefetcher(tmp_path / "empty.ipynb")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_all_steps_are_recorded_on_a_gpu(prefetcher_file):
    prefetcher = load_prefetcher(prefetcher_file)
    options = {"batch_size": 8, "workers": 1, "num_batches": 12, "repeats": 1, "prefetcher": prefetcher}
    options["network"] = UInt8ResNet50(1000)
    result = record(SyntheticImageDataset(200, 32), "cuda", dtype=torch.bfloat16, **options)
    assert result.steps[-1].run.name == "prefetch on the GPU"
    assert len(result.steps[-1].run.stage("transfer")) == 12
