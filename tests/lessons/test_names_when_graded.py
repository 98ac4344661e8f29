"""What is imported or defined above an answer exists when the answer is graded, as in the notebook."""

import ast
import contextlib
import sys
import types
from collections.abc import Iterator

from nbformat import NotebookNode
from nbgrader.utils import is_grade, is_solution

from course_utils.validation.definitions import extract_definitions
from grading.notebook.cell_selection import cells_to_run
from tests.lessons.lesson import Lesson, code_cells, read

NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def test_imports_and_definitions_above_an_answer_exist_when_grading(lesson: Lesson, monkeypatch):
    notebook = read(lesson.solution)
    module = types.ModuleType(f"graded_{lesson.module_name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    runs = dict(zip((cell.id for cell in notebook.cells), cells_to_run(notebook, notebook), strict=True))
    lacking = {}
    cells = code_cells(notebook)
    last = max(place for place, cell in enumerate(cells) if is_solution(cell))
    with contextlib.chdir(lesson.solution.parent):
        for cell in cells[:last]:
            if is_grade(cell):
                continue
            exec(cell.source if runs[cell.id] else extract_definitions(cell.source), module.__dict__)
            if missing := named_in(cell) - vars(module).keys():
                lacking[cell.id] = missing
    assert not lacking


def named_in(cell: NotebookNode) -> set[str]:
    """Return the names that a cell imports or defines, not within functions and classes."""
    try:
        body = ast.parse(cell.source).body
    except SyntaxError:  # a magic
        return set()
    return {name for statement in statements(body) for name in names(statement)}


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, (*NAMED, ast.Try)):  # what is tried may be missing
            for block in ("body", "orelse", "finalbody"):
                yield from statements(getattr(statement, block, []))


def names(statement: ast.stmt) -> set[str]:
    if isinstance(statement, NAMED):
        return {statement.name}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    return set()
