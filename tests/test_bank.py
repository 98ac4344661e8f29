import re

import pytest

from tests.bank import BANK, Answer, answers

ALL = [answer for folder in sorted(BANK.iterdir()) for answer in answers(folder.name)]
SOURCE = "def area(a, b):\n    print(a)\n    print(b)\n\n    return a * b\n"
HEAD = "# mistake: adds\n# from: right_product.py\n"


@pytest.fixture
def wrong(tmp_path):
    """Write what changes in a right answer; return the wrong one."""
    (tmp_path / "right_product.py").write_text(SOURCE)

    def write(blocks):
        path = tmp_path / "wrong_sum.diff"
        path.write_text(HEAD + blocks)
        return Answer(path)

    return write


@pytest.mark.parametrize("answer", ALL, ids=lambda answer: f"{answer.path.parents[1].name}-{answer}")
def test_an_answer_is_python_and_wrong_if_its_name_says_so(answer):
    compile(answer.source, str(answer.path), "exec")
    assert answer.path.name.startswith("wrong_" if answer.mistake else "right_")


def test_blocks_change_another_answer(wrong):
    answer = wrong(
        "@@\n     print(a)\n-    print(b)\n\n@@\n-    return a * b\n+    total = a + b\n+    return total\n"
    )
    assert answer.mistake == "adds"
    assert answer.source == "def area(a, b):\n    print(a)\n\n    total = a + b\n    return total\n"


def test_an_answer_changes_one_that_changes_another(wrong):
    again = wrong("@@\n-    return a * b\n+    return a + b\n").path.with_name("wrong_difference.diff")
    again.write_text(
        "# mistake: subtracts\n# from: wrong_sum.diff\n@@\n-    return a + b\n+    return a - b\n"
    )
    assert Answer(again).source == SOURCE.replace("*", "-")


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (
            "@@\n-    print(a)\n@@\n-    return a / b\n",
            "block 2: 0 places, not one, have its lines\n    return a / b",
        ),
        ("@@\n-    return\n", "block 1: 0 places"),
        ("@@\n \n+\n@@\n \n+\n", "block 2: 2 places"),
        ("@@\n+    return 0\n", "block 1: 5 places"),
        ("@@\nreturn a\n", "block 1: a line begins with a blank, - or +, and not as this one: return a"),
        ("-    print(a)\n", "each begins with @@"),
        ("", "each begins with @@"),
    ],
)
def test_a_block_that_has_no_single_place_is_named_with_its_file(wrong, blocks, said):
    with pytest.raises(ValueError, match=rf"wrong_sum.diff.*{re.escape(said)}"):
        _ = wrong(blocks).source
