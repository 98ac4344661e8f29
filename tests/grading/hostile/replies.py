"""Replies of a sandbox that no honest process sends, and evidence that no honest answer gives."""

from nbformat import NotebookNode

from tests.grading.attacks.attack import Attack, code
from tests.grading.attacks.damage import RIGHT
from tests.grading.attacks.fake import SEND
from tests.grading.toy_course import cell_of

NO_EVIDENCE = "no_evidence"
PROBE = "from course_utils.checks.core.check import Check\n"


def message(value: str, *statuses: str, points: float = 4) -> Attack:
    """Return an answer that sends a reply of its own before the real one."""
    return code(f"{SEND}\nsend({value})", *(statuses or ("wrong", "crashed")), points=points)


def header(source: str, blob: str = "b''", says: str = NO_EVIDENCE) -> Attack:
    """Return an answer whose evidence has this header."""
    return Attack(
        f"{PROBE}header = {source}\n"
        f"Check.run_probe = lambda *a, **k: len(header).to_bytes(8, 'little') + header + {blob}\n" + RIGHT,
        points=0,
        says=says,
    )


def returning(value: str, says: str = "", setup: str = "", *statuses: str) -> Attack:
    """Return a right submission but for the exercise `backwards`, whose answer returns this."""

    def change(notebook: NotebookNode):
        cell_of(notebook, "backwards_answer").source = f"{setup}\ndef backwards(word):\n    return {value}"

    return Attack(RIGHT, change=change, points=4, statuses=statuses or ("wrong",), says=says)


def raising(error: str, setup: str = "") -> Attack:
    source = f"{setup}\ndef total_of(numbers):\n    raise {error}"
    return Attack(source, statuses=("wrong",))


REPLIES = {
    "pictures_a_number": message("{'pictures': 3}"),
    "pictures_of_numbers": message("{'pictures': [1, None, 'x']}"),
    "text_a_number": message("{'text': 10**18}"),
    "error_a_list": message("{'error': [[]]}"),
    "evidence_a_text": message("{'evidence': 'x'}"),
    "reply_a_list": message("[1, 2]"),
    "reply_of_nothing": message("None"),
    "reply_of_unknown_keys": message("{'points': 2, 'status': 'right'}", points=0),
    "huge_pictures": message("{'pictures': [b'\\x89PNG' + bytes(2**22)] * 5}", points=0),
    "many_small_pictures": message("{'pictures': [b'\\x89PNG'] * 10_000}", points=0),
    "size_beyond_64_bits": code(f"{SEND}\nchannel.sendall(b'\\xff' * 16)", "crashed"),
    "header_larger_than_the_message": code(
        f"{SEND}\nchannel.sendall((8).to_bytes(8, 'little') + b'\\xff' * 8)", "crashed"
    ),
    "dict_of_a_list": header("b'{\"dict\": [1]}'"),
    "evidence_nested_100000_deep": header("b'[' * 100_000"),
    "evidence_nested_60_deep": header("b'[' * 60 + b']' * 60"),
    "evidence_of_4000_digits": header(
        'b\'{"dict":{"evidence":{"dict":{"value":\' + b\'9\' * 4000 + b\'}}}}\''
    ),
    "evidence_of_5000_digits": header("b'9' * 5000"),
    "evidence_beyond_64_bits": header('b\'{"dict":{"evidence":{"dict":{"value":\' + b\'9\' * 20 + b\'}}}}\''),
    "evidence_of_surrogates": header("b'\"\\\\ud800\"'"),
    "evidence_not_utf8": header("b'\"\\xff\"'"),
    "evidence_of_a_million_lists": header("b'[' + b'[],' * 1_000_000 + b'[]]'"),
    "evidence_used_twice": header('b\'[{"bytes": [0, 9]}, {"bytes": [0, 9]}]\'', "bytes(9)"),
    "array_larger_than_memory": header(
        'b\'{"array": [0, 9], "dtype": "uint8", "shape": [9999999999999]}\'', "bytes(9)"
    ),
    "array_with_an_overflowing_shape": header(
        'b\'{"array": [0, 0], "dtype": "uint8", "shape": [4294967296, 4294967296, 0]}\''
    ),
    "array_of_objects": header('b\'{"array": [0, 8], "dtype": "object", "shape": [1]}\'', "bytes(8)"),
    "number_of_4000_digits": returning("10 ** 4000"),
    "number_beyond_64_bits": returning("2 ** 64"),
    "text_of_surrogates": returning("'\\ud800' * 12"),
    "text_of_a_million_characters": returning("'x' * 10**6"),
    "list_of_a_million_items": returning("[0] * 10**6"),
    "list_nested_500_deep": returning("deep", "", "deep = []\nfor _ in range(500):\n    deep = [deep]"),
    "list_that_holds_itself": returning("loop", "", "loop = []\nloop.append(loop)"),
    "dict_of_surrogates": returning("{'\\udcff': {'\\ud800': 1}}"),
    "array_of_30_megabytes": returning("np.zeros(30 * 2**20, np.uint8)", "", "import numpy as np"),
    "array_of_60_megabytes": returning(
        "np.zeros(60 * 2**20, np.uint8)", "", "import numpy as np", "wrong", "crashed"
    ),
    "not_a_number": returning("float('nan')"),
    "text_that_changes": returning(
        "Text()",
        "",
        "class Text(str):\n    encode = lambda self, *a: b'\\xff'\n    __str__ = lambda self: self",
    ),
    "error_of_surrogates": raising("ValueError('\\ud800')"),
    "error_of_a_megabyte": raising("ValueError('x' * 10**6)"),
    "error_without_text": raising(
        "Silent()", "class Silent(Exception):\n    def __str__(self):\n        raise ValueError"
    ),
    "error_with_steering_characters": raising("ValueError('\\x1b[2J\\x00\\r\\n')"),
    "error_named_by_surrogates": raising("type('E\\udcff', (Exception,), {})('x')"),
    "prints_surrogates_and_bytes": code(
        "import sys\nsys.stdout.flush()\nimport os\nos.write(1, b'\\xff\\xed\\xa0\\x80\\x00')", points=4
    ),
}
