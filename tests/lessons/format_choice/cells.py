"""The cells and the picture of lesson 04 that are made from the table of facts about formats.

`python -m tests.lessons.format_choice.cells --write` makes them again after a change of facts or rules.
"""

import argparse

from course_utils.checks.packed_formats._format_rules import RULES, Rule
from course_utils.format_trials import FACT_TABLE
from tests.bench.recording.notebook import lesson_path, read_cell, write_cell
from tests.lessons.format_choice.picture import alternative_text, picture

LESSON = "04_packed_formats"
PICTURE = "pictures/decision.svg"
STATEMENT = """\
{heading}

**Write `choose(requirements)`**, which returns a list of the names of *all* formats that will do, the \
fastest first.

- `requirements` is a `Requirements`; the next cell prints its fields, and the facts about each format as it \
is written and read in this lesson (Squashfs in the optional notebook). `FACTS["Tar"].appends` is one.
- A requirement excludes formats by the fact in its row of the table. A limit that is exactly reached \
is not exceeded.
- Reading a sample takes the `latency` for each request, and the bytes that arrive divided by the \
`bandwidth`. `READ_COSTS[access][name]` holds the requests for a sample, and the bytes that arrive for \
each of its bytes, for each format that can be read so. Equally fast formats may come in any order.

| requirement | fact | what it says |
|---|---|---|
{rows}"""
TEXT = """\
### How to choose

No format won every section. Begin with what your project needs, in this order: first what cannot be \
changed (other people's programs, the file system), then how the data is written and read. Each answer \
excludes some formats.

![{alternative}]({picture})"""
ANSWER = """\
<details>
<summary>Our answer</summary>

The last column names the trial or measurement that shows it, or links to documentation.

| if | leave out | because | shown by |
|---|---|---|---|
{rows}

</details>"""


def statement(heading: str) -> str:
    """The exercise: which fact decides about which requirement."""
    asked = {rule.fact: rule.asked for rule in reversed(RULES)}
    facts = dict.fromkeys(rule.fact for rule in RULES)
    rows = [f"| {asked[fact]} | `{fact}` | {FACT_TABLE[fact].says} |" for fact in facts]
    return STATEMENT.format(heading=heading, rows="\n".join(rows))


def folded_answer() -> str:
    """What each requirement excludes, why, and what shows it."""
    rules = [rule for rule in RULES if rule.fact != "read_by"]
    return ANSWER.format(rows="\n".join(row for rule in rules for row in folded_rows(rule)))


def folded_rows(rule: Rule) -> list[str]:
    rows = []
    for group in FACT_TABLE[rule.fact].groups:
        if names := [name for name in group.formats.split() if name in rule.excluded]:
            shown = f"[documentation]({group.source})" if "://" in group.source else f"`{group.source}`"
            rows.append(f"| {rule.asked} | {', '.join(names)} | {group.because} | {shown} |")
    return rows


def cells() -> dict[str, str]:
    """The texts of all generated cells, by id; an exercise keeps its number."""
    task = "choose-format-task"
    return {
        "choose-text": TEXT.format(alternative=alternative_text(), picture=PICTURE),
        task: statement(read_cell(LESSON, task).splitlines()[0]),
        "q-choose-answer": folded_answer(),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", required=True, help="write the cells and the picture")
    parser.parse_args()
    for name, text in cells().items():
        write_cell(LESSON, name, text)
    (lesson_path(LESSON).parent / PICTURE).write_text(picture())
