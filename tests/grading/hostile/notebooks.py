"""Notebook files with values that break a parser, a printer or a database."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.grading.attacks.attack import ALL_POINTS, Attack
from tests.grading.attacks.damage import RIGHT
from tests.grading.toy_course import LESSON

DEEP = json.loads("[" * 400 + "]" * 400)
DAMAGED = ("damaged",)


def raw(
    change: Callable[[bytes], bytes], points: float = ALL_POINTS, says: str = "", *statuses: str
) -> Attack:
    def folder(path: Path):
        file = path / f"{LESSON}.ipynb"
        file.write_bytes(change(file.read_bytes()))

    return Attack(RIGHT, folder=folder, points=points, says=says, statuses=statuses or DAMAGED)


def edited(
    change: Callable[[dict[str, Any]], object], points: float = ALL_POINTS, says: str = "", *statuses: str
) -> Attack:
    def edit(data: bytes) -> bytes:
        notebook = json.loads(data)
        change(notebook)
        return json.dumps(notebook).encode()

    return raw(edit, points, says, *statuses or ("right",))


def on_cell(name: str, **changes: object) -> Callable[[dict[str, Any]], None]:
    def change(notebook: dict[str, Any]):
        [cell] = [one for one in notebook["cells"] if one["id"] == name]
        cell.update(changes)

    return change


def adding(**cell: object) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["cells"].append(
        {"cell_type": "code", "metadata": {}, "source": "", **cell}
    )


def marks(**more: object) -> Callable[[dict[str, Any]], None]:
    def change(notebook: dict[str, Any]):
        for cell in notebook["cells"]:
            if cell["id"] == "total-answer":
                cell["metadata"]["nbgrader"].update(more)

    return change


NOTEBOOKS = {
    "nested_100000_deep": raw(lambda data: b"[" * 100_000, 0, "cannot be read"),
    "nested_objects": raw(lambda data: b'{"cells":' * 100_000, 0, "cannot be read"),
    "metadata_nested_deep": edited(lambda nb: nb["metadata"].update(deep=DEEP)),
    "outputs_nested_deep": edited(on_cell("total-answer", outputs=DEEP)),
    "cell_id_nested_deep": edited(on_cell("total-answer", id=DEEP)),
    "format_nested_deep": edited(lambda nb: nb.update(nbformat=DEEP), ALL_POINTS, "format", *DAMAGED),
    "kernel_nested_deep": edited(lambda nb: nb["metadata"].update(kernelspec=DEEP)),
    "points_nested_deep": edited(marks(points=DEEP)),
    "number_of_4000_digits": edited(on_cell("total-answer", execution_count=10**4000)),
    "number_of_100000_digits": raw(
        lambda data: data.replace(b'"nbformat": 4', b'"nbformat": 4, "big": ' + b"9" * 100_000),
        ALL_POINTS,
        "",
        "right",
    ),
    "points_of_4000_digits": edited(marks(points=10**4000)),
    "format_beyond_64_bits": edited(lambda nb: nb.update(nbformat=2**70), ALL_POINTS, "format", *DAMAGED),
    "not_a_number": raw(
        lambda data: data.replace(b'"nbformat": 4', b'"nbformat": 4, "x": [NaN, -Infinity, 1e999]'),
        ALL_POINTS,
        "",
        "right",
    ),
    "surrogate_in_a_source": edited(adding(source="x = '\ud800'")),
    "surrogate_in_a_text": edited(adding(cell_type="markdown", source="\ud800\udfff\udfff")),
    "surrogates_in_metadata": edited(marks(**{"\ud800": "\udcff", "comment": "\ud800"})),
    "surrogate_in_a_grade_id": edited(
        adding(metadata={"nbgrader": {"grade_id": "\ud800"}}), ALL_POINTS, "not in this lesson", "tampered"
    ),
    "surrogate_in_an_attachment": edited(
        adding(
            cell_type="markdown",
            source="![x](attachment:\ud800)",
            attachments={"\ud800": {"image/png": "\ud800"}},
        )
    ),
    "attachments_nested_deep": edited(
        adding(cell_type="markdown", source="![x](attachment:a)", attachments={"a": {"image/png": DEEP}})
    ),
    "cell_of_two_megabytes": edited(adding(source="# " + "x" * 2**21), ALL_POINTS, "unknown form", *DAMAGED),
    "cells_of_20_megabytes": edited(
        lambda nb: [adding(source="# " + "x" * 10**6)(nb) for _ in range(20)], 0, "cannot be read", *DAMAGED
    ),
    "output_of_20_megabytes": edited(
        on_cell(
            "total-answer", outputs=[{"output_type": "stream", "name": "stdout", "text": "x" * 20 * 2**20}]
        )
    ),
    "five_thousand_cells": edited(
        lambda nb: nb["cells"].extend([{"cell_type": "raw", "source": "x"}] * 5000),
        ALL_POINTS,
        "those after the first 2,000",
        *DAMAGED,
    ),
    "five_hundred_invented_exercises": edited(
        lambda nb: [adding(metadata={"nbgrader": {"grade_id": f"e{n}"}})(nb) for n in range(500)],
        ALL_POINTS,
        "more",
        "tampered",
    ),
    "millions_of_lists": raw(lambda data: b'{"cells": [' + b"[]," * 5_000_000 + b"1]}", 0, "too many values"),
    "thirty_megabytes_of_spaces": raw(lambda data: b" " * 30 * 2**20, 0, "cannot be read"),
    "nothing_but_nulls": raw(lambda data: bytes(1000), 0, "cannot be read"),
    "no_cells": raw(lambda data: b'{"cells": {}}', 0, "cannot be read"),
    "cells_of_a_number": raw(lambda data: b'{"cells": 3}', 0, "cannot be read"),
    "worksheets_of_nothing": raw(lambda data: b'{"worksheets": [null]}', 0, "cannot be read"),
    "source_of_deep_brackets": edited(adding(source="(" * 5000), ALL_POINTS, "", "right"),
    "source_with_nulls": edited(adding(source="\0\0\0"), ALL_POINTS, "", "right"),
    "escapes_in_every_text": edited(
        lambda nb: [cell.update(id=f"\x1b[2J{n}") for n, cell in enumerate(nb["cells"])],
        ALL_POINTS,
        "",
        "right",
        "damaged",
    ),
}
