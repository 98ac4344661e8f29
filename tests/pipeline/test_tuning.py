from dataclasses import fields
from itertools import pairwise

import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.pipeline.trace import Run, Span
from course_utils.pipeline.tuning import ideal_seconds, record_step, step_time_range, tuning_steps
from course_utils.training.simple_cnn import SimpleCNN, training_step

DATASET = SyntheticImageDataset(24, 8)


@pytest.mark.parametrize("accelerator", [False, True])
def test_each_step_changes_one_setting(accelerator):
    pipelines = [step.pipeline for step in tuning_steps(2, accelerator)]
    for before, after in pairwise(pipelines):
        changed = [f.name for f in fields(before) if getattr(before, f.name) != getattr(after, f.name)]
        assert len(changed) == 1


def test_without_accelerator_no_step_needs_a_gpu():
    assert [step.name for step in tuning_steps(1, accelerator=False)] == [
        "naive loop",
        "1 worker",
        "prefetch factor 4",
    ]
    assert not any(step.needs_gpu for step in tuning_steps(1, accelerator=False))


def test_step_is_recorded_on_the_cpu():
    step = tuning_steps(1, accelerator=False)[1]
    run = record_step(step, DATASET, training_step(SimpleCNN(10, width=2)), "cpu", 4, 5)
    assert (run.name, run.source, run.batches, run.batch_size) == ("1 worker", "CPU", 5, 4)
    assert run.lanes() == ["worker 0", "main process"]


def test_gpu_step_on_the_cpu_raises():
    with pytest.raises(ValueError, match="needs a GPU"):
        record_step(tuning_steps(1, accelerator=True)[-1], DATASET, lambda *batch: None, "cpu", 4, 2)


def test_device_that_the_recorder_cannot_time_raises():
    with pytest.raises(ValueError, match="CPUs and CUDA devices only; the device is mps"):
        record_step(tuning_steps(1, accelerator=False)[0], DATASET, lambda *batch: None, "mps", 4, 2)


def test_too_short_dataset_raises_before_the_first_step():
    step = tuning_steps(0, accelerator=False)[0]
    with pytest.raises(ValueError, match="6 batches of 4; 7 are needed"):
        record_step(step, DATASET, lambda *batch: pytest.fail("trained"), "cpu", 4, 7)


def test_ideal_is_the_longest_stage_with_loading_shared_by_the_workers():
    spans = (Span("m", "load", 0, 0, 6), Span("m", "collate", 0, 6, 8), Span("m", "compute", 0, 8, 11))
    run = Run("naive", "CPU", spans)
    assert [ideal_seconds(run, workers) for workers in (0, 1, 2, 4)] == [8, 8, 4, 3]


def test_step_time_range_is_lowest_median_and_highest():
    runs = [Run("r", "CPU", (Span("m", "compute", 0, 0, end),)) for end in (3.0, 1.0, 2.0)]
    assert step_time_range(runs, 0) == (1.0, 2.0, 3.0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_steps_run_on_a_gpu():
    train = training_step(SimpleCNN(10, width=2).cuda())
    for step in tuning_steps(1, accelerator=True)[:-1]:
        assert record_step(step, DATASET, train, "cuda", 4, 5).batches == 5
