"""The model of an input pipeline: one call that simulates it (see `event_model`)."""

from course_utils.pipeline.settings import REFUSAL, Pipeline, refuse_if_disabled
from course_utils.pipeline.stage_times import StageTimes
from course_utils.pipeline.trace import Run


def simulate(
    pipeline: Pipeline, times: StageTimes, batches: int, batch_size: int = 1, name: str = "model"
) -> Run:
    """Simulate a pipeline.

    Args:
        pipeline: The settings.
        times: Seconds per batch of each stage.
        batches: Number of batches to load and compute.
        batch_size: Samples per batch, for the throughput.
        name: Name of the run, for titles.

    Returns:
        The run with the exact time of every event; its source is "model".

    Raises:
        RuntimeError: Inside a check whose exercise is to write the rule yourself, or when it is graded.
    """
    refuse_if_disabled()
    try:
        # Imported here, because the sandbox of the grader does not show it.
        from course_utils.pipeline.event_model import EventModel
    except ModuleNotFoundError as error:
        raise RuntimeError(REFUSAL) from error
    return Run(name, "model", EventModel(pipeline, times, batches).run(), batch_size)
