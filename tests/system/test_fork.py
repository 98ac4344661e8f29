import multiprocessing
import os

import pytest

from course_utils.system.fork import ChildDiedError, fork_by_default, in_child


def test_the_child_is_another_process_and_its_answer_comes_back():
    pid, parent = in_child(lambda: (os.getpid(), os.getppid()))
    assert pid != os.getpid() == parent


def test_an_error_in_the_child_is_raised_in_the_parent():
    with pytest.raises(ZeroDivisionError):
        in_child(lambda: 1 / 0)


def test_an_error_that_cannot_travel_comes_back_by_its_name():
    class LocalError(Exception):
        pass

    def fail():
        raise LocalError("of this test")

    with pytest.raises(RuntimeError, match="LocalError: of this test"):
        in_child(fail)


def test_a_child_that_dies_is_told_from_one_that_answers():
    with pytest.raises(ChildDiedError):
        in_child(lambda: os.kill(os.getpid(), 9))


def test_what_the_child_changes_stays_with_the_child():
    values = [1]
    in_child(lambda: values.append(2))
    assert values == [1]


def test_the_start_method_is_fork_for_a_while_only():
    before = multiprocessing.get_start_method(allow_none=True)
    with fork_by_default():
        assert multiprocessing.get_start_method() == "fork"
    assert multiprocessing.get_start_method(allow_none=True) == before
