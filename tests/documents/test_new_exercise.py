"""Somebody adds the exercise of CONTRIBUTING's example, and everything that looks at a lesson agrees."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from course_utils.checks.core import wrap
from course_utils.paths import data_dir
from tests.lessons.lesson import COURSE

NAME, EXAMPLE = "reversed_labels", "jpeg_vs_zip"
RIGHT = {
    "reversed": "    return list(reversed(labels))",
    "insert": "    found = []\n    for label in labels:\n        found.insert(0, label)\n    return found",
    "copy": "    copy = list(labels)\n    copy.reverse()\n    return copy",
}
WRONG = {
    "same": ("not_reversed", "labels"),
    "ascending": ("not_reversed", "sorted(labels)"),
    "every_second": ("other_labels", "labels[::-2]"),
    "without_the_first": ("other_labels", "labels[:0:-1]"),
    "one_more": ("other_labels", "[*labels[::-1], 0]"),
}
STATEMENT = """\
Write `reverse(labels)`. It gets a list of labels, whole numbers of which some may be equal, and returns a
list with the same labels in reverse order: the last one first. The list that it gets stays as it is. How many
labels there are does not matter.
"""
TESTS = ["tests/test_names.py", "tests/test_docs.py", "tests/book", "tests/lessons", "tests/checks"]
# What executes whole notebooks, or needs the installed package, is run for the course itself; and a lesson as
# long as it may be has no room for the example.
NOT = (
    "TestCell",
    ".ipynb",
    "test_answers",
    "test_lesson_keeps_its_budget",
    "test_announced_minutes_are_true",
)
LOOKS = " and ".join(["({name} or {lesson} or {package})", *(f"not {name}" for name in NOT)])


def block(language: str, begins: str) -> str:
    """Return the first code block of the page that begins so."""
    page = (COURSE / "CONTRIBUTING.md").read_text()
    blocks = re.finditer(rf"^   (`{{3,4}}){language}\n(.*?)^   \1$", page, re.DOTALL | re.MULTILINE)
    texts = (re.sub(r"^   ", "", found[2], flags=re.MULTILINE) for found in blocks)
    return next(text for text in texts if text.startswith(begins))


def add_exercise(course: Path, lesson: str) -> None:
    package = lesson[3:]
    (course / "course_utils" / "checks" / package / f"{NAME}.py").write_text(block("python", '"""Exercise'))
    solution = course / "solutions" / lesson / f"{lesson}.ipynb"
    nbformat.write(with_cells(nbformat.read(solution, 4), package), solution)
    (course / "grading" / "answers" / package / f"{NAME}.md").write_text(bank())
    with (course / "book" / "teachers" / "guides" / f"{lesson}.toml").open("a") as guide:
        guide.write(f"\n{block('toml', '[exercises')}")


def with_cells(notebook: NotebookNode, package: str) -> NotebookNode:
    """Add the cells behind those of the last exercise, as they are after a complete run."""
    graded = [n for n, cell in enumerate(notebook.cells) if cell.metadata.get("nbgrader", {}).get("grade")]
    number = len(graded) + 1
    statement = f"### Exercise {number}: labels from the end\n\n{STATEMENT}"
    with_minutes(notebook.cells[0], number)
    answer = nbformat.v4.new_code_cell(block("python", "def reverse"), id="reversed-labels-answer")
    call = block("python", "jpeg_vs_zip.").replace(EXAMPLE, package)
    check = nbformat.v4.new_code_cell(call.strip(), id="reversed-labels")
    namespace = {"answer": answer, "check": check}
    exec(block("python", "marks ="), namespace)
    verdict = wrap("✓ the labels come in reverse order") + "\n"
    check.outputs = [nbformat.v4.new_output("stream", name="stdout", text=verdict)]
    statement_cell = nbformat.v4.new_markdown_cell(statement, id="reversed-labels-statement")
    notebook.cells[graded[-1] + 1 : graded[-1] + 1] = [statement_cell, answer, check]
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    for number, cell in enumerate(code, 1):
        cell.execution_count = number
    return notebook


def with_minutes(title: NotebookNode, exercise: int) -> None:
    """Add the exercise to the last section in the table of minutes."""
    *_, last = re.finditer(r"^\|(.*)\| (\d+) \|$", title.source, re.MULTILINE)
    row = f"|{last[1].rstrip()}; exercise {exercise} | {int(last[2]) + 5} |"
    title.source = title.source[: last.start()] + row + title.source[last.end() :]


def bank() -> str:
    example = block("markdown", f"# {NAME}").rstrip()
    right = [
        f"## right_{name}\n\n```python\ndef reverse(labels):\n{code}\n```" for name, code in RIGHT.items()
    ]
    diff = "```diff\n@@\n-    return labels[::-1]\n+    return {}\n```"
    wrong = [
        f"## wrong_{name}\n\n- mistake: {mistake}\n- from: right_slice\n\n{diff.format(code)}"
        for name, (mistake, code) in WRONG.items()
    ]
    return "\n\n".join([example, *right, *wrong, ""])


@pytest.mark.proof
@pytest.mark.parametrize("lesson", ["02_multi_worker_handles"])  # another than the page's own
def test_example_of_contributing_is_accepted_everywhere(tmp_path, lesson):
    course = tmp_path / "course"
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=COURSE, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(COURSE / name, course / name)
    add_exercise(course, lesson)
    environment = {**os.environ, "PYTHONPATH": str(course), "COURSE_DATA": str(data_dir())}

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", *arguments]
        done = subprocess.run(
            command, cwd=course, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert done.returncode == 0, done.stdout[-4000:]

    for git in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *git], cwd=course, check=True)
    run("grading.nbgrader_plugins.release", "--force")
    looks = LOOKS.format(name=NAME, lesson=lesson, package=lesson[3:])
    run("pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=short", "-k", looks, *TESTS)
