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


def test_finds_nearest_data_folder_above_lesson(course):
    data = make_set(course / "data")
    assert paths.data_dir() == data


def test_teacher_dir_takes_precedence_over_nearest_folder(course, monkeypatch):
    make_set(course / "data")
    monkeypatch.setenv("TEACHER_DIR", str(course / "teacher"))
    shared = make_set(course / "teacher" / "JHS_data")
    assert paths.data_dir() == shared


def test_course_data_takes_precedence_over_teacher_dir(course, monkeypatch):
    monkeypatch.setenv("TEACHER_DIR", str(course / "teacher"))
    make_set(course / "teacher" / "JHS_data")
    monkeypatch.setenv("COURSE_DATA", str(make_set(course / "mine")))
    assert paths.data_dir() == course / "mine"


def test_missing_course_data_folder_raises_instead_of_falling_back(course, monkeypatch):
    make_set(course / "data")
    monkeypatch.setenv("COURSE_DATA", str(course / "typo"))
    with pytest.raises(paths.DataNotFoundError, match="typo"):
        paths.data_dir()


def test_error_tells_student_and_teacher_what_to_do(course):
    with pytest.raises(
        paths.DataNotFoundError, match=r"(?s)Student: .*make data.*Teacher: .*data_setup photos"
    ):
        paths.data_dir()
