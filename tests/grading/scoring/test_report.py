"""The report after grading, for constructed results."""

from grading.scoring import regrade, report
from grading.scoring.scorer import _status
from grading.submission.findings import OTHER_VERSION, Finding


def _result(student, points, mistake="", status="", **provenance):
    status = status or ("wrong" if mistake else "right")
    exercise = {
        "status": status,
        "points": points,
        "max_points": 2.0,
        "mistake": mistake,
        "message": "Message.",
    }
    return {
        "lesson": "01_a",
        "student": student,
        "status": status,
        "points": points,
        "max_points": 2.0,
        "exercises": {"sum": exercise},
        "findings": [{"kind": "tampered", "what": "A \x1b[31mred\x1b[0m tag."}]
        if status == "tampered"
        else [],
        "provenance": {"submission": "s", "checks": "1", "lesson": "1", "environment": "1", **provenance},
    }


CLASS = [_result("ann", 2.0), _result("bob", 0.0, "off_by_one"), _result("cem", 0.0, "off_by_one")]


def test_summary_counts_submissions_by_status():
    heading, _, row = report.summary(CLASS).splitlines()
    assert heading.split() == ["lesson", "right", "wrong", "all", "mean", "points"]
    assert row.split() == ["01_a", "1", "2", "3", "0.7", "of", "2"]


def test_histogram_has_a_line_for_each_outcome():
    text = report.histogram(CLASS)
    assert "2 of 2 points, right" in text
    assert "0 of 2 points, wrong" in text


def test_frequent_mistakes_are_counted_by_name():
    assert report.mistakes(CLASS).splitlines()[2].split() == ["2", "01_a", "sum", "off_by_one"]


def test_findings_name_the_student():
    assert "ann: tampered" in report.findings([_result("ann", 2.0, status="tampered")])


def test_what_a_whole_class_has_in_common_is_said_once():
    """Such as time stamps of folders that somebody has copied by hand."""

    def copied(student: str, day: int) -> dict:
        what = f"'timestamp.txt' says 2026-11-{day} 10:00 UTC, but a file is of 2026-12-01 09:00: why?"
        return _result(student, 0.0) | {"findings": [{"kind": "suspicious", "what": what}]}

    students = [f"student-{number}" for number in range(1, 10)]
    found = [copied(student, day) for day, student in enumerate(students, 10)]
    assert report.findings(found) == (
        f"01_a  {', '.join(students)}: suspicious: 'timestamp.txt' says … UTC, but a file is of …: why?"
    )
    assert "student-1: suspicious: 'timestamp.txt' says 2026-11-10 10:00 UTC" in report.findings(found[:1])


def test_same_files_of_two_students_are_named():
    assert report.findings(
        [_result("bob", 2.0), _result("ann", 2.0), _result("cem", 2.0, submission="t")]
    ) == ("01_a  ann, bob: the same files")
    assert "same files" not in report.findings([_result("bob", 0.0), _result("ann", 0.0)])


def test_control_characters_are_replaced():
    assert "\x1b" not in report.table([["heading"], ["\x1b[31mred"]])
    assert "\x1b" not in report.findings([_result("ann", 2.0, status="tampered")])


def test_regrade_lists_changed_points_and_the_reason():
    old, new = _result("ann", 2.0), _result("ann", 0.0, "off_by_one", checks="2")
    [row] = regrade.changes(old, new)
    assert row == ["01_a", "ann", "sum", "2", "0", "checks", "Message."]
    assert regrade.changes(old, old) == []
    assert regrade.preview([(old, old)]) == "No mark changes."


def test_another_submission_is_not_a_regrade():
    def of(submission):
        return _result("ann", 2.0, submission=submission)

    assert regrade.is_regrade(of("first"), of("first"))
    assert not regrade.is_regrade(of("first"), of("later"))
    assert not regrade.is_regrade(None, of("first"))
    assert not regrade.is_regrade({**of("first"), "status": "grader fault"}, of("first"))


def test_progress_counts_right_answers_those_not_begun_and_mistakes():
    lines = report.progress([*CLASS, _result("dan", 0.0, "not_written_yet")]).splitlines()
    assert lines[2].split() == ["01_a", "sum", "1", "of", "4", "1", "off_by_one", "(2)"]
    assert report.progress([]) == "Nothing has been handed in yet."


def test_notebooks_of_other_versions_are_listed_apart_and_change_no_status():
    old = {"kind": OTHER_VERSION, "what": "The notebook is from version 1.0.0 of the course."}
    found = [_result(name, 2.0) | {"findings": [old]} for name in ("bob", "ann")]
    assert report.versions(found).endswith("ann, bob: The notebook is from version 1.0.0 of the course.")
    assert report.findings([found[0]]) == "Every submission was as released."
    assert report.versions([_result("ann", 2.0)]) == ""
    assert _status([], [Finding(**old)]) == "right"
