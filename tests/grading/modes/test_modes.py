"""Verdicts and messages are the same in each mode that the course promises.

A mode is a user, root or an ordinary one, and a bubblewrap, the system's or that of the Python package. The
oldest and the newest Python are those of `.github/workflows/test.yml`, which runs these tests on each.
"""

import json
import subprocess
import sys

import pytest

from grading.answers.bank import BANK, read_answers
from tests.grading.modes import sample
from tests.grading.ordinary_user import missing, run_as_ordinary_user
from tests.lessons.lesson import COURSE

pytestmark = pytest.mark.proof
RUN = "from tests.grading.modes import sample\nsample.main({kind!r})"


@pytest.fixture(scope="module")
def as_this_user() -> dict[str, list[str]]:
    kinds = [kind for kind in ("system", "package") if sample.programs(kind)]
    if not kinds:
        pytest.skip("this machine has no bubblewrap")
    command = [sys.executable, "-m", "tests.grading.modes.sample", kinds[0]]
    return json.loads(subprocess.run(command, cwd=COURSE, capture_output=True, check=True).stdout)


def test_right_answers_are_right_and_wrong_ones_named(as_this_user: dict[str, list[str]]):
    bank = {
        str(one): one.mistake or "" for path in BANK.glob("*/*.md") for one in read_answers(path).values()
    }
    assert len(as_this_user) >= 2 * len(list(BANK.glob("*/*.md"))) - 2  # where a machine lacks a command
    assert {name: mistake for name, (mistake, _) in as_this_user.items()} == {
        name: bank[name] for name in as_this_user
    }


@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.parametrize("kind", ["system", "package"])
def test_an_ordinary_user_decides_the_same(kind: str, as_this_user: dict[str, list[str]], tmp_path):
    if not sample.programs(kind):
        pytest.skip(f"no bubblewrap of the {kind}")
    done = run_as_ordinary_user(RUN.format(kind=kind), tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == as_this_user
