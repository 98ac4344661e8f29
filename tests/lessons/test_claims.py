"""Each table in `claims/<lesson>.md` names a lesson's quantitative claims, and the cell or source for each.

A row holds the claim, the id of the cell that states it, and its evidence: ids of cells that show it, https
links, or the words "the text" where the stating cell computes it.
"""

import re
from pathlib import Path

import pytest

from tests.lessons.lesson import LESSONS, Lesson, read

CLAIMS = Path(__file__).parent / "claims"
TABLES = [lesson for lesson in LESSONS if (CLAIMS / f"{lesson.name}.md").exists()]
IS_EVIDENCE = re.compile(r"`[\w-]+`|<https://\S+>|the text")


def rows(lesson: Lesson) -> list[tuple[str, str, str]]:
    lines = (CLAIMS / f"{lesson.name}.md").read_text().splitlines()
    cells = [line.strip().strip("|").split(" | ") for line in lines if line.startswith("| ")]
    return [(claim.strip(), stated.strip(), evidence.strip()) for claim, stated, evidence in cells[1:]]


def test_there_are_tables():
    assert TABLES
    assert {path.stem for path in CLAIMS.iterdir()} == {lesson.name for lesson in TABLES}


@pytest.mark.parametrize("lesson", TABLES, ids=lambda lesson: lesson.name)
def test_claims_name_existing_cells_and_their_evidence(lesson):
    ids = {cell.id for cell in read(lesson.solution).cells}
    assert rows(lesson)
    for claim, stated, evidence in rows(lesson):
        parts = evidence.split(", ")
        assert all(IS_EVIDENCE.fullmatch(part) for part in parts), f"{claim}: {evidence}"
        named = {part.strip("`") for part in (stated, *parts) if part.startswith("`")}
        assert stated.startswith("`"), claim
        assert named <= ids, f"{claim}: no cell {named - ids}"
