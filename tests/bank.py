"""The bank of right and wrong answers to the exercises: `answers/<lesson>/<exercise>.md`.

An answer is a section of that file. Its name begins with `right_` or `wrong_`; a block holds the source of
its solution cell, or a diff from another answer to the exercise:

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

`mistake` is the name that the check gives it, `needs` a command that it starts, `from` the answer that the
diff applies to. Below `@@` stand lines that stay ( ), go (-) and come (+). A diff has no line numbers: enough
lines must stay or go that they are found in one place only.
"""

import re
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

BANK = Path(__file__).parent / "answers"
_SECTION = re.compile(
    r"## (?P<name>(?:right|wrong)_\w+)\n\n(?P<facts>(?:- \w+: .+\n)*)\n?"
    r"```(?P<kind>python|diff)\n(?P<body>(?:.*\n)*?)```\n*"
)
_FACTS = {"mistake", "from", "needs"}


@dataclass(frozen=True)
class Answer:
    """An answer to an exercise.

    Args:
        path: The file of its exercise.
        name: The name of its section.
        source: The source of the solution cell.
        facts: What stands above the source.
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
        """The name that the check gives to what is wrong; None for a right answer."""
        return self.facts.get("mistake")

    def skip_without_its_command(self) -> None:
        """Skip the test on a machine that lacks a command that the answer starts."""
        needs = self.facts.get("needs")
        if needs and not shutil.which(needs):
            pytest.skip(f"this machine has no {needs}")


def answers(lesson: str) -> list[Answer]:
    """All answers to the exercises of a lesson, by the name of its checks."""
    return [answer for path in sorted((BANK / lesson).glob("*.md")) for answer in read_answers(path).values()]


def answer(lesson: str, check: str, name: str) -> Answer:
    """One answer, by the names of its lesson, its exercise and its section."""
    return read_answers(BANK / lesson / f"{check}.md")[name]


@cache
def read_answers(path: Path) -> dict[str, Answer]:
    """Read the answers to an exercise, by name.

    Raises:
        ValueError: The file has another form, or a block does not fit; the message says which and why.
    """
    sections = {section["name"]: section for section in _sections(path)}

    def source(name: str, wanted_by: str) -> str:
        if name not in sections:
            raise ValueError(f"{path.name}, {wanted_by}: no answer is called {name}")
        facts, where = _facts(sections[name]["facts"], f"{path.name}, {name}"), f"{path.name}, {name}"
        if (sections[name]["kind"] == "diff") != ("from" in facts):
            raise ValueError(f"{where}: a diff, and nothing else, says `- from:` which answer it changes")
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
    rest, sections = rest.removeprefix(title), []
    while rest:
        section = _SECTION.match(rest)
        if section is None:
            raise ValueError(f"{path.name}: this is no section of an answer:\n{rest[:200]}")
        if section["name"] in [one["name"] for one in sections]:
            raise ValueError(f"{path.name}: two answers are called {section['name']}")
        sections.append(section)
        rest = rest[section.end() :]
    return sections


def _facts(text: str, where: str) -> dict[str, str]:
    facts = dict(line.removeprefix("- ").split(": ", 1) for line in text.splitlines())
    if unknown := facts.keys() - _FACTS:
        raise ValueError(f"{where}: {', '.join(unknown)} is none of {', '.join(sorted(_FACTS))}")
    return facts


def changed(source: str, body: str, where: str) -> str:
    """Apply the blocks of a diff to a source, one after the other.

    Raises:
        ValueError: A block is badly written, or its lines are not found, or found in more than one place.
    """
    lines = source.splitlines()
    above, *blocks = re.split(r"^@@.*\n", body, flags=re.MULTILINE)
    if above or not blocks:
        raise ValueError(f"{where}: a diff consists of blocks, and each begins with @@")
    for number, block in enumerate(blocks, start=1):
        old, new = _sides(block, f"{where}, block {number}")
        places = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
        if len(places) != 1:
            shown = "\n".join(old)
            raise ValueError(
                f"{where}, block {number}: {len(places)} places, not one, have its lines\n{shown}"
            )
        lines[places[0] : places[0] + len(old)] = new
    return "".join(f"{line}\n" for line in lines)


def _sides(block: str, where: str) -> tuple[list[str], list[str]]:
    lines = block.splitlines()
    for line in lines:
        if line[:1] not in " -+":
            raise ValueError(f"{where}: a line begins with a space, - or +, and not as this one: {line}")
    return [line[1:] for line in lines if line[:1] != "+"], [line[1:] for line in lines if line[:1] != "-"]
