"""Questions about recorded file events: marks are there exactly once, or nothing is concluded."""

import pytest

from course_utils.checks.core import FileActivity, FileEvent
from course_utils.checks.core.file_events import MarkError

OPEN, MARK = FileEvent(1, "open", "a.zip"), FileEvent(1, "mark", "here")
QUESTIONS = {
    "marked": lambda activity: activity.marked("here"),
    "before": lambda activity: activity.before("here"),
    "after": lambda activity: activity.after("here"),
    "used_between": lambda activity: activity.used_between("here", "here"),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("events", [[OPEN], [MARK, OPEN, MARK], [MARK, MARK._replace(process=2)]])
def test_mark_that_code_suppressed_or_set_is_noticed(question, events):
    with pytest.raises(MarkError, match="here"):
        QUESTIONS[question](FileActivity(events))


@pytest.mark.parametrize("question", QUESTIONS)
def test_mark_that_is_there_once_is_found(question):
    QUESTIONS[question](FileActivity([OPEN, MARK, OPEN]))
