"""Where students stumble: the most frequent mistakes of the bank, with what the checks say of them."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from grading.answers.bank import Answer, answers
from grading.answers.verdicts import verdict


@dataclass(frozen=True)
class Stumble:
    """A mistake that students make in an exercise.

    Attributes:
        exercise: The name of the exercise.
        mistake: The name that its check gives the mistake.
        ways: How many wrong answers of the bank make it.
        example: One of them.
        message: What the check says of the example.
    """

    exercise: str
    mistake: str
    ways: int
    example: Answer
    message: str


def stumbles(lesson: str, count: int) -> Iterator[Stumble]:
    """Yield the mistakes that the most wrong answers make, by exercise.

    The checks run once for each mistake: a minute for all lessons.

    Args:
        lesson: The name of the lesson's checks, such as `jpeg_vs_zip`.
        count: The number of mistakes for each exercise.
    """
    for exercise, mistakes in wrong_answers(lesson).items():
        frequent = sorted(mistakes.items(), key=lambda item: -len(item[1]))[:count]
        for mistake, examples in frequent:
            yield Stumble(exercise, mistake, len(examples), examples[0], verdict(examples[0]).message)


def wrong_answers(lesson: str) -> dict[str, dict[str, list[Answer]]]:
    """Return the wrong answers of a lesson by exercise and mistake; those that crash are left out."""
    found: dict[str, dict[str, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers(lesson):
        if answer.mistake and answer.mistake != "crash":
            found[answer.check][answer.mistake].append(answer)
    return found


def right_answers(lesson: str) -> dict[str, list[Answer]]:
    """Return the right answers of a lesson by exercise."""
    found: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers(lesson):
        if not answer.mistake:
            found[answer.check].append(answer)
    return found
