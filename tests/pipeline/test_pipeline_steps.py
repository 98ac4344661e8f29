from dataclasses import fields
from itertools import pairwise

import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset
from course_utils.pipeline.pipeline_steps import ideal_seconds, record_step, spread, steps
from course_utils.pipeline.trace import Run, Span
from course_utils.training.simple_cnn import SimpleCNN, training_step

DATASET = SyntheticImageDataset(24, 8)


@pytest.mark.parametrize("accelerator", [False, True])
def test_each_step_changes_one_thing(accelerator):
    pipelines = [step.pipeline for step in steps(2, accelerator)]
    for before, after in pairwise(pipelines):
        changed = [f.name for f in fields(before) if getattr(before, f.name) != getattr(after, f.name)]
        assert len(changed) == 1


def test_a_cpu_has_the_steps_that_need_no_gpu():
    assert [step.name for step in steps(1, accelerator=False)] == [
        "naive loop",
        "1 worker",
        "prefetch factor 4",
    ]
    assert not any(step.needs_gpu for step in steps(1, accelerator=False))


def test_a_step_is_recorded_on_the_cpu():
    step = steps(1, accelerator=False)[1]
    run = record_step(step, DATASET, training_step(SimpleCNN(10, width=2)), "cpu", 4, 5)
    assert (run.name, run.source, run.batches, run.batch_size) == ("1 worker", "CPU", 5, 4)
    assert run.lanes() == ["worker 0", "main process"]


def test_a_step_for_the_gpu_is_refused_without_one():
    with pytest.raises(ValueError, match="needs a GPU"):
        record_step(steps(1, accelerator=True)[-1], DATASET, lambda *batch: None, "cpu", 4, 2)


def test_the_ideal_is_the_longest_stage_with_the_loading_shared():
    spans = (Span("m", "load", 0, 0, 6), Span("m", "collate", 0, 6, 8), Span("m", "compute", 0, 8, 11))
    run = Run("naive", "CPU", spans)
    assert [ideal_seconds(run, workers) for workers in (0, 1, 2, 4)] == [8, 8, 4, 3]


def test_spread_gives_lowest_middle_and_highest():
    runs = [Run("r", "CPU", (Span("m", "compute", 0, 0, end),)) for end in (3.0, 1.0, 2.0)]
    assert spread(runs, 0) == (1.0, 2.0, 3.0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_the_steps_run_on_a_gpu():
    train = training_step(SimpleCNN(10, width=2).cuda())
    for step in steps(1, accelerator=True)[:-1]:
        assert record_step(step, DATASET, train, "cuda", 4, 5).batches == 5
