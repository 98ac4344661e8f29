"""Honest work that is not as released keeps its points, whatever students or programs did to the notebook."""

import copy
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.notebook.restore import restore_notebook
from grading.scoring.examination import sandbox_steps
from grading.scoring.judge import Judge
from grading.scoring.missing_names import find_missing_names
from tests.grading.toy_course import LESSON, RIGHT, make_course, submit

SAMPLES = {"total": ([3, 1, 2], 6), "largest": ([3, 1, 2], 3), "backwards": ("abc", "cba")}
ANSWER = RIGHT["total"]
STUB = "def total_of(numbers):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def solved(course):
    return json.loads((submit(course, "ann") / f"{LESSON}.ipynb").read_text())


def grade(lesson, raw):
    """Return the exercises that are right, and the kinds of findings; the cells run here, in order."""
    restored = restore_notebook(raw, lesson.released)
    names, right = {}, set()
    for step in sandbox_steps(lesson, restored.notebook, Judge(lesson, 1)):
        try:
            if step.check:
                given, expected = SAMPLES[step.check]
                [answer] = eval(f"({step.source})", names)
                right |= {step.check} if answer(copy.copy(given)) == expected else set()
            else:
                exec(step.source.removeprefix("%%time\n"), names)
        except Exception:  # as in the sandbox, an error ends a cell and not the notebook
            continue
    findings = restored.findings
    return right, {finding.kind for finding in findings}


def code(source, **more):
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": 1,
        **more,
    }


def place_of(data, cell_id):
    return next(place for place, cell in enumerate(data["cells"]) if cell.get("id") == cell_id)


def cell_of(data, cell_id):
    return data["cells"][place_of(data, cell_id)]


def put(data, cell_id, offset, *cells):
    place = place_of(data, cell_id) + offset
    data["cells"][place:place] = cells


CHANGES = {}


def change(function):
    CHANGES[function.__name__] = function
    return function


@change
def nothing(data):
    pass


@change
def import_of_a_demonstration(data):
    cell_of(data, "total-answer")["source"] = (
        "def total_of(numbers):\n    return [*itertools.accumulate(numbers)][-1]"
    )


@change
def function_and_constant_of_a_demonstration(data):
    source = "def total_of(numbers):\n    return last((*numbers, FIRST + sum(numbers)))"
    cell_of(data, "total-answer")["source"] = source


@change
def import_of_a_demonstration_that_became_text(data):
    import_of_a_demonstration(data)
    cell_of(data, "demo")["cell_type"] = "markdown"


@change
def answer_below_its_check(data):
    cell_of(data, "total-answer")["source"] = STUB
    put(data, "total", 1, code("helper = sum"), code("def total_of(numbers):\n    return helper(numbers)"))


@change
def answer_below_its_check_and_answer_cell_deleted(data):
    put(data, "total", 1, code(ANSWER))
    del data["cells"][place_of(data, "total-answer")]


@change
def answer_below_its_check_by_assignment(data):
    cell_of(data, "total-answer")["source"] = ""
    put(data, "total", 1, code("%%time\ntotal_of = sum"))


@change
def answer_above_the_untouched_cell(data):
    put(data, "total-answer", 0, code(ANSWER))
    cell_of(data, "total-answer")["source"] = STUB


def leave_untouched(data, *names):
    for name in names:
        head = RIGHT[name].partition("\n")[0]
        cell_of(data, f"{name}-answer")["source"] = (
            f"{head}\n    # YOUR CODE HERE\n    raise NotImplementedError()"
        )


@change
def all_answers_in_the_last_cell(data):
    leave_untouched(data, *RIGHT)
    data["cells"].append(code("\n\n".join(RIGHT.values())))


@change
def all_answers_in_the_first_cell(data):
    leave_untouched(data, *RIGHT)
    data["cells"].insert(0, code("\n\n".join(RIGHT.values())))


@change
def two_answers_in_one_answer_cell(data):
    leave_untouched(data, "largest")
    cell_of(data, "total-answer")["source"] = f"{ANSWER}\n\n{RIGHT['largest']}"


@change
def answers_in_each_others_cells(data):
    cell_of(data, "total-answer")["source"] = RIGHT["largest"]
    cell_of(data, "largest-answer")["source"] = ANSWER


