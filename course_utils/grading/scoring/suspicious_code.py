"""Points a teacher to code that could reach for the checks; no mark depends on it."""

from __future__ import annotations

from nbformat import NotebookNode

from course_utils.grading.course import Lesson
from course_utils.grading.notebook import cells_to_run, grade_id, is_setup
from course_utils.grading.submission import Finding
from course_utils.validation import used_names

# An answer has no use for these; code that rewrites a check from within needs one of them.
NAMES = {
    "course_utils.checks", "sys.modules", "gc.get_objects", "gc.get_referrers", "addaudithook", "settrace",
    "setprofile", "_getframe", "f_back", "ctypes", "builtins", "__builtins__", "__globals__",
    "__subclasses__",
}  # fmt: skip
FUNCTIONS = {"exec", "eval", "__import__"}  # not the methods of these names, such as `model.eval`


def find_suspicious_code(lesson: Lesson, notebook: NotebookNode, files: dict[str, bytes]) -> list[Finding]:
    """Find names in a student's code that could reach for the checks.

    Args:
        lesson: The lesson as its authors wrote it.
        notebook: The restored submission.
        files: The submitted files, by name.
    """
    setup = {cell.source.strip() for cell in lesson.source.cells if is_setup(cell)}
    runs = cells_to_run(notebook, lesson.source)
    chosen = [cell for cell, runs_it in zip(notebook.cells, runs, strict=True) if runs_it]
    sources = [cell.source for cell in chosen if grade_id(cell) not in lesson.graded]
    texts = [source for source in sources if source.strip() not in setup]
    texts += [data.decode("utf-8", "replace") for name, data in files.items() if name.endswith(".py")]
    used = {name for text in texts for name in used_names(text)}
    words = {word for word in NAMES for name in used if f".{word}." in f".{name}."} | (FUNCTIONS & used)
    return [Finding("suspicious", f"The student's code uses {word!r}: read it.") for word in sorted(words)]
