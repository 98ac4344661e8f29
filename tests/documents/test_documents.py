"""Every command of the documents runs as written, in order, in a clean account, or says why not."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from grading.site.student_repository import README
from tests.documents.commands import Command, commands
from tests.documents.excused import NOT_RUN, UNTIL
from tests.documents.reader import Reader, reader
from tests.lessons.lesson import COURSE

TEACHERS = COURSE / "book" / "teachers" / "pages"
# In the order of index.md: who reads the pages of lessons has an environment from the first ones.
TERM = [
    TEACHERS / f"{name}.md"
    for name in ("a_term", "with_administrators", "installations", "records", "the_sandbox")
]
ELSEWHERE = [TEACHERS / "a_site.md"]  # tests/term/test_foreign_hub.py types all of it, in three accounts
FIRST = ("index", "before_the_course", "timetable", "in_the_room")
PAGES = [TEACHERS / f"{name}.md" for name in FIRST]
PAGES += [path for path in sorted(TEACHERS.glob("*.md")) if path not in [*PAGES, *TERM, *ELSEWHERE]]
# Each is read in a terminal of its own.
SESSIONS = {
    "README.md": [COURSE / "README.md", README, *TERM],
    "teachers": PAGES,
    "CONTRIBUTING.md": [COURSE / "CONTRIBUTING.md"],
}
UNTIL_PY = Path(__file__).with_name("until.py")


def typed(pages: list[Path]) -> list[Command]:
    return [one for path in pages for one in commands(path, str(path.relative_to(COURSE)))]


def test_every_exception_is_a_command_of_a_document():
    found = {one.text for pages in SESSIONS.values() for one in typed(pages)}
    assert not sorted({*NOT_RUN, *UNTIL} - found)
    assert not {*NOT_RUN} & {*UNTIL}


def test_blocks_are_read_with_their_comments_and_continued_lines(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Text\n\n    make lab     # starts\n    # only a comment\n\n1. A step\n\n"
        "       python -m tool \\\n           --option\n\n```sh\nmake 'a#b'\n```\n\n```python\nx = 1\n```\n"
    )
    assert [(one.line, one.text) for one in commands(page, "page.md")] == [
        (3, "make lab"),
        (8, "python -m tool --option"),
        (11, "make 'a#b'"),
    ]


@pytest.fixture(scope="module")
def account() -> Iterator[Reader]:
    with reader() as found:
        yield found


@pytest.mark.proof
@pytest.mark.parametrize("session", SESSIONS)
def test_commands_run_as_written(account: Reader, session: str):
    lines = []
    for one in typed(SESSIONS[session]):
        if one.text in NOT_RUN:
            continue
        command = one.text
        if pattern := UNTIL.get(command):
            (account.home / UNTIL_PY.name).write_text(UNTIL_PY.read_text())
            command = f"python3 ~/{UNTIL_PY.name} {shlex.quote(pattern)} {shlex.quote(command)}"
        lines += [f"printf '\\n%s\\n' {shlex.quote(f'@@ {one.page}:{one.line}: {one.text}')}", command]
    done = account.run("\n".join([*lines, ""]))
    failed = re.split(r"^@@ ", done.stdout, flags=re.MULTILINE)[-1]
    assert done.returncode == 0, failed[-4000:]
