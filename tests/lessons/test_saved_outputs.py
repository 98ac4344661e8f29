"""Check texts and saved outputs of the solutions, and that nbval compares most outputs."""

import itertools
import re
from collections.abc import Iterator

import pytest
from nbformat import NotebookNode

from course_utils.checks.core import wrap
from tests.lessons.lesson import FENCED, LESSONS, OPTIONAL, Lesson, code_cells, fails_on_purpose, graded, read

FIGURE = re.compile(r"<Figure size \d+x\d+ with \d+ Axes>")
FOR_TOOLS = re.compile(r"# *(noqa|type: ignore|pragma|mypy|ruff)\b")
EXERCISE = re.compile(r"^(#+) Exercise (\d+): ", re.MULTILINE)
COLUMNS = 110  # what fits beside the files of a JupyterLab 1,400 pixels wide
HEADING = re.compile(r"#+ ")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LOCAL_PATH = re.compile(r"(?<![\w.])/(root|home|Users|tmp|work)/")


NOTEBOOKS = pytest.mark.parametrize(
    "lesson", [*LESSONS, *OPTIONAL], ids=lambda lesson: f"{lesson.folder}-{lesson.name}"
)


def text_of(output: NotebookNode) -> str:
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def compared(cell: NotebookNode) -> bool:
    """Return whether nbval compares the output of a cell; it does not compare images."""
    ignored = {"nbval-ignore-output", "nbval-skip"} & set(cell.metadata.get("tags", []))
    text = "".join(FIGURE.sub("", text_of(output)) for output in cell.outputs)
    return not ignored and "NBVAL_" not in cell.source and bool(text.strip())


@NOTEBOOKS
def test_nbval_compares_most_outputs(lesson: Lesson):
    # Each lesson ends with a run of the student's own script.
    cells = [cell for cell in code_cells(read(lesson.solution)) if "train_script.measure(" not in cell.source]
    shown = [cell for cell in cells if cell.outputs]
    kept = [cell for cell in shown if compared(cell)]
    # The others are measurements, which differ from run to run.
    assert len(kept) >= 2 / 3 * len(shown), f"{len(kept)} of {len(shown)} cells with output are compared"


@NOTEBOOKS
def test_outputs_come_from_one_run_from_top_to_bottom(lesson: Lesson):
    counts = [cell.execution_count for cell in code_cells(read(lesson.solution)) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1)), "execute the notebook: CONTRIBUTING.md, Add an exercise"


@NOTEBOOKS
def test_no_cell_failed_or_wrote_to_stderr(lesson: Lesson):
    for cell in code_cells(read(lesson.solution)):
        for output in cell.outputs:
            assert output.output_type != "error" or fails_on_purpose(cell), cell.source
            assert output.get("name") != "stderr", cell.source


@NOTEBOOKS
def test_lines_of_outputs_fit_on_a_screen(lesson: Lesson):
    """JupyterLab breaks a longer line anywhere, also inside words."""
    for cell in code_cells(read(lesson.solution)):
        for output in cell.outputs:
            drawn = {"image/png", "text/html"} & set(output.get("data", {}))
            for line in () if drawn else text_of(output).splitlines():
                assert len(line) <= COLUMNS, line


@NOTEBOOKS
def test_saved_verdicts_are_wrapped_as_checks_print_them(lesson: Lesson):
    """nbval compares them."""
    saved = [text_of(output) for cell in code_cells(read(lesson.solution)) for output in cell.outputs]
    verdicts = [text for text in saved if text.startswith("✓")]
    assert verdicts == [wrap(" ".join(text.split())) + "\n" for text in verdicts]
    assert len(verdicts) >= len(graded(read(lesson.solution)))


@NOTEBOOKS
def test_no_output_contains_a_local_path(lesson: Lesson):
    for cell in code_cells(read(lesson.solution)):
        for output in cell.outputs:
            told = "\n".join([text_of(output), output.get("evalue", ""), *output.get("traceback", [])])
            remedy = "shorten paths to torch/x.py and <this notebook>"
            assert not LOCAL_PATH.search(COLOUR.sub("", told)), f"{cell.id}: {remedy}"


@NOTEBOOKS
def test_shown_code_has_no_comments_for_tools(lesson: Lesson):
    """Neither in cells nor in the sources that they print."""
    for cell in code_cells(read(lesson.solution)):
        for text in (cell.source, *map(text_of, cell.outputs)):
            assert not FOR_TOOLS.search(text), cell.id


@NOTEBOOKS
def test_notebook_has_no_widget_state(lesson: Lesson):
    assert "widgets" not in read(lesson.solution).metadata


@NOTEBOOKS
def test_every_image_has_alt_text(lesson: Lesson):
    for cell in read(lesson.solution).cells:
        if cell.cell_type == "markdown":
            assert "![](" not in cell.source, "an image without alt text"


@NOTEBOOKS
def test_every_figure_is_described_below_it(lesson: Lesson):
    cells = read(lesson.solution).cells
    for cell, *below in (cells[place:] for place in range(len(cells))):
        if cell.cell_type == "code" and any("image/png" in output.get("data", {}) for output in cell.outputs):
            text = next(other.source for other in below if other.cell_type == "markdown")
            begins = re.match(r"\*The (picture|pictures|plot)\b", text)
            assert begins, f"{cell.id}: begin the cell below with '*The picture: ...*'"


def texts(lesson: Lesson) -> Iterator[tuple[str, str]]:
    return ((cell.id, cell.source) for cell in read(lesson.solution).cells if cell.cell_type == "markdown")


@NOTEBOOKS
def test_no_text_names_a_cell_by_its_id(lesson: Lesson):
    """JupyterLab does not show ids. One without a hyphen may also be a name in code."""
    ids = {cell.id for cell in read(lesson.solution).cells if "-" in cell.id}
    for cell, text in texts(lesson):
        assert not ids & set(re.findall(r"`([^`\n]+)`", text)), cell


def test_exercises_are_numbered_and_have_headings_of_one_level(lesson: Lesson):
    found = [match for _, text in texts(lesson) for match in EXERCISE.findall(text)]
    assert [int(number) for _, number in found] == list(range(1, len(found) + 1))
    assert len({level for level, _ in found}) == 1


@NOTEBOOKS
def test_blank_line_below_every_heading(lesson: Lesson):
    for cell, text in texts(lesson):
        for line, below in itertools.pairwise(FENCED.sub("", text).splitlines()):
            assert not (HEADING.match(line) and below.strip()), f"{cell}: {line}"


def test_every_lesson_opens_and_closes_alike(lesson: Lesson):
    lines = [line for _, text in texts(lesson) for line in FENCED.sub("", text).splitlines()]
    headings = [line for line in lines if HEADING.match(line)]
    assert [line for line in headings if line.startswith("# ")] == headings[:1], (
        "one title, above all sections"
    )
    assert headings[0].startswith(f"# Lesson {lesson.name[:2]}: ")
    assert headings[1] == "## Setup"
    assert "## Recap" in headings
    opening = read(lesson.solution).cells[0].source
    assert re.findall(r"^\*\*(.+?)\*\*", opening, re.MULTILINE) == ["You will learn", "You need", "Time"]


@NOTEBOOKS
def test_folded_answer_ends_its_cell(lesson: Lesson):
    """What stands below it would give it away."""
    for cell, text in texts(lesson):
        if "<summary>Our answer" in text:
            assert re.search(r"<summary>Our answer</summary>\n\n.+\n\n</details>$", text, re.DOTALL), cell
