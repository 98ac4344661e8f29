import json

import pytest

from course_utils.pipeline.trace import Run, Span, save_trace, trace_events

RUN = Run(
    "two steps",
    "cpu",
    (
        Span("worker 0", "load", 0, 0.0, 0.010),
        Span("accelerator", "compute", 0, 0.010, 0.014),
        Span("worker 0", "load", 1, 0.010, 0.020),
        Span("accelerator", "compute", 1, 0.020, 0.024),
        Span("main process", "wait", 1, 0.014, 0.020),
    ),
    batch_size=8,
)


def test_step_time_and_idle_time_of_a_whole_run():
    assert RUN.batches == 2
    assert RUN.step_seconds() == pytest.approx(0.012)
    assert RUN.throughput() == pytest.approx(8 / 0.012)
    assert RUN.idle() == [(0.0, 0.010), (0.014, 0.020)]
    assert RUN.idle_fraction() == pytest.approx(16 / 24)


def test_skipped_steps_do_not_count():
    assert RUN.step_seconds(skip=1) == pytest.approx(0.010)
    assert RUN.idle_fraction(skip=1) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="nothing is left"):
        RUN.step_seconds(skip=2)


def test_lanes_are_in_the_order_of_the_pipeline():
    assert RUN.lanes() == ["worker 0", "main process", "accelerator"]


def test_median_of_a_missing_stage_is_zero():
    assert RUN.median_stage("load") == pytest.approx(0.010)
    assert RUN.median_stage("pin") == 0


def test_run_round_trips_through_json():
    assert Run.from_json(json.loads(json.dumps(RUN.to_json()))) == RUN


def test_trace_events_have_one_thread_per_lane_and_microseconds():
    events = trace_events(RUN, process=3)
    lanes = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    last = events[-1]
    assert (last["name"], last["tid"], last["pid"]) == ("wait 1", lanes["main process"], 3)
    assert (last["ts"], last["dur"]) == pytest.approx((14_000, 6_000))


def test_saved_trace_is_json_with_all_runs(tmp_path):
    trace = json.loads(save_trace([RUN, RUN], tmp_path / "trace.json").read_text())
    assert {e["pid"] for e in trace["traceEvents"]} == {0, 1}
