import json
from pathlib import Path

import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.pipeline.record import main, read_prefetcher, read_records, record, skipped
from tests.bank import answer


@pytest.fixture
def prefetcher_file(tmp_path: Path) -> Path:
    """The right answer to the exercise, in a file."""
    path = tmp_path / "prefetcher.py"
    path.write_text(answer("gpu_pipelining", "prefetcher", "right_record_stream").source)
    return path


def test_the_command_writes_a_record_that_the_lesson_reads(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nothing"))
    small = ["--batches", "6", "--batch-size", "2", "--size", "8", "--width", "2", "--workers", "1"]
    out = main([*small, "--repeats", "1", "--device", "cpu", "--out", str(tmp_path / "recorded_here.json")])
    [found] = read_records(tmp_path)
    assert [step.run.name for step in found.steps] == ["naive loop", "1 worker", "prefetch factor 4"]
    assert found.facts["device"] == "CPU"
    assert found.facts["torch"] == torch.__version__
    assert all(low <= middle <= high for low, middle, high in (step.step_seconds for step in found.steps))
    assert found.table() in capsys.readouterr().out
    assert json.loads(out.read_text()) == found.to_json()


def test_the_middle_of_the_repeats_is_kept():
    made = record(SyntheticImageDataset(16, 8), "cpu", batch_size=2, workers=0, num_batches=4, repeats=3)
    for step in made.steps:
        assert step.run.step_seconds(skipped(0, 4)) == pytest.approx(step.step_seconds[1])


def test_the_prefetcher_comes_from_a_file_or_from_the_cell_of_a_notebook(tmp_path, prefetcher_file):
    cell = {
        "metadata": {"nbgrader": {"grade_id": "prefetcher_answer"}},
        "source": prefetcher_file.read_text().splitlines(True),
    }
    other = {"metadata": {}, "source": ["raise SystemExit"]}
    (tmp_path / "mine.ipynb").write_text(json.dumps({"cells": [other, cell]}))
    for where in (prefetcher_file, tmp_path / "mine.ipynb"):
        assert read_prefetcher(where).__name__ == "prefetch"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_every_step_is_recorded_on_a_gpu(prefetcher_file):
    prefetcher = read_prefetcher(prefetcher_file)
    options = {"batch_size": 8, "workers": 1, "num_batches": 12, "repeats": 1, "prefetcher": prefetcher}
    made = record(SyntheticImageDataset(200, 32), "cuda", dtype=torch.bfloat16, **options)
    assert made.steps[-1].run.name == "prefetch on the GPU"
    assert len(made.steps[-1].run.stage("transfer")) == 12
