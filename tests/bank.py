"""The bank of answers to the exercises, right and wrong: `answers/<lesson>/<check>/{right,wrong}_<name>`.

A `.py` file is a whole answer: the source of a solution cell. A `.diff` file says how an answer differs from
another one of its exercise. Above either stands what is to know of the answer:

    # mistake: left_open
    # from: right_keyed_by_pid.py
    @@
         def close(self):
    -        for archive in self.handles.values():
    -            archive.close()
    +        pass

`mistake` is what the check is to call it, `needs` a command that it starts, `from` the answer that changes.
A block below `@@` holds lines that stay ( ), go (-) and come (+), and so many of the first two that they are
found in one place only: there are no line numbers.
"""

import re
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

BANK = Path(__file__).parent / "answers"
_HEAD = re.compile(r"# (mistake|needs|from): (.+)\n")


@dataclass(frozen=True)
class Answer:
    path: Path

    def __str__(self) -> str:
        return f"{self.check}-{self.path.stem}"

    @property
    def check(self) -> str:
        return self.path.parent.name

    @property
    def mistake(self) -> str | None:
        """What the check is to call it; None for a right answer."""
        return self._parts[0].get("mistake")

    @property
    def source(self) -> str:
        """The source of the solution cell."""
        head, body = self._parts
        if "from" not in head:
            return body
        return changed(Answer(self.path.with_name(head["from"])).source, body, self.path)

    def skip_without_its_command(self) -> None:
        needs = self._parts[0].get("needs")
        if needs and not shutil.which(needs):
            pytest.skip(f"this machine has no {needs}")

    @cached_property
    def _parts(self) -> tuple[dict[str, str], str]:
        head, body = {}, self.path.read_text()
        while line := _HEAD.match(body):
            head[line[1]] = line[2]
            body = body[line.end() :]
        return head, body


def answers(module: str) -> list[Answer]:
    """All answers to the exercises of a lesson, by the name of its checks' module."""
    return [Answer(path) for path in sorted((BANK / module).glob("*/*_*"))]


def changed(source: str, body: str, path: Path) -> str:
    """Put the blocks of the file `path` into a source, one after the other.

    Raises:
        ValueError: A block is badly written, or its place is not to be found or not the only one.
    """
    lines = source.splitlines()
    above, *blocks = re.split(r"^@@.*\n", body, flags=re.MULTILINE)
    if above or not blocks:
        raise ValueError(f"{path}: below its comments stand blocks, and each begins with @@")
    for number, block in enumerate(blocks, start=1):
        old, new = _sides(block, f"{path}, block {number}")
        places = [i for i in range(len(lines)) if lines[i : i + len(old)] == old]
        if len(places) != 1:
            shown = "\n".join(old)
            raise ValueError(
                f"{path}, block {number}: {len(places)} places, not one, have its lines\n{shown}"
            )
        lines[places[0] : places[0] + len(old)] = new
    return "".join(f"{line}\n" for line in lines)


def _sides(block: str, name: str) -> tuple[list[str], list[str]]:
    lines = block.splitlines()
    for line in lines:
        if line[:1] not in " -+":
            raise ValueError(f"{name}: a line begins with a blank, - or +, and not as this one: {line}")
    return [line[1:] for line in lines if line[:1] != "+"], [line[1:] for line in lines if line[:1] != "-"]
