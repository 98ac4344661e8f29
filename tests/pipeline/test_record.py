import json
from pathlib import Path

import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.pipeline.record import load_prefetcher, main, read_records, record, warm_up_steps
from tests.bank import answer


@pytest.fixture
def prefetcher_file(tmp_path: Path) -> Path:
    """The right answer to the exercise, in a file."""
    path = tmp_path / "prefetcher.py"
    path.write_text(answer("gpu_pipelining", "prefetcher", "right_record_stream").source)
    return path


def test_command_writes_a_record_that_read_records_reads(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nothing"))
    small = ["--batches", "6", "--batch-size", "2", "--size", "8", "--width", "2", "--workers", "1"]
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
    result = record(SyntheticImageDataset(16, 8), "cpu", batch_size=2, workers=0, num_batches=4, repeats=3)
    assert len(result.steps) == 3
    for step in result.steps:
        assert step.run.step_seconds(warm_up_steps(0, 4)) == pytest.approx(step.step_seconds[1])


def test_prefetcher_is_loaded_from_a_file_or_a_notebook_cell(tmp_path, prefetcher_file):
    cell = {
        "metadata": {"nbgrader": {"grade_id": "prefetcher_answer"}},
        "source": prefetcher_file.read_text().splitlines(True),
    }
    other = {"metadata": {}, "source": ["raise SystemExit"]}
    (tmp_path / "mine.ipynb").write_text(json.dumps({"cells": [other, cell]}))
    for where in (prefetcher_file, tmp_path / "mine.ipynb"):
        assert load_prefetcher(where).__name__ == "prefetch"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_all_steps_are_recorded_on_a_gpu(prefetcher_file):
    prefetcher = load_prefetcher(prefetcher_file)
    options = {"batch_size": 8, "workers": 1, "num_batches": 12, "repeats": 1, "prefetcher": prefetcher}
    result = record(SyntheticImageDataset(200, 32), "cuda", dtype=torch.bfloat16, **options)
    assert result.steps[-1].run.name == "prefetch on the GPU"
    assert len(result.steps[-1].run.stage("transfer")) == 12
