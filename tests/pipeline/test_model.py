import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.pipeline.event_model import EventModel
from course_utils.pipeline.model import simulate
from course_utils.pipeline.settings import Pipeline, simulation_disabled
from course_utils.pipeline.stage_times import StageTimes

lengths = st.lists(st.integers(0, 20), min_size=1, max_size=8)
pipelines = st.builds(
    Pipeline,
    workers=st.integers(0, 4),
    prefetch_factor=st.integers(1, 3),
    pin=st.booleans(),
    non_blocking=st.booleans(),
    device_prefetch=st.integers(0, 2),
    steps_ahead=st.integers(0, 3),
    in_order=st.booleans(),
) | st.builds(Pipeline, workers=st.integers(0, 3), pin=st.booleans(), accelerator=st.just(False))
stage_times = st.builds(
    StageTimes,
    read=lengths,
    decode=lengths,
    pin=lengths,
    transfer=lengths,
    compute=st.lists(st.integers(1, 20), min_size=1),
)


def recurrence(load, compute, workers, prefetch, batches):
    """Return the end of the epoch by a max-plus recurrence, for a step that the main process computes."""
    loaded, taken, done = [], [], 0
    for k in range(batches):
        requested = taken[k - workers * prefetch] if k >= workers * prefetch else 0
        free = loaded[k - workers] if k >= workers else 0
        loaded.append(max(requested, free) + load[k % len(load)])
        taken.append(max(done, loaded[k]))
        done = taken[k] + compute[k % len(compute)]
    return done


def steady_state_seconds(pipeline, times, period):
    """Return the seconds per step in steady state: the start and the end of the epoch cancel."""
    longer, shorter = (simulate(pipeline, times, n * period).total_seconds for n in (80, 40))
    return (longer - shorter) / (40 * period)


def in_flight(run, when):
    started = {s.batch for s in run.stage("read") if s.start <= when}
    return len(started - {s.batch for s in run.stage("compute") if s.start <= when})


@given(stage_times, st.integers(1, 12))
def test_times_add_up_in_the_naive_loop(times, batches):
    run = simulate(Pipeline(), times, batches)
    stages = ("read", "decode", "transfer", "compute")
    assert run.total_seconds == sum(times.of(stage, k) for stage in stages for k in range(batches))


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 40), st.integers(1, 4), st.integers(1, 3))
def test_slowest_stage_sets_the_step_time_if_all_stages_overlap(load, compute, transfer, workers, prefetch):
    pipeline = Pipeline(workers, prefetch, pin=True, non_blocking=True, device_prefetch=1)
    times = StageTimes(read=load * workers, transfer=transfer, compute=compute)
    assert steady_state_seconds(pipeline, times, workers) == max(load, transfer, compute)


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 10), st.integers(1, 3))
def test_hand_over_adds_to_the_compute_of_the_main_process(load, compute, hand_over, workers):
    times = StageTimes(read=load * workers, compute=compute, hand_over=hand_over)
    pipeline = Pipeline(workers, accelerator=False)
    assert steady_state_seconds(pipeline, times, workers) == max(load, compute + hand_over)


@given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 40), st.booleans())
def test_copy_on_the_compute_stream_adds_to_the_compute(load, compute, transfer, pin):
    pipeline = Pipeline(2, pin=pin, non_blocking=pin, steps_ahead=1)
    times = StageTimes(read=2 * load, transfer=transfer, compute=compute)
    assert steady_state_seconds(pipeline, times, 2) == max(load, transfer + compute)


@given(lengths, st.lists(st.integers(1, 20), min_size=1, max_size=8), st.integers(1, 4), st.integers(1, 3))
def test_model_agrees_with_the_recurrence(load, compute, workers, prefetch):
    pipeline = Pipeline(workers, prefetch, accelerator=False)
    run = simulate(pipeline, StageTimes(decode=load, compute=compute), 17)
    assert run.total_seconds == recurrence(load, compute, workers, prefetch, 17)


