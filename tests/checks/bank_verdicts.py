"""Which of the bank's answers `make test` judges, and what it asserts of their verdicts."""

import pytest
from _pytest.mark import ParameterSet

from grading.answers.bank import Answer, answers
from grading.answers.verdicts import verdict

# These start many processes or draw much: `make test` gives them a right answer and a wrong one. In
# `make proofs`, test_bank_seeds.py gives all answers to all checks, with several draws.
SLOW = (
    "fetch_ranges",
    "handle_per_process",
    "mend_train",
    "million_labels",
    "mixture",
    "operations_budget",
    "pack_documents",
    "repair_tar",
    "reproducible_loader",
    "stage",
    "token_blocks",
    "write_shards",
)


def bank_of(lesson: str) -> list[ParameterSet]:
    """Return the answers of a lesson's bank that are judged quickly, as the parameters of a test."""
    bank = answers(lesson)
    first = {(answer.check, bool(answer.mistake)): answer for answer in reversed(bank)}.values()
    judged = [answer for answer in bank if answer.check not in SLOW or answer in first]
    return [pytest.param(answer, id=str(answer)) for answer in judged]


def skip_if_command_missing(answer: Answer) -> None:
    """Skip the test on a machine without the command that the answer starts."""
    if answer.missing_command:
        pytest.skip(f"this machine has no {answer.missing_command}")


def assert_verdict(answer: Answer, seeds: range = range(1)) -> None:
    """Assert that the check's verdict is the one in the bank, and the same for any inputs."""
    skip_if_command_missing(answer)
    found = [verdict(answer, seed) for seed in seeds]
    assert [one.mistake for one in found] == [answer.mistake] * len(found), found
    assert all(answer.facts.get("says", "") in one.message for one in found), found
    if not answer.mistake:
        assert len({one.message for one in found}) == 1, found
