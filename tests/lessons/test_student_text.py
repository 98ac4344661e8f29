"""Check what students read in a lesson: headings, and no names that they cannot see."""

import itertools
import re
from collections.abc import Iterator

from tests.lessons.lesson import Lesson, read

EXERCISE = re.compile(r"^(#+) Exercise (\d+): ", re.MULTILINE)
HEADING = re.compile(r"#+ ")


def texts(lesson: Lesson) -> Iterator[tuple[str, str]]:
    return ((cell.id, cell.source) for cell in read(lesson.solution).cells if cell.cell_type == "markdown")


def test_no_text_names_a_cell_by_its_id(lesson: Lesson):
    """JupyterLab does not show ids. One without a hyphen may also be a name in code."""
    ids = {cell.id for cell in read(lesson.solution).cells if "-" in cell.id}
    for cell, text in texts(lesson):
        assert not ids & set(re.findall(r"`([^`\n]+)`", text)), cell


def test_exercises_are_numbered_and_have_headings_of_one_level(lesson: Lesson):
    found = [match for _, text in texts(lesson) for match in EXERCISE.findall(text)]
    assert [int(number) for _, number in found] == list(range(1, len(found) + 1))
    assert len({level for level, _ in found}) == 1


def test_blank_line_below_every_heading(lesson: Lesson):
    for cell, text in texts(lesson):
        for line, below in itertools.pairwise(text.splitlines()):
            assert not (HEADING.match(line) and below.strip()), f"{cell}: {line}"
