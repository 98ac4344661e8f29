"""Compare a student's choices with the right ones, and say why."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

ANSWERS = Path(__file__).with_name("answers.toml")
UNANSWERED = "?"
LINE_WIDTH = 76  # characters, as the verdicts of exercises


@dataclass(frozen=True)
class Question:
    """A question of a quiz, without its text, which stands in the lesson.

    Attributes:
        right: The letter of the right choice.
        because: Why it is right; shown when it is chosen.
        hints: What to think about, by the letter of each wrong choice.
    """

    right: str
    because: str
    hints: dict[str, str]

    def feedback(self, choice: str) -> str:
        """Return what to say of a choice, in one paragraph.

        Raises:
            ValueError: There is no such choice.
        """
        letter = choice.strip().strip("()").lower()
        if letter in {UNANSWERED, ""}:
            return "not answered yet"
        if letter == self.right:
            return f"✓ ({letter}) {self.because}"
        if letter in self.hints:
            return f"✗ ({letter}) {self.hints[letter]}"
        letters = ", ".join(sorted({self.right, *self.hints}))
        raise ValueError(f"There is no choice {choice!r}: write one of {letters}, in quotes.")


@dataclass(frozen=True)
class Feedback:
    """What a notebook shows of a quiz."""

    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def check(lesson: str, *choices: str) -> Feedback:
    """Say of each choice whether it is right, and why; nothing is stored and there are no marks.

    Args:
        lesson: Number of the lesson, such as `"01"`.
        choices: A letter for each question, such as `"b"`; `"?"` for one that is not answered yet.

    Raises:
        ValueError: The lesson has no quiz, the number of choices is another, or one does not exist.
    """
    questions = questions_of(lesson)
    if len(choices) != len(questions):
        raise ValueError(
            f"Lesson {lesson} has {len(questions)} questions: give a choice for each, in quotes."
        )
    said = (question.feedback(choice) for question, choice in zip(questions, choices, strict=True))
    return Feedback(tuple(fill(f"{number}. {text}", LINE_WIDTH) for number, text in enumerate(said, start=1)))


@cache
def questions_of(lesson: str) -> tuple[Question, ...]:
    """Return the questions of a lesson, in order.

    Raises:
        ValueError: The lesson has no quiz.
    """
    quizzes = tomllib.loads(ANSWERS.read_text())
    if lesson not in quizzes:
        raise ValueError(
            f"There is no quiz {lesson!r}: these lessons have one: {', '.join(sorted(quizzes))}."
        )
    return tuple(Question(**entry) for entry in quizzes[lesson])
