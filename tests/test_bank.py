import re

import pytest

from grading.answers.bank import BANK, Answer, answers, read_answers

ALL = [answer for folder in sorted(BANK.iterdir()) for answer in answers(folder.name)]
SOURCE = "def area(a, b):\n    print(a)\n    print(b)\n\n    return a * b\n"


def section(name: str, body: str, kind: str = "python", **facts: str) -> str:
    lines = "".join(f"- {key.strip('_')}: {value}\n" for key, value in facts.items())
    return f"\n## {name}\n\n{lines}{lines and chr(10)}```{kind}\n{body}```\n"


RIGHT = section("right_product", SOURCE)


@pytest.fixture
def bank_of(tmp_path):
    """Write the bank of an exercise; return a function that reads its answers."""

    def write(*sections: str) -> dict[str, Answer]:
        path = tmp_path / "areas.md"
        path.write_text("# areas\n" + "".join(sections))
        read_answers.cache_clear()
        return read_answers(path)

    return write


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: f"{answer.lesson}-{answer}")
def test_answer_is_python_and_its_name_says_whether_it_is_wrong(answer):
    compile(answer.source, str(answer), "exec")
    assert answer.name.startswith("wrong_" if answer.mistake else "right_")


def test_diff_changes_another_answer(bank_of):
    diff = (
        "@@\n     print(a)\n-    print(b)\n\n@@\n-    return a * b\n+    total = a + b\n+    return total\n"
    )
    wrong = section("wrong_sum", diff, "diff", mistake="adds", from_="right_product")
    answer = bank_of(RIGHT, wrong)["wrong_sum"]
    assert answer.mistake == "adds"
    assert answer.source == "def area(a, b):\n    print(a)\n\n    total = a + b\n    return total\n"


def test_diff_of_a_diff_is_applied_in_any_order(bank_of):
    difference = section(
        "wrong_difference", "@@\n-    return a + b\n+    return a - b\n", "diff", from_="wrong_sum"
    )
    total = section("wrong_sum", "@@\n-    return a * b\n+    return a + b\n", "diff", from_="right_product")
    assert bank_of(difference, total, RIGHT)["wrong_difference"].source == SOURCE.replace("*", "-")


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        (
            "@@\n-    print(a)\n@@\n-    return a / b\n",
            "block 2: its lines occur in 0 places, not in one:\n    return a / b",
        ),
        ("@@\n-    return\n", "block 1: its lines occur in 0 places"),
        ("@@\n \n+\n@@\n \n+\n", "block 2: its lines occur in 2 places"),
        ("@@\n+    return 0\n", "block 1: its lines occur in 5 places"),
        ("@@\nreturn a\n", "block 1: a line must start with a space, - or +: return a"),
        ("-    print(a)\n", "each starting with @@"),
        ("", "each starting with @@"),
    ],
)
def test_block_without_a_single_place_is_named(bank_of, diff, message):
    with pytest.raises(ValueError, match=rf"areas.md, wrong_sum.*{re.escape(message)}"):
        bank_of(RIGHT, section("wrong_sum", diff, "diff", from_="right_product"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            section("wrong_sum", "@@\n-    print(a)\n", "diff", from_="right_sum"),
            "no answer is named right_sum",
        ),
        (section("wrong_sum", SOURCE, from_="right_product"), "a diff, and only a diff"),
        (section("wrong_sum", SOURCE, "diff", mistake="adds"), "a diff, and only a diff"),
        (section("wrong_sum", SOURCE, mistaken="adds"), "unknown mistaken; known are from, mistake, needs"),
        (section("right_product", SOURCE), "two answers are named right_product"),
        (section("sum", SOURCE), "not the section of an answer:\n## sum"),
        ("\n## wrong_sum\n\nSome text.\n", "not the section of an answer"),
    ],
)
def test_malformed_bank_is_refused_with_the_reason(bank_of, wrong, message):
    with pytest.raises(ValueError, match=rf"areas.md.*{re.escape(message)}"):
        bank_of(RIGHT, wrong)


def test_title_must_be_the_name_of_the_exercise(tmp_path):
    (tmp_path / "areas.md").write_text("# circles\n" + RIGHT)
    with pytest.raises(ValueError, match="# areas"):
        read_answers(tmp_path / "areas.md")
