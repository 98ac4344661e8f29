"""Teachers see the mistakes with the most wrong answers, and what the check really says."""

from itertools import islice

from book.teachers.markup import escaped, fenced
from book.teachers.stumbles import stumbles, wrong_answers


def test_frequent_mistakes_come_first_with_the_message_of_the_check():
    found = list(islice(stumbles("packed_formats", 2), 2))  # lazily: those of the first exercise
    counts = sorted(map(len, wrong_answers("packed_formats")[found[0].exercise].values()), reverse=True)
    assert [one.ways for one in found] == counts[:2]
    assert all(len(one.message) > 30 for one in found)
    assert all(one.example.mistake == one.mistake for one in found)


def test_message_and_code_are_shown_as_they_are():
    assert escaped("a_b *c* [d] `e`") == r"a\_b \*c\* \[d\] \`e\`"
    assert fenced('text = "```"', "python").startswith("````python\n")
    assert fenced("`one` backtick", "python").startswith("```python\n")
