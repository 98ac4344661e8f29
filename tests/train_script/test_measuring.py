"""A run of `train.py` becomes a line of the log; what cannot be measured is an error that says why."""

from dataclasses import replace

import pytest

from course_utils.train_script.log import LOG, Line, Log, read_log
from course_utils.train_script.measuring import measure
from course_utils.train_script.versions import source, write

LINE = Line(
    "2026-11-25T10:00:00+01:00", "node, 2 cores", "00", 66.0, 68.0, 0.74, 2.0, 22.7, 196.6, 0.41, "788375b8"
)


@pytest.fixture
def script(tmp_path, lesson_data, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(lesson_data))
    return write(tmp_path)


@pytest.mark.proof  # `make test` measures in the last cell of each lesson
def test_two_runs_are_two_lines_with_what_the_change_changed(script):
    measure(script, lesson="00", images=64)
    script.write_text(source("03"))
    before, after = measure(script, lesson="03", images=64, ceiling=True)
    assert before.opens > 1.5  # the picture, and the labels again; Pillow opens modules of its own, too
    assert after.opens < 0.5
    assert before.handed == pytest.approx(128 * 128 * 3 * 4 / 1e3, rel=0.01)
    assert after.handed == pytest.approx(before.handed / 4, rel=0.01)
    assert 0 < before.slowest <= before.fastest
    assert 0 <= before.waiting <= 1
    assert before.ceiling is None
    assert after.ceiling > 0
    assert not list(script.parent.glob("checkpoint*"))
    assert read_log(script.with_name(LOG)) == [before, after]


def test_a_script_that_fails_is_an_error_with_its_last_lines(script):
    script.write_text("raise ValueError('no such folder')\n")
    with pytest.raises(RuntimeError, match="ValueError: no such folder"):
        measure(script, lesson="00")
    assert not script.with_name(LOG).exists()


def test_a_script_without_its_result_is_an_error_that_names_the_line(script):
    script.write_text("print('done')\n")
    with pytest.raises(RuntimeError, match="Keep that line"):
        measure(script, lesson="00")


def test_a_log_is_a_table_of_equal_columns():
    head, *rows = repr(Log([LINE, LINE])).splitlines()
    assert len(rows) == 2
    assert {len(row) for row in rows} == {len(head)}
    assert len(head) <= 80


def test_another_file_is_no_log(tmp_path):
    (tmp_path / LOG).write_text("lesson,speed\n00,7\n")
    with pytest.raises(ValueError, match="measure again"):
        read_log(tmp_path / LOG)


def test_a_run_on_a_busy_machine_is_named():
    quick = replace(LINE, lesson="06", slowest=1000.0, fastest=1800.0, waiting=0.05)
    slow = replace(LINE, lesson="04", slowest=10.0, fastest=12.0, waiting=0.1)
    assert "In '04' an image was computed" in repr(Log([quick, slow]))
    assert "busy" not in repr(Log([quick, LINE]))
    assert "busy" not in repr(Log())
