import pytest

from course_utils import paths


@pytest.fixture
def course(tmp_path, monkeypatch):
    for name in ("COURSE_DATA", "TEACHER_DIR"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "notebooks" / "01_lesson").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "notebooks" / "01_lesson")
    return tmp_path


def make_set(folder):
    for form in paths.FORMS:
        (folder / form).mkdir(parents=True)
    return folder


def test_the_nearest_data_folder_above_the_lesson_is_found(course):
    data = make_set(course / "data")
    assert paths.data_dir() == data


def test_the_teachers_set_wins_over_the_fallback(course, monkeypatch):
    make_set(course / "data")
    monkeypatch.setenv("TEACHER_DIR", str(course / "teacher"))
    shared = make_set(course / "teacher" / "JHS_data")
    assert paths.data_dir() == shared


def test_course_data_wins_over_all(course, monkeypatch):
    monkeypatch.setenv("TEACHER_DIR", str(course / "teacher"))
    make_set(course / "teacher" / "JHS_data")
    monkeypatch.setenv("COURSE_DATA", str(make_set(course / "mine")))
    assert paths.data_dir() == course / "mine"


def test_a_wrong_course_data_is_an_error_and_not_a_silent_fallback(course, monkeypatch):
    make_set(course / "data")
    monkeypatch.setenv("COURSE_DATA", str(course / "typo"))
    with pytest.raises(paths.DataNotFoundError, match="typo"):
        paths.data_dir()


def test_a_missing_set_tells_student_and_teacher_what_to_do(course):
    with pytest.raises(
        paths.DataNotFoundError, match=r"(?s)Student: .*make data.*Teacher: .*data_setup photos"
    ):
        paths.data_dir()
