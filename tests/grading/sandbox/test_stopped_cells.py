"""A cell that an error, its time or the end of its process stops keeps what it defines below."""

from pathlib import Path

import numpy as np
import pytest

from course_utils.checks.core import evidence
from course_utils.validation.definitions import extract_definitions
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.steps import Handout, Step, definitions

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
pytestmark = pytest.mark.skipif(not KINDS, reason="no sandbox works here")
TOY = Path(__file__).parents[1] / "toy"
INPUTS = evidence.encode({"numbers": np.array([1, 2, 3])})
ENDS = {
    "a question": "input('How many? ')",
    "an exit": "import sys\nsys.exit()",
    "a missing file": "%run missing.py",
    "a magic that is not here": "%no_such_magic",
    "a definition": "class Broken(Missing):\n    pass",
    "a decorator": "@missing\ndef broken():\n    pass",
    "two definitions": "first = 1\nclass Broken(Missing):\n    pass\nclass Late(Missing):\n    pass",
}
KILLS = {
    "time": "import time\ntime.sleep(99)",
    "exit": "import os\nos._exit(3)",
}


@pytest.fixture(scope="module")
def sandbox():
    limits = Limits(cell_seconds=2, exercise_seconds=4)
    with Sandbox(KINDS[0], ("numpy",), limits, readable=[TOY], module_folders=[TOY]) as sandbox:
        yield sandbox


def run(sandbox: Sandbox, *sources: str):
    return list(sandbox.run([Step(*pair) for pair in enumerate(sources)], {}).values())


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("above", ["", "%%time\n", "%%capture\n", "%%capture kept_output\n"])
def test_error_takes_no_definition_below_it(sandbox, above, end):
    cell = f"{above}kept = []\nkept.append(1)\n{ENDS[end]}\ndef answer():\n    return 42\nkept.append(2)"
    stopped, later = run(sandbox, cell, "print(answer())")
    assert (later.text, later.error) == ("42\n", "")
    assert stopped.error


def test_error_leaves_what_ran_above_it_as_it_was(sandbox):
    cell = "rates = {}\nrates['warm'] = 3\ninput()\nunits = 'images/s'"
    _, later = run(sandbox, cell, "print(rates, units)")
    assert later.text == "{'warm': 3} images/s\n"


@pytest.mark.parametrize("end", KILLS)
def test_end_of_the_process_takes_no_definition(sandbox, end):
    cell = f"import math\n{KILLS[end]}\ndef answer():\n    return math.floor(42.5)"
    stopped, later = run(sandbox, cell, "print(answer())")
    assert (later.text, later.error) == ("42\n", "")
    assert stopped.outcome in ("timed out", "crashed")


def test_definition_that_ends_the_process_is_given_up(sandbox):
    cell = "print('begun')\nclass Broken:\n    import os\n    os._exit(3)"
    stopped, later = run(sandbox, cell, "print('later')")
    assert (stopped.outcome, later.text, later.error) == ("crashed", "later\n", "")


def test_experiments_that_use_up_the_time_take_no_answer(sandbox):
    slow = [Step(number, "import time\ntime.sleep(99)") for number in range(3)]
    answer = Step(3, "print('mine')\ndef total_of(numbers):\n    return sum(numbers)")
    check = Step(4, "total_of, ", "total", "toy_checks.arithmetic", lambda: Handout(INPUTS))
    *experiments, answered, checked = sandbox.run([*slow, answer, check], {}).values()
    assert [one.outcome for one in experiments] == ["timed out", "timed out", "skipped"]
    assert (answered.outcome, checked.outcome) == ("skipped", "done")
    assert evidence.decode(checked.evidence, dict) == {"evidence": {"value": 6}}


def test_later_run_takes_the_definitions_of_cells_that_ended_the_first(sandbox):
    steps = [Step(0, "import os\nos._exit(3)\ndef answer():\n    return 42"), Step(1, "print(answer())")]
    first = sandbox.run(steps, {})
    again = sandbox.run(steps, {}, {0: first[0]})
    assert [first[1].text, again[1].text] == ["42\n"] * 2
    assert set(first) == set(again) == {0, 1}


@pytest.mark.parametrize("source", ["x = compute()", "def half(x):\n    return x / 2", "not Python", ""])
def test_cell_with_nothing_to_save_has_no_fallback(source):
    assert definitions(Step(3, source)) == []


def test_definitions_after_a_line():
    source = "import os\n@wraps(\n    f\n)\ndef g(): pass\nx = 1"
    assert extract_definitions(source, after=1) == "@wraps(\n    f\n)\ndef g(): pass\nx = 1"
    assert extract_definitions(source, after=2) == "x = 1"
    assert extract_definitions(source, after=6) == ""
