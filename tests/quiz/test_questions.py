import tomllib

import pytest

from course_utils.quiz.questions import ANSWERS, check, questions_of

LESSONS = sorted(tomllib.loads(ANSWERS.read_text()))


@pytest.mark.parametrize("lesson", LESSONS)
def test_right_choice_says_why_and_others_hint(lesson: str):
    questions = questions_of(lesson)
    for place, question in enumerate(questions):
        for letter in "abc":
            choices = ["?"] * len(questions)
            choices[place] = letter
            said = check(lesson, *choices).lines
            assert said[place].startswith(f"{place + 1}. {'✓' if letter == question.right else '✗'}")
            assert all(line.endswith("not answered yet") for line in said[:place] + said[place + 1 :])


@pytest.mark.parametrize("lesson", LESSONS)
def test_right_choices_are_not_all_the_same_letter(lesson: str):
    assert len({question.right for question in questions_of(lesson)}) > 1


@pytest.mark.parametrize("choice", ["B", "(b)", " b "])
def test_letters_are_read_as_people_write_them(choice: str):
    assert "✓" in check("00", "?", choice, "?").lines[1]


@pytest.mark.parametrize("choices", [("a",), ("a", "b", "d"), ("a", "b", "c", "a")])
def test_impossible_choices_say_what_to_write(choices: tuple[str, ...]):
    with pytest.raises(ValueError, match="in quotes"):
        check("00", *choices)


def test_unknown_lesson_names_those_with_a_quiz():
    with pytest.raises(ValueError, match="these lessons have one: 00"):
        check("99", "a")