@change
def answer_in_a_demonstration(data):
    leave_untouched(data, "total")
    cell_of(data, "demo")["source"] = ANSWER


@change
def helpers_of_an_answer_below_everything(data):
    cell_of(data, "total-answer")["source"] = "def total_of(numbers):\n    return helper(numbers)"
    helper = "def helper(numbers):\n    return functools.reduce(add, numbers, START)"
    data["cells"] += [
        code(f"{helper}\nraise RuntimeError('a trial')"),
        code("from operator import add\nSTART = 0"),
    ]


@change
def import_in_a_later_answer(data):
    cell_of(data, "total-answer")["source"] = (
        "def total_of(numbers):\n    return functools.reduce(add, numbers)"
    )
    cell_of(data, "largest-answer")["source"] = f"from operator import add\n{RIGHT['largest']}"


@change
def trial_below_that_uses_the_same_local_names(data):
    cell_of(data, "total-answer")["source"] = (
        "def total_of(numbers):\n    result = sum(numbers)\n    return result"
    )
    data["cells"].append(code("result = 0\nnumbers = [1]"))


@change
def setup_as_text(data):
    cell_of(data, "setup")["cell_type"] = "markdown"


@change
def setup_as_raw_text(data):
    cell_of(data, "setup").update(cell_type="raw", id="another")


@change
def setup_deleted(data):
    del data["cells"][place_of(data, "setup")]


@change
def setup_extended(data):
    cell_of(data, "setup")["source"] += "\nimport random, operator"
    cell_of(data, "total-answer")["source"] = "total_of = lambda n: functools.reduce(operator.add, n)"


@change
def setup_replaced_by_imports(data):
    cell_of(data, "setup")["source"] = "import random"


@change
def cell_split_with_its_metadata(data):
    half = copy.deepcopy(cell_of(data, "total-answer")) | {
        "source": "def add(numbers):\n    return sum(numbers)"
    }
    cell_of(data, "total-answer").update(source="total_of = add", id="another")
    put(data, "another", 0, half | {"id": "total-answer"})


@change
def cell_split_without_its_metadata(data):
    put(data, "total-answer", 1, code("total_of = add"))
    cell_of(data, "total-answer")["source"] = "def add(numbers):\n    return sum(numbers)"


@change
def answer_merged_into_its_check(data):
    check = cell_of(data, "total")
    check["source"] = f"{ANSWER}\n\n{''.join(check['source'])}"
    del data["cells"][place_of(data, "total-answer")]


@change
def check_merged_into_its_answer(data):
    cell_of(data, "total-answer")["source"] = f"{ANSWER}\n\n{''.join(cell_of(data, 'total')['source'])}"
    del data["cells"][place_of(data, "total")]


@change
def empty_copy_below_the_answer(data):
    put(
        data, "total-answer", 1, copy.deepcopy(cell_of(data, "total-answer")) | {"source": STUB, "id": "copy"}
    )


@change
def empty_copy_above_the_answer(data):
    put(
        data, "total-answer", 0, copy.deepcopy(cell_of(data, "total-answer")) | {"source": STUB, "id": "copy"}
    )


@change
def older_copy_above_the_answer(data):
    older = {"source": "def total_of(numbers):\n    return 0", "id": "copy"}
    put(data, "total-answer", 0, copy.deepcopy(cell_of(data, "total-answer")) | older)


@change
def answer_as_raw_text(data):
    cell_of(data, "total-answer")["cell_type"] = "raw"


@change
def all_metadata_lost(data):
    for cell in data["cells"]:
        cell["metadata"] = {}


@change
def ids_and_metadata_lost(data):
    for cell in data["cells"]:
        cell["metadata"] = {}
        del cell["id"]


@change
def executed_with_outputs(data):
    for number, cell in enumerate(cell for cell in data["cells"] if cell["cell_type"] == "code"):
        cell["execution_count"] = 10**30 + number
        cell["outputs"] = [
            {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}, "metadata": {}}
        ]


@change
def numbers_beyond_64_bits(data):
    data["metadata"]["started"] = 10**30
    for cell in data["cells"]:
        cell["metadata"] |= {"time": 10**30, "float": 1e308}


@change
def tags_of_ones_own(data):
    for cell in data["cells"]:
        cell["metadata"]["tags"] = [*cell["metadata"].get("tags", []), "to do", "hide-input"]


