"""Submissions whose files are not as released, by accident or on purpose; and honest unusual ones."""

import json
import os
from pathlib import Path

from tests.grading.attacks.attack import ALL_POINTS, WRONG, Attack
from tests.grading.attacks.damage import RIGHT
from tests.grading.toy_course import cell_of

TAMPERED, DAMAGED = ("tampered",), ("damaged",)


def _marks(name, **marks):
    def change(notebook):
        cell_of(notebook, name).metadata["nbgrader"].update(marks)

    return change


def _notebook(path: Path) -> Path:
    [file] = path.glob("*.ipynb")
    return file


def _raw(edit):
    """Return a function that edits the notebook's JSON."""

    def folder(path: Path):
        file = _notebook(path)
        data = json.loads(file.read_text())
        edit(data)
        file.write_text(json.dumps(data))

    return folder


def _text(edit):
    """Return a function that edits the notebook's bytes."""

    def folder(path: Path):
        file = _notebook(path)
        file.write_bytes(edit(file.read_bytes()))

    return folder


def _swapped(notebook):
    first, second = cell_of(notebook, "total"), cell_of(notebook, "largest")
    first.metadata.nbgrader.grade_id, second.metadata.nbgrader.grade_id = "largest", "total"


def _source(name, source):
    def change(notebook):
        cell_of(notebook, name).source = source

    return change


def _each(function):
    return _raw(lambda data: [function(cell) for cell in data["cells"]])


def _write(name, data):
    return lambda path: (path / name).write_bytes(data)


def _shadows(path: Path):
    for name in ("json", "numpy", "course_utils", "sitecustomize", "usercustomize", "random", "toy_checks"):
        (path / f"{name}.py").write_text("print('SEC' 'RET_OF_THE_TEACHER shadow ran')")
    (path / "toy_checks").mkdir()
    (path / "toy_checks" / "__init__.py").write_text("print('SEC' 'RET_OF_THE_TEACHER shadow ran')")
    (path / "evil.pth").write_text("import os; os._exit(1)")


def _many(path: Path):
    for number in range(1500):
        (path / f"extra{number}.txt").write_text("x")


HONEST = Attack(RIGHT, points=ALL_POINTS, statuses=("right",))


def honest(text="", change=None, folder=None, statuses=("right",), points=ALL_POINTS):
    return Attack(text + RIGHT, change, folder, points, statuses)


def _own_cells(notebook):
    from nbformat.v4 import new_code_cell, new_markdown_cell

    notebook.cells.insert(3, new_code_cell("helper = sum"))
    notebook.cells.insert(3, new_markdown_cell("<script>alert('mine')</script> my notes"))
    cell_of(notebook, "total_answer").source = "def total_of(numbers):\n    return helper(numbers)"


def _setup_changed(notebook):
    [cell] = [cell for cell in notebook.cells if cell.get("id") == "setup"]
    cell.source += "\nimport functools"
    cell_of(notebook, "total_answer").source = "total_of = functools.partial(sum)"


