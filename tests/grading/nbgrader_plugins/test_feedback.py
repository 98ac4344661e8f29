"""The table of marks."""

import pytest
from hypothesis import given
from hypothesis.strategies import text

from course_utils.grading.nbgrader_plugins.feedback import FORMULA, _plain_text


@pytest.mark.parametrize("name", ["ann", "O'Hara", "Zoë", "ann-lee", "a=b", ""])
def test_name_is_kept(name):
    assert _plain_text(name) == name


@given(text(alphabet="=+-@＝ \t\r\n\x00\u2028\xa0a1"))
def test_no_cell_is_a_formula(name):
    shown = _plain_text(name)
    assert not shown.lstrip().startswith(FORMULA)
    assert shown.isprintable()