@change
def kernel_of_the_site(data):
    data["metadata"]["kernelspec"] = {
        "name": "feeding-the-gpu",
        "display_name": "Feeding the GPU",
        "language": "python",
    }


@change
def saved_by_vs_code(data):
    data["metadata"] |= {
        "language_info": {"name": "python", "version": "3.12.1"},
        "vscode": {"interpreter": {}},
    }
    data["metadata"]["kernelspec"] = {
        "name": "python3",
        "display_name": ".venv (3.12.1)",
        "language": "python",
    }
    for cell in data["cells"]:
        cell["metadata"] |= {"vscode": {"languageId": "python"}, "execution": {"iopub.status.busy": "2026"}}


@change
def saved_by_colab(data):
    data["nbformat_minor"] = 0
    data["metadata"] |= {"colab": {"provenance": []}, "accelerator": "GPU"}
    data["metadata"]["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    for number, cell in enumerate(data["cells"]):
        cell["metadata"] |= {"id": f"xYz{number}", "colab": {"base_uri": "https://localhost:8080/"}}
        del cell["id"]


@change
def windows_line_ends(data):
    for cell in data["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n").splitlines(keepends=True)


@change
def formatted_on_saving(data):
    for cell in data["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = (
                "# formatted\n" + "".join(cell["source"]).replace("'", '"').replace("(", "(  ") + "  \n"
            )


@change
def words_that_only_look_dangerous(data):
    lines = [
        "# without ctypes, sys.modules or eval(",
        "text = 'builtins __globals__ exec('",
        "run = lambda m: m.eval()",
    ]
    cell_of(data, "total-answer")["source"] = "\n".join([*lines, ANSWER])


AS_RELEASED = {
    "nothing", "import_of_a_demonstration", "function_and_constant_of_a_demonstration", "setup_as_text",
    "import_of_a_demonstration_that_became_text", "setup_as_raw_text", "setup_deleted", "setup_extended",
    "setup_replaced_by_imports", "executed_with_outputs", "numbers_beyond_64_bits", "tags_of_ones_own",
    "kernel_of_the_site", "saved_by_vs_code", "saved_by_colab", "windows_line_ends",
    "answer_above_the_untouched_cell", "all_answers_in_the_first_cell", "two_answers_in_one_answer_cell",
    "answer_in_a_demonstration", "trial_below_that_uses_the_same_local_names",
    "formatted_on_saving", "words_that_only_look_dangerous", "cell_split_without_its_metadata",
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changed_notebook_keeps_its_points(course, solved, name):
    data = copy.deepcopy(solved)
    CHANGES[name](data)
    right, kinds = grade(course.lesson(LESSON), json.dumps(data).encode())
    assert right == set(SAMPLES)
    assert kinds - {"other version"} == (set() if name in AS_RELEASED else {"damaged"})


def in_format_3(data):
    cells = [
        {**cell, "input": cell.pop("source"), "prompt_number": 1} for cell in copy.deepcopy(data["cells"])
    ]
    sheets = [{"cells": cells[:3], "metadata": {}}, {"cells": cells[3:], "metadata": {}}]
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": sheets}


ENCODINGS = {
    "utf-8 with a mark": lambda text: text.encode("utf-8-sig"),
    "utf-16": lambda text: text.encode("utf-16"),
    "utf-16 without a mark": lambda text: text.encode("utf-16-le"),
    "utf-16, zero bytes at the end": lambda text: text.encode("utf-16") + b"\0\0\0\0",
    "utf-32": lambda text: text.encode("utf-32"),
    "latin-1": lambda text: text.encode("latin-1"),
    "windows": lambda text: text.replace("ü", "–").encode("cp1252"),
    "zero bytes at the end": lambda text: text.encode() + bytes(4096),
    "space around": lambda text: f"\n\n {text}\n".encode(),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_encoding_of_a_file_costs_no_points(course, solved, name):
    data = copy.deepcopy(solved)
    cell_of(data, "total-answer")["source"] = f"# für alle Größen\n{ANSWER}"
    raw = ENCODINGS[name](json.dumps(data, ensure_ascii=False))
    right, kinds = grade(course.lesson(LESSON), raw)
    assert right == set(SAMPLES)
    assert kinds <= {"damaged"}


def test_notebook_of_format_3_keeps_its_points(course, solved):
    right, kinds = grade(course.lesson(LESSON), json.dumps(in_format_3(solved)).encode())
    assert (right, kinds) == (set(SAMPLES), {"damaged"})


@pytest.mark.parametrize("name", ["nothing", "windows_line_ends", "formatted_on_saving", "saved_by_colab"])
def test_demonstration_itself_does_not_run(course, solved, name):
    data = copy.deepcopy(solved)
    CHANGES[name](data)
    restored = restore_notebook(json.dumps(data).encode(), course.lesson(LESSON).released)
    sources = [
        step.source
        for step in sandbox_steps(course.lesson(LESSON), restored.notebook, Judge(course.lesson(LESSON), 1))
    ]
    [demonstration] = [source for source in sources if "itertools" in source]
    assert [line.split("(")[0].strip() for line in demonstration.splitlines()] == [
        "import itertools",
        "FIRST = 0",
        "@functools.cache",
        "def last",
        "return items[-1]",
    ]
    assert not re.search("raise RuntimeError", "".join(sources))


def test_answer_is_not_taken_from_below_if_its_cell_was_filled_in(course, solved):
    data = copy.deepcopy(solved)
    cell_of(data, "total-answer")["source"] = "def total_of(numbers):\n    return 0"
    put(data, "total", 1, code(ANSWER))
    assert grade(course.lesson(LESSON), json.dumps(data).encode())[0] == {"largest", "backwards"}


@pytest.mark.parametrize(("status", "found"), [("wrong", ["'size'"]), ("right", [])])
def test_value_that_only_a_demonstration_computes_is_reported(course, status, found):
    message = "The answer raised NameError: name 'size' is not defined, and name 'mine' is not defined"
    exercise = {
        "status": status,
        "points": 0,
        "max_points": 2,
        "mistake": "crash",
        "message": message,
        "seconds": 0,
    }
    findings = find_missing_names(course.lesson(LESSON), [exercise], [])
    assert [finding.what.split()[0] for finding in findings] == found


def strip_metadata(data, place):
    data["cells"][place]["metadata"] = {}


def strip_id(data, place):
    data["cells"][place].pop("id", None)


def own_cells(data, place):
    data["cells"].insert(place, code(f"mine_{place} = {place}"))
    data["cells"].insert(place, {"cell_type": "markdown", "metadata": {}, "source": f"note {place}"})


def change_kind(data, place):
    if data["cells"][place].get("id") in ("setup", "demo", *SAMPLES):
        data["cells"][place]["cell_type"] = "markdown"


def delete(data, place):
    if data["cells"][place].get("id") in ("setup", "demo", "title", *SAMPLES):
        del data["cells"][place]


def comment(data, place):
    cell = data["cells"][place]
    cell["source"] = f"# note\n{''.join(cell['source'])}\n"


def copy_of_stub(data, place):
    data["cells"].insert(place, code(STUB))


def extra_metadata(data, place):
    data["cells"][place]["metadata"]["mine"] = {"number": 10**30, "list": [None, 1.5]}


def move_text(data, place):
    if data["cells"][place]["cell_type"] == "markdown":
        data["cells"].insert(0, data["cells"].pop(place))


EDITS = [
    strip_metadata,
    strip_id,
    own_cells,
    change_kind,
    delete,
    comment,
    copy_of_stub,
    extra_metadata,
    move_text,
]
EDITING = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 30)), max_size=12)


def check_edits(course, solved, edits, encoding):
    data = copy.deepcopy(solved)
    for edit, place in edits:
        edit(data, place % len(data["cells"]))
    right, _ = grade(course.lesson(LESSON), json.dumps(data).encode(encoding))
    assert right == set(SAMPLES)


@settings(max_examples=20)
@given(EDITING, st.sampled_from(["utf-8", "utf-16"]))
def test_harmless_edits_cost_no_points(course, solved, edits, encoding):
    check_edits(course, solved, edits, encoding)


@pytest.mark.proof
@settings(max_examples=1000)
@given(EDITING, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1"]))
def test_no_harmless_edits_of_many_cost_points(course, solved, edits, encoding):
    check_edits(course, solved, edits, encoding)
