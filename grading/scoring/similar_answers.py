"""Finds students who share an answer, for a teacher to read; no mark depends on it.

Answers are compared as words and signs, without comments, layout, and the names that a student has chosen.
What stands in the released notebook, and what many of a class write, is no sign of copying.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from textwrap import wrap
from typing import Any, NamedTuple

from grading.course.lesson import Lesson
from grading.course.result import Result
from grading.scoring.report import printable

# Pieces of an answer are runs of so many words and signs; fewer rare pieces than that say nothing.
PIECE, LEAST_PIECES = 5, 20
LEAST_SHARED = 0.8  # of the rare pieces of the shorter answer
MOST_STUDENTS = 6, 0.25  # who write a piece that counts as rare: so many, or this part of the class
MAX_CHARACTERS, WIDTH = 50_000, 58
# Comments, texts, words, and single signs.
_TOKEN = re.compile(
    r'#[^\n]*|"""(?:[^\\]|\\.)*?"""|\'\'\'(?:[^\\]|\\.)*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|\w+|[^\w\s]',
    re.DOTALL,
)
_KNOWN = {*keyword.kwlist, *dir(builtins)}
Piece = tuple[str, ...]


class Group(NamedTuple):
    """Students whose answers to an exercise are alike, and the two that are most alike."""

    students: list[str]
    shared: float
    pair: tuple[str, str]


def pieces(source: str, release: set[str]) -> set[Piece]:
    """Return the pieces of an answer.

    Args:
        source: The answer.
        release: The words of the released notebook, whose names nobody has chosen.
    """
    words = [word for word in _TOKEN.findall(source[:MAX_CHARACTERS]) if not word.startswith("#")]
    plain = [_plain(words, place, release) for place in range(len(words))]
    return {tuple(plain[start : start + PIECE]) for start in range(len(plain) - PIECE + 1)}


def _plain(words: list[str], place: int, release: set[str]) -> str:
    """Return a word, or `_` for a name that a student has chosen."""
    word = words[place]
    of_self = words[max(place - 2, 0) : place] == ["self", "."]
    is_attribute = place > 0 and words[place - 1] == "." and not of_self
    if not word.isidentifier() or word in _KNOWN or word in release or is_attribute:
        return word
    return "_"


def similar(answers: Mapping[str, str], released: str, words: set[str]) -> list[Group]:
    """Return the groups of students who share an answer to one exercise.

    Args:
        answers: The answers by student.
        released: The answer's cell as it was released.
        words: All words of the released notebook.
    """
    common = pieces(released, words)
    written = {student: pieces(source, words) - common for student, source in sorted(answers.items())}
    authors: dict[Piece, list[str]] = defaultdict(list)
    for student, found in written.items():
        for piece in found:
            authors[piece].append(student)
    most = max(MOST_STUDENTS[0], MOST_STUDENTS[1] * len(answers))
    rare = {piece: students for piece, students in authors.items() if len(students) <= most}
    sizes = Counter(student for students in rare.values() for student in students)
    both = Counter(pair for students in rare.values() for pair in combinations(students, 2))
    alike = {
        pair: count / least
        for pair, count in both.items()
        if (least := min(sizes[student] for student in pair)) >= LEAST_PIECES
        and count >= LEAST_SHARED * least
    }
    return _groups(alike)


def _groups(alike: Mapping[tuple[str, str], float]) -> list[Group]:
    """Return students who are connected by pairs."""
    members: dict[str, set[str]] = {}
    for pair in alike:
        joined = set(pair).union(*(members.get(student, set()) for student in pair))
        members.update(dict.fromkeys(joined, joined))
    groups = {min(joined): sorted(joined) for joined in members.values()}
    found = []
    for students in groups.values():
        pair = max((one for one in alike if one[0] in students), key=lambda one: alike[one])
        found.append(Group(students, alike[pair], pair))
    return sorted(found)


def report_of(lesson: Lesson, results: Sequence[Result], student: str = "") -> str:
    """Return a report on one lesson as text: who shares an answer, and two of these answers side by side.

    Args:
        lesson: The lesson.
        results: Of all who have handed in, with their notebooks.
        student: Whose groups to show; everybody's by default.
    """
    words = {word for cell in lesson.released.cells for word in re.findall(r"\w+", cell.source)}
    blocks = []
    for name in lesson.graded:
        [released] = _answers(name, [("", lesson.released)]).values() or [""]
        answers = _answers(name, [(result["student"], result["notebook"]) for result in results])
        groups = similar(answers, released, words)
        blocks += [_shown(name, one, answers) for one in groups if not student or student in one.students]
    return "\n\n".join(blocks)


def _answers(name: str, notebooks: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, str]:
    """Return the source of an answer's cell by student; without those who have none."""
    return {
        student: cell["source"]
        for student, notebook in notebooks
        for cell in notebook.get("cells", ())
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == f"{name}_answer"
    }


def _shown(exercise: str, group: Group, answers: Mapping[str, str]) -> str:
    names = ", ".join(group.students)
    heading = f"{exercise}: {names} (share up to {100 * group.shared:.0f} % of what few write)"
    rows = _side_by_side(*(f"[{student}]\n{answers[student]}" for student in group.pair))
    return "\n".join([printable(heading), "", *rows])


def _side_by_side(left: str, right: str) -> list[str]:
    columns = [
        [part for line in text[:MAX_CHARACTERS].split("\n") for part in _cut(printable(line))]
        for text in (left, right)
    ]
    height = max(map(len, columns))
    ours, theirs = (column + [""] * (height - len(column)) for column in columns)
    return [f"  {one:{WIDTH}} | {other}".rstrip() for one, other in zip(ours, theirs, strict=True)]


def _cut(line: str) -> list[str]:
    return wrap(line, WIDTH, drop_whitespace=False, break_on_hyphens=False) or [""]
