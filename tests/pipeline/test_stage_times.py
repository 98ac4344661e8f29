from course_utils.pipeline.model import simulate
from course_utils.pipeline.settings import Pipeline
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Run, Span


def test_recorded_times_are_per_batch():
    spans = (
        Span("worker 0", "load", 0, 0, 3),
        Span("worker 0", "collate", 0, 3, 4),
        Span("main", "compute", 0, 4, 6),
    )
    times = StageTimes.recorded(Run("r", "cpu", spans))
    assert times == StageTimes(decode=[4], compute=[2])
    assert simulate(Pipeline(accelerator=False), times, 2).total_seconds == 12


def test_wait_after_a_batch_is_ready_counts_as_hand_over():
    spans = (
        Span("worker 0", "collate", 0, 0, 4),
        Span("main process", "wait", 0, 1, 6),
        Span("worker 0", "collate", 1, 4, 5),
        Span("main process", "wait", 1, 8, 9),
    )
    assert StageTimes.recorded(Run("r", "cpu", spans)).hand_over == [2, 1]
