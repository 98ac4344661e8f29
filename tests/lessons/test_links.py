"""Links in the lessons have a form that works; reading lists say of each entry what it is good for."""

import re

import pytest

from tests.lessons.lesson import Lesson, read

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]*)\)")
ENTRY = re.compile(r"- \[[^\]]+\]\(https://\S+\): \S.*\.")
WITHOUT_TLS = {"http://www.lmdb.tech/doc/"}
LISTS = {"00_input_pipeline", "01_jpeg_vs_zip"}


def texts(lesson: Lesson) -> list[str]:
    return [cell.source for cell in read(lesson.solution).cells if cell.cell_type == "markdown"]


def test_links_lead_to_pages_or_to_files_of_the_lesson(lesson: Lesson):
    for text in texts(lesson):
        for title, target in LINK.findall(text):
            if target.startswith("http"):
                assert re.fullmatch(r"https://[\w.-]+\.[a-z]+(/\S*)?", target) or target in WITHOUT_TLS, (
                    target
                )
                assert title, target
            else:
                assert (lesson.solution.parent / target).is_file(), target


@pytest.mark.parametrize("name", sorted(LISTS))
def test_reading_list_has_entries_with_a_reason(name: str):
    [reading] = [text for text in texts(Lesson(name)) if "## Further reading" in text]
    entries = [
        line for line in reading.partition("## Further reading")[2].splitlines() if line.startswith("- ")
    ]
    assert len(entries) >= 3
    assert all(ENTRY.fullmatch(entry) for entry in entries), entries
