"""Submitted folders that cannot be assigned to one student get no mark."""

import pytest
from hypothesis import given
from hypothesis.strategies import text

from grading.course.student_folder import RefusedSubmissionError, check_folder


@pytest.mark.parametrize("student", ["ann", "s1234567", "ann.lee@uni.example", "Zoë van Dam", "x_1-b"])
def test_common_ids_are_accepted(tmp_path, student):
    check_folder(tmp_path / student / "01_a", student)


@pytest.mark.parametrize(
    "student", ["*", "a?", "[ab]", "a+b", "\t=1", "=1", "-x", ".x", "a/b", "a\nb", "<b>", "x" * 101]
)
def test_patterns_formulas_and_markup_are_no_ids(tmp_path, student):
    with pytest.raises(RefusedSubmissionError, match="is not a student's id"):
        check_folder(tmp_path / "folder" / "01_a", student)


@given(text(alphabet="aZé0_.@- *?[]<>=+\t\n/", max_size=8))
def test_accepted_id_means_itself_in_patterns_pages_and_tables(student):
    try:
        check_folder_of(student)
    except RefusedSubmissionError:
        return
    assert not set(student) & set("*?[]{}()<>\"'&/\\=+,;:%$`~#!|^\t\r\n\0")
    assert student[0] not in "-@. "
    assert student == student.strip()


def check_folder_of(student):
    class NoLink:
        parent = None

        def is_symlink(self):
            return False

    folder = NoLink()
    folder.parent = NoLink()
    check_folder(folder, student)


@pytest.mark.parametrize("level", ["student", "lesson"])
def test_linked_folder_is_refused(tmp_path, level):
    (tmp_path / "ann" / "01_a").mkdir(parents=True)
    if level == "student":
        (tmp_path / "bob").symlink_to("ann")
    else:
        (tmp_path / "bob").mkdir()
        (tmp_path / "bob" / "01_a").symlink_to("../ann/01_a")
    with pytest.raises(RefusedSubmissionError, match="is a link to"):
        check_folder(tmp_path / "bob" / "01_a", "bob")