@given(pipelines, stage_times, st.integers(1, 12))
@settings(max_examples=200)
def test_batches_pass_each_stage_once_and_spans_of_a_lane_do_not_overlap(pipeline, times, batches):
    run = simulate(pipeline, times, batches)
    assert sorted(s.batch for s in run.stage("compute")) == list(range(batches))
    for lane in run.lanes():
        spans = sorted(
            (s for s in run.spans if s.lane == lane and s.stage != "wait"), key=lambda s: (s.start, s.end)
        )
        assert all(a.end <= b.start for a, b in pairwise(spans))
    for batch in range(batches):
        mine = [s for s in run.spans if s.batch == batch and s.stage != "wait"]
        stages = ("read", "decode", *(["pin"] if pipeline.pin else []), "transfer", "compute")
        assert [s.stage for s in sorted(mine, key=lambda s: (s.start, s.end))] == [
            stage for stage in stages if times.of(stage, batch)
        ]


@given(st.integers(1, 4), st.integers(1, 4))
def test_batches_in_flight_are_workers_times_prefetch_factor(workers, prefetch):
    run = simulate(Pipeline(workers, prefetch), StageTimes(read=1, compute=1000), 40)
    assert in_flight(run, when=900) == workers * prefetch


@given(pipelines, stage_times)
def test_larger_prefetch_factor_never_slows_an_in_order_pipeline(pipeline, times):
    pipeline = replace(pipeline, in_order=True, pin=False)
    deeper = replace(pipeline, prefetch_factor=pipeline.prefetch_factor + 1)
    assert simulate(deeper, times, 12).total_seconds <= simulate(pipeline, times, 12).total_seconds


def test_in_order_delivery_lets_a_slow_batch_block_all_workers():
    times = StageTimes(decode=[40, 4, 4, 4, 4, 4], compute=4)
    in_order = simulate(Pipeline(2, 1, accelerator=False), times, 60)
    any_order = simulate(Pipeline(2, 1, accelerator=False, in_order=False), times, 60)
    assert any_order.total_seconds < in_order.total_seconds
    assert [s.batch for s in in_order.stage("compute")] == list(range(60))
    assert [s.batch for s in any_order.stage("compute")][:3] == [1, 2, 3]


def test_copy_from_unpinned_memory_blocks_the_main_process():
    times = StageTimes(read=12, transfer=3, compute=4)
    unpinned = simulate(Pipeline(non_blocking=True, steps_ahead=1), times, 20)
    pinned = simulate(Pipeline(pin=True, non_blocking=True, steps_ahead=1), times, 20)
    assert (unpinned.total_seconds, pinned.total_seconds) == (20 * (12 + 3) + 4, 20 * 12 + 3 + 4)


@pytest.mark.parametrize(
    "invalid",
    [
        {"workers": -1},
        {"prefetch_factor": 0},
        {"steps_ahead": -1},
        {"accelerator": False, "steps_ahead": 1},
        {"accelerator": False, "device_prefetch": 1},
    ],
)
def test_invalid_settings_raise(invalid):
    with pytest.raises(ValueError, match=list(invalid)[-1]):
        Pipeline(**invalid)


def test_simulate_raises_only_while_disabled():
    with simulation_disabled(), pytest.raises(RuntimeError, match="your own rule"):
        simulate(Pipeline(), StageTimes(compute=1), 2)
    assert simulate(Pipeline(), StageTimes(compute=1), 2).batches == 2


def test_disabled_simulation_cannot_be_run_below_its_interface():
    model = EventModel(Pipeline(), StageTimes(compute=1), 2)
    with simulation_disabled(), pytest.raises(RuntimeError, match="your own rule"):
        model.run()


IN_A_PROGRAM = """
from course_utils.pipeline import Pipeline, StageTimes, simulate
simulate(Pipeline(), StageTimes(compute=1), 2)
"""


def test_programs_started_while_disabled_cannot_simulate_either():
    """As in the grader's sandbox, where they do not see the model."""
    with simulation_disabled():
        with simulation_disabled():
            pass
        done = subprocess.run([sys.executable, "-c", IN_A_PROGRAM], capture_output=True, text=True)
    assert "your own rule" in done.stderr
    assert simulate(Pipeline(), StageTimes(compute=1), 2).batches == 2
