"""Optional exercises: nothing in nbgrader's maximum, and extra credit for those who solve them."""

from __future__ import annotations

import copy
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum, is_grade

from grading.course.config import Course, course_of
from grading.course.result import Task
from grading.notebook.cell_selection import grade_id
from grading.scoring.local import up_to_date_result


def store_maxima(course: Course, lesson: str) -> None:
    """Write the maximum of each graded cell into the gradebook: 0 for an optional exercise.

    The extra credit of an exercise that is optional no more is taken back.
    """
    found, marker = course.lesson(lesson), course.results.folder / lesson / ".optional"
    before = set(marker.read_text().split()) if marker.exists() else set()
    with Gradebook(course.directory.db_url, course.directory.course_id) as book:
        for cell in filter(is_grade, copy.deepcopy(found.released.cells)):
            name, marks = grade_id(cell), cell.metadata.nbgrader
            marks.points = 0 if name in found.optional else marks.points
            book.find_grade_cell(name, lesson, lesson).max_score = marks.points
            # nbgrader's checksum of a cell includes its points.
            book.find_source_cell(name, lesson, lesson).checksum = compute_checksum(cell)
            for grade in book.find_grade_cell(name, lesson, lesson).grades if name in before else ():
                grade.extra_credit = 0.0 if name not in found.optional else grade.extra_credit
        book.db.commit()
    marker.write_text(" ".join(sorted(found.optional)))


class ExtraCredit(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no type information
    """Gives the points of optional exercises as extra credit, after nbgrader has saved the other points."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:  # noqa: ANN401 - nbconvert's own
        """Write the extra credit of one submission; the notebook stays as it is."""
        names = resources["nbgrader"]
        course, task = course_of(self.config), Task(names["assignment"], names["student"])
        lesson = course.lesson(task.lesson)
        result = up_to_date_result(course, task)
        with Gradebook(names["db_url"], course.directory.course_id) as book:
            for name in lesson.optional & result["exercises"].keys():
                grade = book.find_grade(name, task.lesson, task.lesson, task.student)
                if grade.manual_score is None:  # the teacher's own points count alone
                    grade.extra_credit = result["exercises"][name]["points"]
            book.db.commit()
        return nb, resources
