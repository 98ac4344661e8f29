"""The three ways load the same batches, and each says what it took."""

import sys

from course_utils.threads import loading_trial, try_loading
from tests.threads.test_thread_loader import BATCHES, Numbers


def test_each_way_is_tried_and_measured():
    trials = try_loading(Numbers(), BATCHES, workers=2, rounds=1)
    assert list(trials) == ["1 thread", "2 threads", "2 processes"]
    for trial in trials.values():
        assert trial.per_second > 0
        assert (trial.memory is not None) == (sys.platform == "linux")


def test_of_several_rounds_the_fastest_and_the_most_memory_count():
    found = [loading_trial.Trial(2.0, 5), loading_trial.Trial(3.0, None), loading_trial.Trial(1.0, 7)]
    assert loading_trial._best(found) == (3.0, 7)
    assert loading_trial._best(found[1:2]) == (3.0, None)
