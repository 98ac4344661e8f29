"""The page from which a teacher prepares and teaches a lesson."""

import re
from collections.abc import Iterator
from pathlib import Path

from book.lesson_pages import LessonPage
from book.teachers import minutes
from book.teachers.guide import ExerciseGuide, Guide, read_guide
from book.teachers.lesson_parts import Exercise, exercises, needs, questions
from book.teachers.markup import escaped, fenced, folded
from book.teachers.shown_cells import shown_cell
from book.teachers.stumbles import Stumble, right_answers, stumbles

SLIDES = "slides"
OTHER_DESIGNS = 3  # shown of each exercise beside the model answer
_WRITTEN = Path(__file__).with_name("pages")


def lesson_page(lesson: LessonPage, mistakes: int) -> str:
    """Return the page of a lesson as Markdown.

    Args:
        lesson: The lesson.
        mistakes: How many mistakes of each exercise are explained; the checks run for each of them.
    """
    return "\n\n".join(filter(None, _parts(lesson, mistakes)))


def written(lesson: str) -> dict[str, str]:
    """Return the parts of a lesson's page that are written by hand, by their headings."""
    path = _WRITTEN / f"{lesson}.md"
    parts = re.split(r"^## (.+)\n", path.read_text() if path.exists() else "", flags=re.MULTILINE)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def _parts(lesson: LessonPage, mistakes: int) -> Iterator[str]:
    guide, by_hand = read_guide(lesson.name), written(lesson.name)
    found = list(exercises(lesson.solution))
    yield f"# {lesson.title}"
    yield _links(lesson)
    yield f"**Needs:** {needs(lesson.unlinked)}"
    points = ", ".join(f"{one.title.partition(':')[0].lower()}: {one.points:g}" for one in found)
    yield f"**Points of the exercises:** {points}; {sum(one.points for one in found):g} in all."
    yield _part("What it is for", by_hand)
    if guide:
        yield f"## Say first\n\n{guide.opening}"
    yield _minutes(lesson, guide)
    yield _part("In half the time", by_hand, level=3)
    if guide:
        yield "## Show, on the big screen"
        yield from (shown_cell(lesson.solution, one.cell, one.say) for one in guide.show)
    yield "## Questions to ask aloud\n\nThe lesson's own questions, in its order; its answers are folded."
    for question in questions(lesson.unlinked):
        yield f"**{question.text}** (in *{question.section}*)\n\n{folded('Answer', question.answer)}"
    if guide:
        yield "## What students ask"
        yield from (f"**{one.question}**\n\n{one.answer}" for one in guide.asked)
    yield _part("On the cluster", by_hand)
    yield from _exercises(lesson, found, guide, mistakes)


def _links(lesson: LessonPage) -> str:
    slides = f'<a href="{SLIDES}/{lesson.name}.html">Slides of this lesson</a>'
    page = f'<a href="lessons/{lesson.name}/{lesson.name}.html">The lesson as students read it</a>'
    return f"<p>{page}, with its outputs. {slides}: turn them with the arrow keys.</p>"


def _part(title: str, by_hand: dict[str, str], level: int = 2) -> str:
    return f"{'#' * level} {title}\n\n{by_hand[title]}" if title in by_hand else ""


def _minutes(lesson: LessonPage, guide: Guide | None) -> str:
    table = minutes.plan(minutes.sections(lesson.unlinked), guide.half_time if guide else ())
    return f"## Minute by minute\n\n{table}"


def _exercises(
    lesson: LessonPage, found: list[Exercise], guide: Guide | None, mistakes: int
) -> Iterator[str]:
    module = lesson.name.partition("_")[2]
    stumbled = list(stumbles(module, mistakes)) if mistakes else []
    designs = right_answers(module)
    for exercise in found:
        hints = guide.exercises[exercise.name] if guide else None
        yield f"## {exercise.title}"
        yield folded("What it asks for", exercise.statement)
        if hints:
            yield _class_work(hints)
        if own := [one for one in stumbled if one.exercise == exercise.name]:
            yield "### Where students stumble"
            yield from (_stumble(one, hints.say.get(one.mistake, "") if hints else "") for one in own)
        yield "### Model answer"
        yield fenced(exercise.solution, "python")
        for answer in designs.get(exercise.name, [])[:OTHER_DESIGNS]:
            title = answer.name.removeprefix("right_").replace("_", " ")
            yield folded(f"Also right: {title}", fenced(answer.source, "python"))


def _class_work(hints: ExerciseGuide) -> str:
    return (
        f"- **Minutes:** {hints.minutes}\n"
        f"- **When to stop:** {hints.stop}\n"
        f"- **For those who are done:** {hints.quick}"
    )


def _stumble(one: Stumble, say: str) -> str:
    ways = "1 answer" if one.ways == 1 else f"{one.ways} answers"
    message = "\n".join(f"> {line}".rstrip() for line in escaped(one.message).splitlines())
    title = one.mistake.replace("_", " ").capitalize()
    parts = [
        f"**{title}** (`{one.mistake}`, {ways} of the bank). The check says:",
        message,
        f"**Say:** {say}" if say else "",
        folded("Such an answer", fenced(one.example.source, "python")),
    ]
    return "\n\n".join(filter(None, parts))