ATTACKS = {
    "points_raised": Attack(change=_marks("total", points=100), statuses=TAMPERED),
    "points_negative": Attack(change=_marks("total", points=-5), statuses=TAMPERED),
    "points_of_another_type": Attack(change=_marks("total", points="many"), statuses=TAMPERED),
    "grade_ids_swapped": Attack(change=_swapped, statuses=("damaged", "tampered")),
    "grade_id_invented": honest(change=_marks("total", grade_id="bonus"), statuses=DAMAGED),
    "test_replaced": Attack(change=_source("total", "assert True"), statuses=TAMPERED),
    "test_emptied": Attack(change=_source("total", ""), statuses=TAMPERED),
    "test_calls_another_check": Attack(
        change=_source("total", "arithmetic.largest(largest_of)"), statuses=TAMPERED
    ),
    "test_hands_over_another_answer": Attack(
        change=_source("total", "arithmetic.total(sum)"), statuses=TAMPERED
    ),
    "test_made_a_solution": Attack(change=_marks("total", solution=True), statuses=TAMPERED),
    "test_not_graded": Attack(change=_marks("total", grade=False), statuses=TAMPERED),
    "test_unlocked": Attack(change=_marks("total", locked=False), statuses=TAMPERED),
    "task_flag": Attack(change=_marks("total", task=True), statuses=TAMPERED),
    "answer_made_graded": Attack(change=_marks("total_answer", grade=True, points=50), statuses=TAMPERED),
    "checksum_forged": honest(change=_marks("total", checksum="0" * 32)),
    "schema_version": honest(change=_marks("total", schema_version=99)),
    "schema_version_old": honest(change=_marks("total", schema_version=1)),
    "test_retyped": honest(
        folder=_each(lambda c: c.update(cell_type="markdown") if c["id"] == "total" else 0), statuses=DAMAGED
    ),
    "test_raw": honest(
        folder=_each(lambda c: c.update(cell_type="raw") if c["id"] == "total" else 0), statuses=DAMAGED
    ),
    "test_deleted": honest(
        folder=_raw(lambda d: d.update(cells=[c for c in d["cells"] if c["id"] != "total"])), statuses=DAMAGED
    ),
    "answer_deleted": Attack(
        folder=_raw(lambda d: d.update(cells=[c for c in d["cells"] if c["id"] != "total-answer"])),
        statuses=DAMAGED,
    ),
    "everything_deleted": Attack(folder=_raw(lambda d: d.update(cells=[])), points=0, statuses=DAMAGED),
    "tests_duplicated": honest(folder=_raw(lambda d: d["cells"].extend(d["cells"][-1:])), statuses=DAMAGED),
    "answers_duplicated": honest(folder=_raw(lambda d: d["cells"].extend(d["cells"][3:4])), statuses=DAMAGED),
    "cells_reversed": honest(folder=_raw(lambda d: d["cells"].reverse()), statuses=DAMAGED),
    "ids_lost": honest(folder=_each(lambda c: c.pop("id")), points=ALL_POINTS),
    "ids_the_same": honest(folder=_each(lambda c: c.update(id="same"))),
    "metadata_lost": honest(folder=_each(lambda c: c.update(metadata={})), statuses=DAMAGED),
    "metadata_a_list": honest(folder=_each(lambda c: c.update(metadata=[1])), statuses=DAMAGED),
    "nbgrader_metadata_a_text": honest(
        folder=_each(lambda c: c["metadata"].update(nbgrader="x")), statuses=DAMAGED
    ),
    "tags_a_number": honest(folder=_each(lambda c: c["metadata"].update(tags=5))),
    "source_a_text": honest(folder=_each(lambda c: c.update(source="".join(c["source"])))),
    "source_a_number": Attack(
        folder=_each(lambda c: c.update(source=7) if c["id"] == "total-answer" else 0), statuses=DAMAGED
    ),
    "cells_a_text": Attack(folder=_raw(lambda d: d.update(cells="x")), points=0, statuses=DAMAGED),
    "cells_of_nothing": honest(folder=_raw(lambda d: d["cells"].extend([None, 1, {}, []])), statuses=DAMAGED),
    "kernel_of_another_language": honest(
        folder=_raw(lambda d: d["metadata"].update(kernelspec={"name": "ir", "language": "R"})),
        statuses=DAMAGED,
    ),
    "no_notebook_metadata": honest(folder=_raw(lambda d: d.update(metadata=None))),
    "format_of_the_future": honest(folder=_raw(lambda d: d.update(nbformat=9)), statuses=DAMAGED),
    "json_cut_off": Attack(folder=_text(lambda text: text[: len(text) // 2]), points=0, statuses=DAMAGED),
    "json_empty": Attack(folder=_text(lambda text: b""), points=0, statuses=DAMAGED),
    "deeply_nested_json": Attack(folder=_text(lambda text: b"[" * 10**6), points=0, statuses=DAMAGED),
    "json_a_list": Attack(folder=_text(lambda text: b"[1, 2]"), points=0, statuses=DAMAGED),
    "not_utf8": Attack(folder=_text(lambda text: b"\xff\xfe" + text), statuses=DAMAGED),
    "byte_order_mark": honest(folder=_text(lambda text: b"\xef\xbb\xbf" + text)),
    "surrogates": Attack(
        folder=_each(lambda c: c.update(source="\ud800") if c["id"] == "total-answer" else 0)
    ),
    "null_bytes": Attack(
        folder=_each(lambda c: c.update(source="x = '\0'") if c["id"] == "total-answer" else 0),
        error="SyntaxError",
    ),
    "huge_notebook": Attack(
        folder=_text(lambda text: b'{"cells": "' + b"x" * 70 * 2**20 + b'"}'), points=0, statuses=DAMAGED
    ),
    "ten_thousand_cells": honest(
        folder=_raw(
            lambda d: d["cells"].extend([{"cell_type": "markdown", "metadata": {}, "source": "x"}] * 10**4)
        ),
        statuses=DAMAGED,
    ),
    "notebook_renamed": honest(
        folder=lambda path: _notebook(path).rename(path / "mine.ipynb"), statuses=DAMAGED
    ),
    "notebook_missing": Attack(folder=lambda path: _notebook(path).unlink(), points=0, statuses=DAMAGED),
    "another_notebook_too": honest(folder=_write("copy.ipynb", b"{}")),
    "time_stamp_rubbish": honest(folder=_write("timestamp.txt", b"yesterday"), statuses=TAMPERED),
    "time_stamp_binary": honest(folder=_write("timestamp.txt", b"\xff\0\xfe"), statuses=TAMPERED),
    "time_stamp_of_the_future": honest(
        folder=_write("timestamp.txt", b"2999-01-01 00:00:00 UTC"), statuses=TAMPERED
    ),
    "time_stamp_removed": honest(),
    "files_that_shadow_modules": honest(folder=_shadows),
    "too_many_files": honest(folder=_many, statuses=DAMAGED),
    "pipe": honest(folder=lambda path: os.mkfifo(path / "pipe"), statuses=TAMPERED),
    "file_name_with_control_characters": honest(folder=_write("odd \n\x1b[31m name.txt", b"x")),
    "lesson_file_replaced": honest(folder=_write("lesson_file.txt", b"mine")),
    "honest": HONEST,
    "honest_prints": honest("print('thinking')"),
    "honest_warns": honest("import warnings\nwarnings.warn('careful')"),
    "honest_writes_to_stderr": honest("import sys\nprint('loading', file=sys.stderr)"),
    "honest_and_slow": honest("import time\ntime.sleep(2)"),
    "honest_with_a_log": honest("import logging\nlogging.error('to the error stream')"),
    "honest_with_own_cells": honest(change=_own_cells),
    "honest_with_a_changed_setup": honest(change=_setup_changed),
    "honest_with_an_error_before": Attack("1 / 0", points=4, error="ZeroDivisionError"),
    "honest_with_a_module": Attack(
        "%%writefile mine.py\ndef total_of(numbers):\n    return sum(numbers)",
        change=lambda notebook: cell_of(notebook, "largest_answer").update(
            source="from mine import total_of\ndef largest_of(numbers):\n    return max(numbers)"
        ),
        points=ALL_POINTS,
        statuses=("damaged",),
    ),
    "honest_with_processes": honest(
        "import multiprocessing\nwith multiprocessing.get_context('fork').Pool(2) as pool:\n    pool.map(abs, [1, 2])"
    ),
    "honest_with_a_shell_command": honest("!echo hello"),
    "honest_with_await": honest("import asyncio\nawait asyncio.sleep(0.01)"),
    "unsolved": Attack("raise NotImplementedError()", error="NotImplementedError"),
    "wrong_by_mistake": Attack(WRONG),
}
