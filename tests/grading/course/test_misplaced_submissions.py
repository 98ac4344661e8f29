"""What a teacher has put beside the place of submissions is named."""

from tests.grading.toy_course import LESSON, make_course


def test_what_is_no_submission_is_named(tmp_path):
    course = make_course(tmp_path)
    assert course.misplaced_submissions() == []
    for name in (f"ann/{LESSON}", f"bob/{LESSON} (1)", f"{LESSON}/eve", ".cache", "zoe/.hidden"):
        (course.submitted / name).mkdir(parents=True)
    for name in ("ann.zip", f"zoe/{LESSON}.ipynb"):
        (course.submitted / name).write_text("{}")
    (course.submitted / "max").mkdir()
    (course.submitted / "max" / LESSON).symlink_to("nowhere")
    assert course.misplaced_submissions() == sorted(
        [f"{LESSON}/eve", "ann.zip", f"bob/{LESSON} (1)", f"max/{LESSON}", f"zoe/{LESSON}.ipynb"]
    )
