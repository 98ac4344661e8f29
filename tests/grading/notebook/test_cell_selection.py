"""Which cells of a submission run."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from grading.notebook.cell_selection import cells_to_run


def test_setup_answers_graded_and_changed_cells_run_and_demonstrations_do_not():
    setup = new_code_cell("import math", metadata={"tags": ["setup"]})
    demo = new_code_cell("long_benchmark()")
    answer = new_code_cell("x = 1", metadata={"nbgrader": {"solution": True, "grade": False}})
    graded = new_code_cell("check(x)", metadata={"nbgrader": {"solution": False, "grade": True}})
    source = new_notebook(cells=[setup, demo, answer, graded])
    own = new_code_cell("helper = 2")
    submission = new_notebook(cells=[setup, demo, new_markdown_cell("text"), own, answer, graded])
    assert cells_to_run(submission, source) == [True, False, False, True, True, True]


def test_changed_demonstration_runs():
    source = new_notebook(cells=[new_code_cell("benchmark()")])
    assert cells_to_run(new_notebook(cells=[new_code_cell("benchmark(2)")]), source) == [True]
