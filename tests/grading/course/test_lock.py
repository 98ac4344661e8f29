"""One command at a time works on a course."""

from contextlib import ExitStack

from grading.course.lock import NAME, course_lock


def test_second_command_waits_for_the_first_and_says_so(tmp_path):
    said, first = [], ExitStack()
    first.enter_context(course_lock(tmp_path, "grade", said.append))

    def end_the_first(sentence):
        said.append(sentence)
        first.close()

    with course_lock(tmp_path, "feedback", end_the_first):
        assert (tmp_path / NAME).read_text().startswith("feedback, process ")
    [sentence] = said
    assert "works on this course: grade, process " in sentence


def test_folder_that_cannot_be_written_is_left_to_the_command(tmp_path):
    (tmp_path / "file").write_text("")
    with course_lock(tmp_path / "file" / "marks", "grade", print):
        pass
