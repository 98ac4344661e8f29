from dataclasses import fields
from itertools import pairwise

from course_utils.pipeline.examples import SLOW_EVERY, example_pipelines
from course_utils.pipeline.settings import Pipeline
from course_utils.pipeline.stage_times import StageTimes

NAMES = [
    "naive loop",
    "fast read",
    "fast collate",
    "pinned memory",
    "some large images",
    "several workers",
    "prefetch on the CPU",
    "non_blocking",
    "prefetch on the GPU",
]


def test_examples_are_in_teaching_order():
    assert [example.name for example in example_pipelines()] == NAMES


def test_each_example_changes_one_setting_or_its_stage_times():
    for before, after in pairwise(example_pipelines()):
        settings = [
            f for f in fields(Pipeline) if getattr(before.pipeline, f.name) != getattr(after.pipeline, f.name)
        ]
        stages = [
            f for f in fields(StageTimes) if getattr(before.times, f.name) != getattr(after.times, f.name)
        ]
        if after.name == "pinned memory":  # the one setting that changes stage times
            assert ([f.name for f in settings], [f.name for f in stages]) == (["pin"], ["pin", "transfer"])
        else:
            assert len(settings) + len(stages) == 1


def test_each_tuning_shortens_the_step_but_for_non_blocking():
    seconds = {
        example.name: round(example.run().step_seconds(SLOW_EVERY), 6) for example in example_pipelines()
    }
    assert seconds["some large images"] > seconds["pinned memory"]
    assert seconds["non_blocking"] == seconds["prefetch on the CPU"]
    tuned = [s for name, s in seconds.items() if name not in ("some large images", "non_blocking")]
    assert all(later < earlier for earlier, later in pairwise(tuned))


def test_last_example_keeps_the_accelerator_busy():
    last = example_pipelines()[-1].run()
    assert round(last.idle_fraction(SLOW_EVERY), 3) == 0
