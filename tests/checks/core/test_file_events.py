"""Questions about recorded file events: marks are there exactly once, or nothing is concluded."""

import pytest

from course_utils.checks.core import FileActivity, FileEvent
from course_utils.checks.core.file_events import MarkError

OPEN, MARK = FileEvent(1, "open", "a.zip"), FileEvent(1, "look", "mark-here")
QUESTIONS = {
    "marked": lambda activity: activity.marked("mark-here"),
    "before": lambda activity: activity.before("mark-here"),
    "after": lambda activity: activity.after("mark-here"),
    "used_between": lambda activity: activity.used_between("mark-here", "mark-here"),
    "most_after": lambda activity: activity.most_after("mark-here", "stored"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("events", [[OPEN], [MARK, OPEN, MARK], [MARK, MARK._replace(process=2)]])
def test_mark_that_code_suppressed_or_set_is_noticed(question, events):
    with pytest.raises(MarkError, match="mark-here"):
        QUESTIONS[question](FileActivity(events))


@pytest.mark.parametrize("question", QUESTIONS)
def test_mark_that_is_there_once_is_found(question):
    QUESTIONS[question](FileActivity([OPEN, MARK, OPEN]))


def test_bytes_read_are_unknown_where_an_event_has_no_size():
    sized = OPEN._replace(size=0), FileEvent(1, "pread", "a.zip", size=9)
    assert FileActivity(sized).bytes_read("a.zip") == 9
    assert FileActivity([*sized, OPEN]).bytes_read("a.zip") is None
