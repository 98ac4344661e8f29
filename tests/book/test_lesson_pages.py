"""A lesson's page shows what students get, with outputs that do not answer an exercise."""

import json
from pathlib import Path

import pytest
from nbgrader.utils import is_grade, is_solution

from book.lesson_pages import ALT_LENGTH, LessonPage, alternative_text, with_formulas, with_page_links
from grading.links.package_names import PackageNames
from tests.lessons.lesson import COURSE, FENCED, Lesson, code_cells, read


@pytest.fixture(scope="module")
def page(lesson: Lesson):
    return LessonPage(COURSE, lesson.name).notebook(links="")


def test_code_is_that_of_the_release(lesson: Lesson, page):
    released = code_cells(read(lesson.release))
    assert [cell.source for cell in code_cells(page)] == [cell.source for cell in released]


def test_answers_and_their_checks_have_no_output(page):
    cells = [cell for cell in code_cells(page) if is_solution(cell) or is_grade(cell)]
    assert cells
    assert not [cell.id for cell in cells if cell.outputs]


def test_other_cells_have_the_outputs_of_the_solution(lesson: Lesson, page):
    saved = {cell.id: cell.outputs for cell in code_cells(read(lesson.solution))}
    others = [cell for cell in code_cells(page) if not (is_solution(cell) or is_grade(cell))]
    assert [cell.outputs for cell in others] == [saved[cell.id] for cell in others]


def test_every_figure_has_an_alternative_text(page):
    for cell in code_cells(page):
        if "image/png" in json.dumps(cell.outputs):
            assert 10 < len(cell.metadata.mystnb.image.alt) <= ALT_LENGTH + 1


def test_page_has_one_title_with_the_number(lesson: Lesson, page):
    titles = [
        line
        for cell in page.cells
        if cell.cell_type == "markdown"
        for line in FENCED.sub("", cell.source).splitlines()
        if line.startswith("# ")
    ]
    assert len(titles) == 1
    assert titles[0].startswith(f"# {lesson.name[:2]} ")


def test_minutes_are_read_from_the_lesson(lesson: Lesson):
    assert 30 <= int(LessonPage(COURSE, lesson.name).minutes) <= 240


def test_formulas_need_no_script_and_code_stays():
    assert with_formulas("a $x^2$ b").startswith("a <math")
    assert 'display="block"' in with_formulas("$$x$$")
    assert with_formulas("`$x$` and $5") == "`$x$` and $5"


def test_alternative_text_is_plain_and_ends_with_a_sentence():
    assert alternative_text("*The plot:* `one` [bar](x.md).\n\nMore.") == "The plot: one bar."
    assert alternative_text("One two. " * 100).endswith("two.")
    with pytest.raises(ValueError, match="at most 300 characters: word word"):
        alternative_text("word " * 100)


def test_pictures_stand_beside_the_page(lesson: Lesson, tmp_path: Path):
    LessonPage(COURSE, lesson.name).copy_files(tmp_path)
    copied = {path.name for path in tmp_path.rglob("*.svg")}
    assert copied == {path.name for path in lesson.release.parent.glob("pictures/*.svg")}


def test_links_to_sources_lead_to_the_pages_of_rooms():
    names = PackageNames("from course_utils.data import JpegDataset\n")
    text = "[`JpegDataset??`](../../course_utils/data/datasets.py), [DataLoader](../glossary.md#DataLoader)"
    assert with_page_links(text, names) == (
        "{py:obj}`JpegDataset?? <course_utils.data.JpegDataset>`, [DataLoader](../glossary.md#dataloader)"
    )


def test_other_pages_show_texts_without_links_beside_the_lesson(lesson: Lesson):
    texts = [cell.source for cell in LessonPage(COURSE, lesson.name).unlinked.cells]
    assert not [text for text in texts if "](../" in text]
    assert any("](https://" in text for text in texts)
