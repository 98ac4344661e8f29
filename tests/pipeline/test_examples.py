from itertools import pairwise

from course_utils.pipeline.examples import SLOW_EVERY, example_pipelines

NAMES = [
    "naive loop",
    "fast read",
    "fast collate",
    "pinned memory",
    "several workers",
    "prefetch on the CPU",
    "prefetch on the GPU",
]


def test_examples_are_in_teaching_order():
    assert [example.name for example in example_pipelines()] == NAMES


def test_each_change_shortens_the_step():
    seconds = [example.run().step_seconds(SLOW_EVERY) for example in example_pipelines()]
    assert all(later < earlier for earlier, later in pairwise(seconds))


def test_last_example_keeps_the_accelerator_busy():
    last = example_pipelines()[-1].run()
    assert round(last.idle_fraction(SLOW_EVERY), 3) == 0
