"""Read the bank of right and wrong answers to the exercises, `<lesson>/<exercise>.md`.

An answer is a section of that file. Its name starts with `right_` or `wrong_`; a block holds the source of
its solution cell, or a diff against another answer to the exercise:

    ## wrong_left_open

    - mistake: left_open
    - from: right_keyed_by_pid

    ```diff
    @@
         def close(self):
    -        for archive in self.handles.values():
    -            archive.close()
    +        pass
    ```

`mistake` is the name of the mistake that the check finds, `says` a part of its message, `needs` a command
that the answer starts, `from` the answer that the diff changes. A block below `@@` holds context lines ( ),
removed lines (-) and added lines (+). There are no line numbers: its context and removed lines together occur
in one place only.
"""

import re
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from course_utils.train_script import changed

BANK = Path(__file__).parent
_SECTION = re.compile(
    r"## (?P<name>(?:right|wrong)_\w+)\n\n(?P<facts>(?:- \w+: .+\n)*)\n?"
    r"```(?P<kind>python|diff)\n(?P<body>(?:.*\n)*?)```\n*"
)
_FACTS = {"mistake", "says", "from", "needs"}


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    Args:
        path: The file of its exercise.
        name: The name of its section.
        source: The source of the solution cell.
        facts: Its `mistake`, `says`, `from` and `needs`, where given.
    """

    path: Path
    name: str
    source: str = field(repr=False)
    facts: dict[str, str] = field(repr=False, hash=False)

    def __str__(self) -> str:
        return f"{self.check}-{self.name}"

    @property
    def lesson(self) -> str:
        """The name of the lesson's checks."""
        return self.path.parent.name

    @property
    def check(self) -> str:
        """The name of the exercise."""
        return self.path.stem

    @property
    def mistake(self) -> str | None:
        """The name of the mistake that the check finds; None for a right answer."""
        return self.facts.get("mistake")

    @property
    def missing_command(self) -> str:
        """The command that the answer starts and this machine lacks; empty if it has it, or starts none."""
        needs = self.facts.get("needs", "")
        return "" if not needs or shutil.which(needs) else needs


def answers(lesson: str) -> list[Answer]:
    """Return all answers to the exercises of a lesson, given the name of its checks."""
    return [answer for path in sorted((BANK / lesson).glob("*.md")) for answer in read_answers(path).values()]


def answer(lesson: str, check: str, name: str) -> Answer:
    """Return one answer, by the names of its lesson, its exercise and its section."""
    return read_answers(BANK / lesson / f"{check}.md")[name]


@cache
def read_answers(path: Path) -> dict[str, Answer]:
    """Read the answers to an exercise, by name.

    Raises:
        ValueError: The file or a diff in it is malformed; the message says where and why.
    """
    sections = {section["name"]: section for section in _sections(path)}

    def source(name: str, wanted_by: str) -> str:
        if name not in sections:
            raise ValueError(f"{path.name}, {wanted_by}: no answer is named {name}")
        facts, where = _facts(sections[name]["facts"], f"{path.name}, {name}"), f"{path.name}, {name}"
        if (sections[name]["kind"] == "diff") != ("from" in facts):
            raise ValueError(f"{where}: a diff, and only a diff, has a line `- from:`")
        body = sections[name]["body"]
        return changed(source(facts["from"], name), body, where) if "from" in facts else body

    return {
        name: Answer(path, name, source(name, name), _facts(section["facts"], f"{path.name}, {name}"))
        for name, section in sections.items()
    }


def _sections(path: Path) -> list[re.Match[str]]:
    title, rest = f"# {path.stem}\n\n", path.read_text()
    if not rest.startswith(title):
        raise ValueError(f"{path.name}: the first line is the exercise's name: {title.strip()}")
    rest = rest.removeprefix(title)
    sections: list[re.Match[str]] = []
    while rest:
        section = _SECTION.match(rest)
        if section is None:
            raise ValueError(f"{path.name}: not the section of an answer:\n{rest[:200]}")
        if section["name"] in [one["name"] for one in sections]:
            raise ValueError(f"{path.name}: two answers are named {section['name']}")
        sections.append(section)
        rest = rest[section.end() :]
    return sections


def _facts(text: str, where: str) -> dict[str, str]:
    facts = dict(line.removeprefix("- ").split(": ", 1) for line in text.splitlines())
    if unknown := facts.keys() - _FACTS:
        raise ValueError(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_FACTS))}")
    return facts
