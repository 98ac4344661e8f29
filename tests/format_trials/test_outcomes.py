import pytest

from course_utils.format_trials import Outcomes, outcome


def fail() -> int:
    raise OSError


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda: 1, Outcomes(right=1)),
        (lambda: 2, Outcomes(wrong=1)),
        (fail, Outcomes(errors=1)),
    ],
)
def test_read_is_right_wrong_or_an_error(read, expected):
    assert outcome(read, 1) == expected


def test_outcomes_add_up():
    total = Outcomes(1, 2, 3, 4) + Outcomes(10, 20, 30, 40)
    assert total == Outcomes(11, 22, 33, 44)
    assert total.total == 110


@pytest.mark.parametrize(
    ("outcomes", "verdict"),
    [
        (Outcomes(right=9), "right"),
        (Outcomes(right=9, errors=1), "errors"),
        (Outcomes(right=9, errors=1, lost=1), "died or hung"),
        (Outcomes(right=9, errors=1, wrong=1, lost=1), "wrong in silence"),
    ],
)
def test_verdict_is_the_worst_outcome(outcomes, verdict):
    assert outcomes.verdict == verdict
