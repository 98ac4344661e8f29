"""What stands in a solution's saved outputs, and how much of it nbval compares."""

import re

from nbformat import NotebookNode

from tests.lessons.lesson import Lesson, code_cells, read

FIGURE = re.compile(r"<Figure size \d+x\d+ with \d+ Axes>")
OF_ONE_MACHINE = re.compile(r"(?<![\w.])/(root|home|Users|tmp|work)/")


def text_of(output: NotebookNode) -> str:
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def compared(cell: NotebookNode) -> bool:
    """Says whether nbval compares what the cell shows; it compares no pictures."""
    ignored = {"nbval-ignore-output", "nbval-skip"} & set(cell.metadata.get("tags", []))
    seen = "".join(FIGURE.sub("", text_of(output)) for output in cell.outputs)
    return not ignored and "NBVAL_" not in cell.source and bool(seen.strip())


def test_nbval_compares_most_outputs(lesson: Lesson):
    shown = [cell for cell in code_cells(read(lesson.solution)) if cell.outputs]
    kept = [cell for cell in shown if compared(cell)]
    assert len(kept) >= 0.7 * len(shown), f"{len(kept)} of {len(shown)} cells with output are compared"


def test_the_outputs_are_of_one_run_from_top_to_bottom(lesson: Lesson):
    counts = [cell.execution_count for cell in code_cells(read(lesson.solution)) if cell.source.strip()]
    assert counts == list(range(1, len(counts) + 1))


def test_nothing_went_to_stderr_and_nothing_failed(lesson: Lesson):
    for cell in code_cells(read(lesson.solution)):
        for output in cell.outputs:
            assert output.output_type != "error", cell.source
            assert output.get("name") != "stderr", cell.source


def test_no_output_names_a_folder_of_one_machine(lesson: Lesson):
    for cell in code_cells(read(lesson.solution)):
        for output in cell.outputs:
            assert not OF_ONE_MACHINE.search(text_of(output)), cell.source


def test_the_notebook_holds_no_widget_state(lesson: Lesson):
    assert "widgets" not in read(lesson.solution).metadata


def test_every_picture_is_described_in_words(lesson: Lesson):
    for cell in read(lesson.solution).cells:
        if cell.cell_type == "markdown":
            assert "![](" not in cell.source, "a picture without alt text"
