"""Code that a lesson shows in full is that of the package, but for annotations and docstrings."""

import ast
import inspect
from collections.abc import Callable
from typing import Any

import pytest

from course_utils.training import SimpleCNN, train_with_monitoring
from tests.lessons.lesson import LESSONS, code_cells, read

SHOWN = [("gpu_pipelining", SimpleCNN), ("gpu_pipelining", train_with_monitoring)]
DEFINITIONS = (ast.ClassDef, ast.FunctionDef)


class Bare(ast.NodeTransformer):
    """Removes what only readers and type checkers need."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.without_docstring(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return self.without_docstring(node)

    def without_docstring(self, node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return ast.Assign([node.target], node.value, lineno=node.lineno)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Take `itertools.pairwise` and `pairwise` for the same."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            node.func = ast.Name(node.func.attr) if node.func.value.id == "itertools" else node.func
        return node


def bare(source: str, name: str) -> str:
    [found] = [node for node in ast.parse(source).body if isinstance(node, DEFINITIONS) and node.name == name]
    return ast.unparse(Bare().visit(found))


@pytest.mark.parametrize(("module", "shown"), SHOWN, ids=lambda one: getattr(one, "__name__", one))
def test_lesson_shows_the_code_of_the_package(module: str, shown: Callable[..., Any]):
    [lesson] = [one for one in LESSONS if one.module_name == module]
    [cell] = [
        cell
        for cell in code_cells(read(lesson.solution))
        if f"def {shown.__name__}(" in cell.source or f"class {shown.__name__}(" in cell.source
    ]
    assert bare(cell.source, shown.__name__) == bare(inspect.getsource(shown), shown.__name__)
