import sys
from typing import TypedDict

import pytest
import torch
import torch.utils.data
from IPython.core.formatters import DisplayFormatter

from course_utils.checks.core import evidence
from course_utils.checks.core.check import Check, CheckFailed, Mistake, wrap


def _judge(truth, found):
    if found["sum"] != truth:
        raise Mistake("wrong_sum", "Add all the numbers.")
    return "adds numbers"


adding = Check(
    make=lambda rng: (lambda numbers: ({"numbers": numbers}, sum(numbers)))(rng.integers(0, 99, 5).tolist()),
    probe=lambda inputs, add: {"sum": add(inputs["numbers"])},
    judge=_judge,
)


def test_right_answer_prints_its_verdict_and_displays_no_value(capsys):
    # nbgrader would take a displayed value for points.
    assert DisplayFormatter().format(adding(sum)) == ({}, {})
    assert capsys.readouterr().out == "✓ adds numbers\n"


def test_wrong_answer_fails_with_name_and_message_of_its_mistake():
    with pytest.raises(CheckFailed, match="Add all the numbers") as caught:
        adding(max)
    assert caught.value.mistake == "wrong_sum"
    assert caught.value._render_traceback_() == ["✗ Add all the numbers.   [wrong_sum]"]


def test_error_in_the_answer_is_reported_with_its_line():
    def divide(numbers):
        return numbers[0] / 0

    with pytest.raises(CheckFailed, match=r"ZeroDivisionError.*in line \d+ of divide") as caught:
        adding(divide)
    assert caught.value.mistake == "crash"


class _FromWorker(torch.utils.data.Dataset):
    def __init__(self, action):
        self.action = action

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return self.action()


def _unsolved(*numbers):
    raise NotImplementedError()


def _in_a_worker(action):
    return sum(
        torch.utils.data.DataLoader(_FromWorker(action), num_workers=1, multiprocessing_context="fork")
    )


@pytest.mark.parametrize(
    "answer", [_unsolved, lambda numbers: _in_a_worker(_unsolved)], ids=["here", "worker"]
)
def test_released_stub_is_not_written_yet(answer):
    with pytest.raises(CheckFailed) as caught:
        adding(answer)
    assert caught.value.mistake == "not_written_yet"


@pytest.mark.parametrize(
    "ask_library",
    [
        lambda: torch.utils.data.Dataset()[0],
        lambda: next(iter(torch.utils.data.Sampler())),
        lambda: _in_a_worker(lambda: torch.utils.data.Dataset()[0]),
        lambda: torch.arange(3, dtype=torch.uint16).sort(),
    ],
    ids=["with a message", "without a message", "in a worker", "in compiled code"],
)
def test_library_that_does_not_implement_something_is_a_crash(ask_library):
    def answer(numbers):
        return ask_library()

    with pytest.raises(NotImplementedError):
        ask_library()
    with pytest.raises(CheckFailed, match="NotImplementedError") as caught:
        adding(answer)
    assert caught.value.mistake == "crash"


def test_result_that_is_not_plain_data_fails():
    with pytest.raises(CheckFailed, match="not plain data"):
        adding(lambda numbers: object())


@pytest.mark.parametrize("data", [b"", b"nonsense", evidence.encode([1]), evidence.encode({"evidence": [1]})])
def test_malformed_evidence_is_rejected(data):
    with pytest.raises(Mistake) as caught:
        adding.verdict(3, data)
    assert caught.value.name == "no_evidence"


def test_inputs_depend_on_the_seed():
    seen = [[], [], []]
    for numbers, seed in zip(seen, (1, 2, 1), strict=True):
        adding(lambda drawn, numbers=numbers: numbers.extend(drawn) or sum(drawn), seed=seed)
    assert seen[0] == seen[2] != seen[1]


def test_long_error_of_a_worker_is_reported_with_its_last_line():
    def fail(numbers):
        raise RuntimeError(
            "Caught KeyError in DataLoader worker process 0.\n" + 99 * "  File\n" + "KeyError: 7"
        )

    with pytest.raises(CheckFailed, match=r"worker process 0\. \.\.\. KeyError: 7 \(in line"):
        adding(fail)


class Count(TypedDict):
    count: int


def _probe(inputs, answer) -> Count:
    return {"count": answer, "more": 1}


def _judged(answer, judge=lambda truth, found: str(found)):
    return Check(make=lambda rng: ({}, None), probe=_probe, judge=judge)(answer)


def test_judge_sees_the_type_that_the_probe_declares_and_nothing_else():
    assert _judged(3).message == "{'count': 3}"
    for other in (None, True, 3.5, "3", [3]):
        with pytest.raises(CheckFailed) as caught:
            _judged(other)
        assert caught.value.mistake == "no_evidence"


@pytest.mark.parametrize(
    "error", [ZeroDivisionError, RecursionError, OverflowError, MemoryError, RuntimeError]
)
def test_whatever_a_judge_raises_on_evidence_is_a_mistake(error):
    def judge(truth, found):
        raise error

    with pytest.raises(CheckFailed, match="cannot judge") as caught:
        _judged(0, judge)
    assert caught.value.mistake == "no_evidence"


def test_verdict_fits_a_notebook_in_a_window_of_800_pixels():
    """There JupyterLab shows 78 characters in a line, and breaks longer ones within a word."""
    assert max(map(len, wrap("a word, " * 100).splitlines())) <= 78


def test_what_an_answer_prints_again_and_again_is_shown_once(capsys):
    def talkative(numbers):
        for _ in range(30):
            sys.stdout.write("first\nand ")
            sys.stdout.write(f"second {numbers}\n")
        sys.stdout.write("end")
        return sum(numbers)

    verdict = adding(talkative)
    out = capsys.readouterr().out
    assert (out.count("first"), out.count("second"), out[-3:]) == (1, 1, "end")
    assert verdict.message == "adds numbers"
