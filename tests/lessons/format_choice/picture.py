"""The picture of questions that lead to packed formats, from the rules of the check."""

from textwrap import wrap
from typing import NamedTuple

from course_utils.checks.packed_formats._format_rules import NAMES, READERS, admissible
from course_utils.format_trials import FACTS, Requirements

WIDTH, LINE, PADDING, GAP = 64, 18, 24, 20  # characters of a line; pixels
LAST = (
    "Then, whatever the format",
    "index × workers fits into memory · opened in each worker · files within the quota",
    "written under another name, fsync, rename · checksums beside it if it has none",
)
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 {height}" width="820" height="{height}" role="img">
<title>Questions that lead to a packed format</title>
<style>text{{font:14px sans-serif;fill:#222}}.s{{font-size:13px;fill:#444}}.b{{font-weight:bold}}</style>
<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="9" orient="auto">\
<path d="M0 0 8 4 0 8z" fill="#444"/></marker></defs>
<rect width="820" height="{height}" fill="#fff"/>"""


class Choice(NamedTuple):
    """An answer to a question, and the formats that it leaves."""

    answer: str
    title: str
    sentences: list[str]

    @property
    def lines(self) -> list[str]:
        return [line for sentence in self.sentences for line in wrap(sentence, WIDTH)]

    @property
    def height(self) -> int:
        return PADDING + LINE * (1 + len(self.lines))


def readers() -> Choice:
    found = [f"{program}: {', '.join(left(read_by=program))}" for program in READERS]
    return Choice("yes", "The format of that program", [" · ".join(found)])


def left(**asked) -> list[str]:
    allowed = admissible(Requirements(**asked))
    return [name for name in NAMES if name in allowed]


def choice(answer: str, **asked) -> Choice:
    """The formats that requirements leave: those that notice damage, the others, and those excluded."""
    names = left(**asked)
    noticing = [name for name in names if FACTS[name].notices_damage]
    others = [name for name in names if name not in noticing]
    excluded = [name for name in NAMES if name not in names]
    sentences = [f"these have checksums; without: {', '.join(others)}", f"not: {', '.join(excluded)}"]
    return Choice(answer, ", ".join(noticing), sentences)


def questions() -> list[tuple[str, list[Choice]]]:
    tar = FACTS["Tar"]
    streamed = f"{tar.stream[0]:g} requests a sample; a killed writer loses little; no checksums"
    assert tar.survives_kill
    assert not tar.notices_damage
    return [
        ("Must a program of others read it?", [readers()]),
        ("Are samples added to complete data sets?", [choice("yes", append=True)]),
        (
            "Is every epoch read in one order, as a stream?",
            [Choice("yes", "Tar in shards, shuffled before packing", [streamed])],
        ),
        (
            "Any sample may be next. Where does the data lie?",
            [
                choice("object store", access="random", place="object store"),
                choice("shared file system", access="random", place="shared"),
                choice("local disk", access="random"),
            ],
        ),
    ]


def picture() -> str:
    """Draw the questions from top to bottom, and beside each the formats that its answers leave."""
    parts, y, asked = [], 20, questions()
    for question, choices in asked:
        top = y
        for one in choices:
            parts += answer_box(y, one)
            y += one.height + GAP
        height = y - GAP - top
        parts += box(20, top, 210, height, "#dbe9f6")
        words = wrap(question, 24)
        first = top + (height - LINE * len(words)) // 2 + 14
        parts += [label(125, first + LINE * n, line, "t", "middle") for n, line in enumerate(words)]
        if question != asked[-1][0]:
            parts += [arrow(125, y - GAP, 125, y - 2), label(135, y - 6, "no", "s")]
    parts += box(20, y, 780, PADDING + 3 * LINE, "#f9e4cf")
    parts += [label(32, y + 26 + LINE * n, line, "s" if n else "b") for n, line in enumerate(LAST)]
    return "\n".join([HEAD.format(height=y + PADDING + 3 * LINE + 20), *parts, "</svg>"]) + "\n"


def answer_box(y: int, one: Choice) -> list[str]:
    middle, words = y + one.height // 2, wrap(one.answer, 12)
    lines = [one.title, *one.lines]
    return [
        *box(330, y, 470, one.height, "#d9ead3"),
        *(label(342, y + 26 + LINE * n, line, "s" if n else "b") for n, line in enumerate(lines)),
        arrow(230, middle, 328, middle),
        *(label(280, middle - 7 - 15 * (len(words) - 1 - n), w, "s", "middle") for n, w in enumerate(words)),
    ]


def box(x: int, y: int, width: int, height: int, fill: str) -> list[str]:
    return [f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" stroke="#444"/>']


def label(x: int, y: int, words: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{words}</text>'


def arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    return f'<path d="M{x1} {y1} L{x2} {y2}" stroke="#444" fill="none" marker-end="url(#a)"/>'


def alternative_text() -> str:
    """Say the same in words."""
    said = ["Questions from top to bottom."]
    for question, choices in questions():
        for one in choices:
            said.append(f"{question} {one.answer.capitalize()}: {one.title}; {'; '.join(one.sentences)}.")
    return " ".join([*said, f"{LAST[0]}: {'; '.join(LAST[1:])}."])
